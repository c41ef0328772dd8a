"""No source of the spec can have the counter.

## What it checks
Every name in `telemetry.counters` is one that a source in `telemetry.sources` offers. Whether this
card answers is probed before the run, never guessed from its product line.

## Why it misleads
The report would say "not measured" where the claim needed a number.

## Bad
```yaml
telemetry:
  sources: [dmon]
  counters: [nvlink]  # warning: BS405
  interval: 100 ms
  idle_baseline: 8 s
```

## Good
```yaml
telemetry:
  sources: [nvml]
  counters: [nvlink]
  interval: 100 ms
  idle_baseline: 8 s
```

## Fix
Add a source that has the counter.

## References
The sources: docs/spec.md, `telemetry`.
"""

from collections.abc import Iterator

from benchspec.lint.counters import offered_by
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS405", "counter-unsupported", "warning", applies="run")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per counter."""
    telemetry = subject.spec.telemetry
    for index, counter in enumerate(telemetry.counters):
        able = offered_by(counter)
        if not set(able) & set(telemetry.sources):
            have = ", ".join(telemetry.sources) or "no source"
            yield Fact(
                f"{counter} is asked of {have}, which does not have it.",
                ("telemetry", "counters", index),
                f"add {' or '.join(able)} to telemetry.sources",
                affects=subject.affected(),
            )
