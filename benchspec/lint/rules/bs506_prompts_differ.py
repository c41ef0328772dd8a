"""Arms that are compared get different work, and something else differs as well.

## What it checks
Two arms that a hypothesis or `control_for` compares have the same prompt, output and label, or the
work is the only thing in which they differ.

## Why it misleads
54.9 against 59.6 tok/s looked like a loss of 8 %. Prompt and window were not the same, so there is
nothing to explain.

## Bad
```yaml
arms:
  - {id: A}
  - id: B
    engine: {flags: {flash-attn: "on"}}
    workload: {prompt: {tokens: 512}}  # error: BS506
hypotheses:
  - id: H1
    claim: Flash attention makes one stream at least 1.1 times as fast.
    test: {metric: stream_tok_s, at: {arm: B, concurrency: 1}, over: {arm: A}, relation: ">=", value: 1.1}
```

## Good
```yaml
arms:
  - {id: A}
  - {id: B, engine: {flags: {flash-attn: "on"}}}
hypotheses:
  - id: H1
    claim: Flash attention makes one stream at least 1.1 times as fast.
    test: {metric: stream_tok_s, at: {arm: B, concurrency: 1}, over: {arm: A}, relation: ">=", value: 1.1}
```

## Fix
Give both arms the same work. If the work is what you vary, vary nothing else.

## References
The judge's identity check: docs/checks.md.
"""

from collections.abc import Iterator

from benchspec.lint.arm import Arm
from benchspec.lint.comparison import factors
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS506", "prompts-differ", "error")

_WORK = ("workload.prompt", "workload.output")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per comparison."""
    for pair in subject.unbridged:
        found = factors(pair.arm, pair.base)
        work = [name for name in _WORK if name in found]
        others = [name for name in found if not name.startswith("workload")]
        place = found[work[0]] if work else pair.arm.part("workload", "label", "material")
        if others and (work or _material(pair.arm) != _material(pair.base)):
            yield Fact(
                f"Arms {pair.arm.id} and {pair.base.id} get different work and differ in "
                f"{', '.join(others)} as well.",
                place,
                "give both arms the same work",
                related=((pair.path, "compared here"),),
                arms=(pair.arm.id, pair.base.id),
                affects=(pair.hypothesis,) if pair.hypothesis else (),
            )


def _material(arm: Arm) -> str | None:
    return arm.workload.label.material if arm.workload.label else None
