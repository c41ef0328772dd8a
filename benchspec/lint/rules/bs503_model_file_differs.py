"""Arms that are compared run different model files, and something else differs as well.

## What it checks
Two arms that a hypothesis or `control_for` compares have the same model (source and sha256), or the
model is the only thing in which they differ.

## Why it misleads
35.1 to 71.1 tok/s was called the gain of a kernel. Half of it, 1.70 of 2.03, was another file of
the same model.

## Bad
```yaml
arms:
  - {id: old}
  - id: new
    engine: {flags: {flash-attn: "on"}}
    model: {source: file:llama-3.1-8b-q4_0.gguf}  # error: BS503
hypotheses:
  - id: H1
    claim: Flash attention makes one stream at least 1.1 times as fast.
    test: {metric: stream_tok_s, at: {arm: new, concurrency: 1}, over: {arm: old}, relation: ">=", value: 1.1}
waivers: [{rule: BS501, reason: shown here for BS503}]
```

## Good
```yaml
arms:
  - {id: old}
  - {id: new, engine: {flags: {flash-attn: "on"}}}
hypotheses:
  - id: H1
    claim: Flash attention makes one stream at least 1.1 times as fast.
    test: {metric: stream_tok_s, at: {arm: new, concurrency: 1}, over: {arm: old}, relation: ">=", value: 1.1}
```

## Fix
Use one file in both arms, or add an arm in which only the file changes.

## References
The judge's identity and decomposition checks: docs/checks.md.
"""

from collections.abc import Iterator

from benchspec.lint.comparison import factors
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS503", "model-file-differs", "error")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per comparison."""
    for pair in subject.unbridged:
        found = factors(pair.arm, pair.base)
        if "model" in found and len(found) > 1:
            others = ", ".join(name for name in found if name != "model")
            yield Fact(
                f"Arms {pair.arm.id} and {pair.base.id} run different model files, and differ in "
                f"{others} as well.",
                found["model"],
                "use one file in both, or add an arm in which only the file changes",
                related=((pair.path, "compared here"),),
                arms=(pair.arm.id, pair.base.id),
                affects=(pair.hypothesis,) if pair.hypothesis else (),
            )
