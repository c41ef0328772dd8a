"""A measured bandwidth is above what the card can have.

## What it checks
`memory_bandwidth` with `source: measured` is at most 1.02 times `datasheet_bandwidth`, or 1.02
times 2 x memory clock x bus width / 8. A measured link is at most as fast as its generation and
lanes allow.

## Why it misleads
Nothing is faster than its wires. 1004 GB/s from a card with 900 means that it is another card, or
that the probe read a cache; every fraction computed from it is wrong.

## Bad
```yaml
hardware:
  devices:
    - id: gpu0
      name: V100
      memory_bandwidth: 1004 GB/s  # warning: BS411
      source: measured
      datasheet_bandwidth: 900 GB/s
```

## Good
```yaml
hardware:
  devices:
    - id: gpu0
      name: PG500-216
      memory_bandwidth: 1004 GB/s
      source: measured
      datasheet_bandwidth: 1134 GB/s
```

## Fix
Look at the memory clock and the PCI id: which card is it? Then correct the datasheet figure, or
probe again with a buffer larger than the cache.

## References
Memory bandwidth = 2 x clock x bus width / 8 for GDDR and HBM; PCIe per lane: 0.25, 0.5, 0.985,
1.97, 3.94, 7.56 GB/s for generations 1 to 6.
"""

from collections.abc import Iterator

from benchspec.lint.figures import shown
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject
from benchspec.spec.models import Device, Link

RULE = Rule("BS411", "bandwidth-above-datasheet", "warning")

_SLACK = 1.02
_PCIE_LANE = {1: 0.25e9, 2: 0.5e9, 3: 0.9846e9, 4: 1.969e9, 5: 3.938e9, 6: 7.563e9}


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per device or link."""
    for index, device in enumerate(subject.spec.hardware.devices):
        limit, bandwidth = _limit(device), device.memory_bandwidth
        if limit and bandwidth and device.source == "measured" and bandwidth.low > _SLACK * limit:
            yield Fact(
                f"{bandwidth} / {shown(limit / 1e9)} GB/s = {bandwidth.low / limit:.2f}: a card "
                "cannot be faster than its memory.",
                ("hardware", "devices", index, "memory_bandwidth"),
                "find out which card it is, or probe with a larger buffer",
                affects=subject.affected(),
            )
    for index, link in enumerate(subject.spec.hardware.links):
        capacity = _capacity(link)
        if capacity and link.measured and link.measured.low > _SLACK * capacity:
            yield Fact(
                f"{link.measured} over {link.lanes} lanes of generation {link.gen}, which carry "
                f"{shown(capacity / 1e9)} GB/s.",
                ("hardware", "links", index, "measured"),
                "correct generation or lanes, or measure again",
                affects=subject.affected(),
            )


def _limit(device: Device) -> float | None:
    if device.datasheet_bandwidth:
        return device.datasheet_bandwidth.high
    if device.memory_clock and device.memory_bus_bits:
        return 2 * device.memory_clock.high * device.memory_bus_bits / 8
    return None


def _capacity(link: Link) -> float | None:
    lane = _PCIE_LANE.get(link.gen or 0) if link.kind == "pcie" else None
    return lane * link.lanes if lane and link.lanes else None
