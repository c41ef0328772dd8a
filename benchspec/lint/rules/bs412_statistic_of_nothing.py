"""A statistic is chosen for a counter that is not collected.

## What it checks
Every key of `telemetry.statistic` is one of `telemetry.counters`.

## Why it misleads
The author took care of a counter and forgot to ask for it, or asked for it under another name and
gets the default statistic.

## Bad
```yaml
telemetry:
  sources: [nvml]
  counters: [utilization]
  interval: 100 ms
  idle_baseline: 8 s
  statistic: {pcie: mean}  # warning: BS412
```

## Good
```yaml
telemetry:
  sources: [nvml]
  counters: [utilization, pcie]
  interval: 100 ms
  idle_baseline: 8 s
  statistic: {pcie: mean}
```

## Fix
Add the counter, or delete the statistic.

## References
The spec language: docs/spec.md, `telemetry`.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS412", "statistic-of-nothing", "warning", applies="run")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per statistic."""
    telemetry = subject.spec.telemetry
    for counter in telemetry.statistic:
        if not any(counter.lower().startswith(name.lower()) for name in telemetry.counters):
            yield Fact(
                f"{counter} has a statistic and is not collected.",
                ("telemetry", "statistic", counter),
                f"add {counter} to telemetry.counters, or delete the statistic",
                affects=subject.affected(),
            )
