"""The sweep ends before twice the slots.

## What it checks
A sweep of two or more steps reaches at least twice the declared slots of every arm.

## Why it misleads
Nobody can see where queueing begins in a sweep that never queues: eight streams on eight slots look
the same as eight streams on a hundred. At twice the slots a queue takes twice as long as the slots
do, and that cannot be mistaken.

## Bad
```yaml
load:
  mode: burst
  concurrency: [1, 2, 4]  # error: BS202
```

## Good
```yaml
load:
  mode: burst
  concurrency: [1, 2, 4, 8]
```

## Fix
Extend `load.concurrency` to twice the largest slot count.

## References
The judge's queueing check: docs/checks.md.
"""

from collections.abc import Iterator

from benchspec.lint.capacity import slots
from benchspec.lint.fixes import Extend
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, names
from benchspec.spec.problems import Path

RULE = Rule("BS202", "sweep-within-slots", "error")


def check(subject: Subject) -> Iterator[Fact]:
    """At most one fact: the sweep against the arm with the most slots."""
    steps = subject.concurrency
    if len(steps) < 2:
        return
    short = [arm for arm in subject.arms if steps[-1] < 2 * (slots(arm) or 0)]
    if not short:
        return
    most = max(short, key=lambda arm: slots(arm) or 0)
    wanted = 2 * (slots(most) or 0)
    yield Fact(
        f"The sweep ends at {steps[-1]} requests in flight; arm {most.id} has {wanted // 2} slots, "
        f"and queueing shows from {wanted} on.",
        subject.sweep_place,
        f"extend the sweep to {wanted}",
        related=(
            (most.place(most.slot_setting or ""), f"{wanted // 2} slots are declared here"),
            *_asked(subject),
        ),
        arms=names(short),
        affects=subject.affected(short),
        fix=Extend(("load", "concurrency"), wanted),
    )


def _asked(subject: Subject) -> Iterator[tuple[Path, str]]:
    """The hypotheses that this sweep cannot test."""
    for tested in subject.tests:
        if tested.uses in ("queueing", "slots-moved", "scaling"):
            yield (*tested.path, "test"), f"{tested.id} asks about the slots"
