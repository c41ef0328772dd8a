"""Every step is measured once.

## What it checks
`repeats` is at least 2 (in an audit: some step was observed twice). It is a remark, not an error,
where every hypothesis is about a shape or a state (a queue, a staircase, the effective settings):
one run can show those.

## Why it misleads
One run has no spread, so a difference between two arms cannot be told from luck; among four seeds
of one study a single run read 80.5 where the four together read 73.4. Below three repeats the judge
calls every threshold inconclusive.

## Bad
```yaml
repeats: 1  # error: BS505
```

## Good
```yaml
repeats: 3
```

## Fix
Write `repeats: 3` or more; a difference that nobody predicted needs four per arm.

## References
Exact permutation test: 3 against 3 reaches one-sided p = 1/20, 4 against 4 two-sided p = 2/70.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, names

_ASK = (
    "add the other runs, each with its `repeat`, where there are any; `benchspec audit --questions` "
    "writes down what to ask the author"
)

RULE = Rule("BS505", "single-run", "error")


def check(subject: Subject) -> Iterator[Fact]:
    """At most one fact."""
    if subject.repeats > 1 or (subject.seen and not subject.observed):
        return
    numeric = [tested.id for tested in subject.tests if tested.needs_repeats]
    yield Fact(
        "Every step is measured once: there is no spread, and no threshold can be decided.",
        ("repeats",) if subject.stands("repeats") else subject.sweep_place,
        _ASK if subject.seen else "write `repeats: 3` or more",
        arms=names(subject.arms),
        affects=tuple(numeric),
        severity=None if numeric or not subject.tests else "warning",
    )
