"""A decision hangs on a hypothesis that gets no verdict.

## What it checks
A hypothesis with a `gate` has a test with a threshold or an expected reading, and is not
exploratory.

## Why it misleads
A gate is a decision registered before the run: what will be done if the threshold is passed.
Without a threshold it is decided afterwards, by whoever wants it.

## Bad
```yaml
hypotheses:
  - id: H1
    claim: The engine leaves little to gain.
    exploratory: true
    gate: {then: stop the project, cost: six weeks}  # error: BS113
    test: {metric: stream_tok_s, at: {concurrency: 1}, relation: ">=", value: 90}
```

## Good
```yaml
hypotheses:
  - id: H1
    claim: The engine leaves little to gain.
    gate: {then: stop the project, cost: six weeks}
    test: {metric: stream_tok_s, at: {concurrency: 1}, relation: ">=", value: 90}
```

## Fix
Register the threshold, and take `exploratory` away.

## References
The judge's gate: the whole interval has to pass. docs/checks.md.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS113", "gate-without-test", "error")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per gate."""
    for index, hypothesis in enumerate(subject.spec.hypotheses):
        if hypothesis.gate and (hypothesis.test is None or hypothesis.exploratory):
            why = "is exploratory" if hypothesis.exploratory else "has no test"
            yield Fact(
                f"{hypothesis.id} has a gate and {why}, so the gate is never decided.",
                ("hypotheses", index, "gate"),
                "register a test with the threshold of the decision",
                affects=(hypothesis.id,),
            )
