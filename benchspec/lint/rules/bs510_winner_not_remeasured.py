"""The best of many configurations is quoted with the measurement that made it the best.

## What it checks
With five or more arms, a hypothesis names the arm that it expects to win, so that the winner was
chosen before the measurement.

## Why it misleads
Among twelve configurations that are equal, one is the fastest, and by twice the spread. Measured
again it falls back. The figure that selected it cannot be the figure that is published.

## Bad
```yaml
arms:  # warning: BS510
  - {id: b256, engine: {flags: {batch-size: 256}}}
  - {id: b512, engine: {flags: {batch-size: 512}}}
  - {id: b1024, engine: {flags: {batch-size: 1024}}}
  - {id: b2048, engine: {flags: {batch-size: 2048}}}
  - {id: b4096, engine: {flags: {batch-size: 4096}}}
```

## Good
```yaml
arms:
  - {id: b256, engine: {flags: {batch-size: 256}}}
  - {id: b2048, engine: {flags: {batch-size: 2048}}}
```

## Fix
Run the winner again, alone with the runner-up, with fresh repeats, and register which one you
expect.

## References
Regression to the mean; Cawley and Talbot, On Over-fitting in Model Selection, JMLR 11 (2010).
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, names

RULE = Rule("BS510", "winner-not-remeasured", "warning")

_MANY = 5


def check(subject: Subject) -> Iterator[Fact]:
    """At most one fact."""
    named = any(place.arm for tested in subject.tests for place in tested.places)
    if len(subject.arms) >= _MANY and not named:
        yield Fact(
            f"{len(subject.arms)} arms are compared and no hypothesis names one: the fastest will be "
            "so partly by luck.",
            ("arms",),
            "measure the winner again in a second study, or name it in a hypothesis",
            arms=names(subject.arms),
            affects=subject.affected(),
        )
