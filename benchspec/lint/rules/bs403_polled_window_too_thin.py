"""A counter looks at a small part of the time that its figure is taken for.

## What it checks
PCIe traffic from `dmon`: its window is 20 ms, so at the stated interval (1 s unless stated) it sees
20 ms / interval of the time. Below 10 % it is a finding.

## Why it misleads
The number is printed as MB/s and reads like the traffic of a whole second. Bursts fall through: the
mean is right on average, with an error as large as the figure.

## Bad
```yaml
telemetry:
  sources: [dmon]
  counters: [pcie]
  interval: 1 s  # warning: BS403
  idle_baseline: 8 s
```

## Good
```yaml
telemetry:
  sources: [nvml]
  counters: [pcie]
  interval: 100 ms
  idle_baseline: 8 s
```

## Fix
Use `nvml`, which reads cumulative counters where the card has them, or repeat often and quote the
order of magnitude.

## References
nvml.h: `nvmlDeviceGetPcieThroughput` counts bytes over a 20 ms interval.
"""

from collections.abc import Iterator

from benchspec.lint.counters import DMON_INTERVAL_S, DMON_WINDOW_S
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS403", "polled-window-too-thin", "warning")

_LEAST_COVERAGE = 0.1


def check(subject: Subject) -> Iterator[Fact]:
    """At most one fact."""
    telemetry = subject.spec.telemetry
    traffic = any(counter.lower().startswith("pcie") for counter in telemetry.counters)
    if not traffic or "dmon" not in telemetry.sources or "nvml" in telemetry.sources:
        return
    interval = telemetry.interval.high if telemetry.interval else DMON_INTERVAL_S
    coverage = DMON_WINDOW_S / interval
    if coverage < _LEAST_COVERAGE:
        path = ("telemetry", "interval") if telemetry.interval else ("telemetry", "sources")
        yield Fact(
            f"dmon looks at {DMON_WINDOW_S * 1e3:.0f} ms of every {interval * 1e3:.0f} ms: "
            f"{coverage * 100:.0f} % of the time.",
            path,
            "use the source `nvml`, whose byte counters are cumulative where the card has them",
            affects=subject.affected(),
        )
