"""The spec claims nothing.

## What it checks
`hypotheses` has at least one entry.

## Why it misleads
Numbers without a claim made beforehand let everyone choose the claim afterwards, and the
best-looking of twenty figures is no evidence.

## Bad
```yaml
hypotheses: []  # error: BS101
```

## Good
```yaml
hypotheses:
  - id: H1
    claim: Four streams give at least twice the throughput of one.
    prediction: 2.5
    test: {metric: aggregate_tok_s, at: {concurrency: 4}, over: {concurrency: 1}, relation: ">=", value: 2}
```

## Fix
Write down what you expect, with a number, before you measure it. A guess will do.

## References
Nosek et al., The preregistration revolution, PNAS 115 (2018).
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS101", "no-hypothesis", "error", applies="run")


def check(subject: Subject) -> Iterator[Fact]:
    """At most one fact."""
    if not subject.spec.hypotheses:
        path = ("hypotheses",) if subject.stands("hypotheses") else ("study",)
        yield Fact(
            "The spec has no hypothesis, so no run of it can support or refute anything.",
            path,
            "add `hypotheses:` with an id, a claim, a prediction and a test",
        )
