"""Samples are given without saying to which requests they belong.

## What it checks
In an audit, a series with values says to which step or phase it belongs (`concurrency`, `arm` and
`repeat`, or `phase`), or has the times of its samples.

## Why it misleads
A mean over the whole run mixes prefill, decode and the pauses between requests, and which of them
dominates depends on how long the author waited. Utilisation "33 %" may be a third of the cards or a
third of the time.

## Bad
```yaml
observations:
  steps: [{concurrency: 1, repeat: 1, wall_s: 2.0}, {concurrency: 1, repeat: 2, wall_s: 2.1}]
  series:
    - {counter: utilization, unit: "%", device: gpu0, values: [33.2, 34.6, 31.3]}  # warning: BS406
```

## Good
```yaml
observations:
  steps: [{concurrency: 1, repeat: 1, wall_s: 2.0}, {concurrency: 1, repeat: 2, wall_s: 2.1}]
  series:
    - {counter: utilization, unit: "%", device: gpu0, phase: decode, values: [33.2, 34.6, 31.3]}
```

## Fix
Say which phase or step the samples cover, or give `times_s`. In a run benchspec aligns them itself.

## References
The judge's sampling and turn-taking checks: docs/checks.md.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS406", "window-not-aligned", "warning", applies="audit")

_ALIGNS = ("phase", "times_s", "concurrency", "repeat")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per series."""
    for index, item in enumerate(subject.series):
        if item.get("values") and not any(k in item for k in _ALIGNS):
            yield Fact(
                "Nothing says to which phase or step these samples belong.",
                ("observations", "series", index),
                "add `phase: decode`, the step, or `times_s`",
                affects=subject.affected(),
            )
