"""A median is asked of a counter whose traffic comes in bursts.

## What it checks
`telemetry.statistic` does not say `median` for a traffic counter (PCIe, NVLink, XGMI, network,
disk).

## Why it misleads
Traffic between cards is near zero for most samples and large for a few. The median is then the idle
value: a link that carried 1111 MB in one second of twelve has a median of 13 MB/s and a mean of
107, and a ratio of medians invents an effect.

## Bad
```yaml
telemetry:
  sources: [nvml]
  counters: [pcie]
  interval: 100 ms
  idle_baseline: 8 s
  statistic: {pcie: median}  # error: BS401
```

## Good
```yaml
telemetry:
  sources: [nvml]
  counters: [pcie]
  interval: 100 ms
  idle_baseline: 8 s
  statistic: {pcie: mean}
```

## Fix
Use `mean` (or `total`) within a repeat; benchspec takes the median over repeats by itself.

## References
The judge's burst and sampling checks: docs/checks.md.
"""

from collections.abc import Iterator

from benchspec.lint.fixes import Put
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS401", "median-on-bursty", "error")

BURSTY = ("pcie", "nvlink", "xgmi", "network", "disk", "rx", "tx")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per counter."""
    for counter, statistic in subject.spec.telemetry.statistic.items():
        if statistic == "median" and counter.lower().startswith(BURSTY):
            yield Fact(
                f"The median of {counter} is the value between bursts, not the traffic.",
                ("telemetry", "statistic", counter),
                f"write `{counter}: mean`",
                affects=subject.affected(),
                fix=Put(("telemetry", "statistic"), counter, "mean"),
            )
