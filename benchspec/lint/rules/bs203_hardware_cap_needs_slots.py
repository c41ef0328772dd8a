"""A claim about what the hardware can do rests on a sweep that only shows the slots.

## What it checks
A hypothesis that throughput stops growing (a ratio of `aggregate_tok_s` between two steps with `<`
or `<=`, the reading `plateau-below-slots` or `flat` of `scaling`, `saturated` of `queueing`, or
`hardware` of `slots-moved`) has at least three steps at or below the slots, or arms with two slot
counts.

## Why it misleads
A plateau at or above the slots says nothing about the hardware: requests wait for a slot while the
cards have time to spare. Only a plateau inside the slots, or one that stays where it is when the
slots are doubled, belongs to the hardware.

## Bad
```yaml
hypotheses:
  - id: H1
    claim: The card is full with two streams.
    test:
      check: scaling
      expect: plateau-below-slots  # error: BS203
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 2, ctx-size: 8192, n-gpu-layers: 99, fit: "off"}
```

## Good
```yaml
hypotheses:
  - id: H1
    claim: The card is full with two streams.
    test:
      check: scaling
      expect: plateau-below-slots
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off"}
```

## Fix
Give the engine more slots than the plateau, with three steps inside them, or add an arm with twice
the slots.

## References
The judge's scaling and slots-moved checks: docs/checks.md.
"""

from collections.abc import Iterator

from benchspec.lint.capacity import slots
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, Tested
from benchspec.spec.problems import Path

RULE = Rule("BS203", "hardware-cap-needs-slots", "error")

_READINGS = {
    "scaling": {"plateau-below-slots", "flat"},
    "slots-moved": {"hardware"},
    "queueing": {"saturated"},
}


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per hypothesis that claims a cap."""
    counts = {count for arm in subject.arms if (count := slots(arm))}
    if len(counts) != 1:
        return
    (count,) = counts
    inside = [step for step in subject.concurrency if step <= count]
    if len(inside) >= 3:
        return
    for tested in subject.tests:
        path = _cap(tested)
        if path is None:
            continue
        yield Fact(
            f"{tested.id} claims a cap of the hardware, but only {len(inside)} of the "
            f"steps lie within the {count} slots and no arm has another slot count.",
            path,
            "add steps within the slots (three at least) or an arm with twice the slots",
            related=((subject.sweep_place, "the steps"),),
            affects=(tested.id,),
        )


def _cap(tested: Tested) -> Path | None:
    """The part of the test that claims a cap, or None."""
    test = tested.test
    if _READINGS.get(test.check or "", set()) & set(test.expect or ()):
        return (*tested.path, "test", "expect")
    low = test.over.concurrency if test.over else None
    grows = low is not None and test.at.concurrency is not None and low < test.at.concurrency
    if test.metric == "aggregate_tok_s" and grows and test.relation in ("<", "<="):
        return (*tested.path, "test", "relation")
    return None
