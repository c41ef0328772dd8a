"""Nothing says how many requests are sent at once.

## What it checks
An engine that serves requests has `load.concurrency` (closed loop) or `load.rate` (open loop).

## Why it misleads
Nothing would be measured.

## Bad
```yaml
load:  # error: BS212
  mode: burst
hypotheses:
  - id: H1
    claim: One stream decodes at least 40 tok/s.
    test: {metric: stream_tok_s, relation: ">=", value: 40}
```

## Good
```yaml
load:
  mode: burst
  concurrency: [1]
hypotheses:
  - id: H1
    claim: One stream decodes at least 40 tok/s.
    test: {metric: stream_tok_s, relation: ">=", value: 40}
```

## Fix
Write the steps of the sweep: `concurrency: [1, 2, 4, 8]`.

## References
The spec language: docs/spec.md, `load`.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS212", "no-load", "error", applies="run")


def check(subject: Subject) -> Iterator[Fact]:
    """At most one fact."""
    if (
        any(arm.serves for arm in subject.arms)
        and not subject.concurrency
        and not subject.spec.load.rate
    ):
        yield Fact(
            "The load has neither `concurrency` nor `rate`, so nothing is sent.",
            ("load",) if subject.stands("load") else ("study",),
            "add `concurrency: [1, 2, 4, 8]`",
            affects=subject.affected(),
        )
