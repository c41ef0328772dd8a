"""The bandwidth was measured on a buffer smaller than the model.

## What it checks
The largest buffer in `bandwidth_curve` is at least the resident size of the model (or the size of
its file) on that device.

## Why it misleads
Caches make small buffers fast. A machine that reads 366 GB/s from 1 GiB reads 267 from 16 GiB, and
the model is 21 GiB: with the wrong denominator 68 % of the bandwidth becomes 49 %.

## Bad
```yaml
model: {name: 35B, source: served, resident: 21 GiB}
hardware:
  devices:
    - id: gpu0
      name: Apple M1 Max
      bandwidth_curve: {1 GiB: 366 GB/s, 4 GiB: 358 GB/s}  # warning: BS407
```

## Good
```yaml
model: {name: 35B, source: served, resident: 21 GiB}
hardware:
  devices:
    - id: gpu0
      name: Apple M1 Max
      bandwidth_curve: {1 GiB: 366 GB/s, 16 GiB: 267 GB/s, 32 GiB: 264 GB/s}
```

## Fix
Probe larger buffers (`benchspec probe`), up to the resident size. Until then every fraction is "at
least".

## References
STREAM, run rules: arrays of at least four times the last-level cache.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject
from benchspec.spec.quantity import parse_quantity

RULE = Rule("BS407", "denominator-smaller-than-model", "warning")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per device."""
    model = subject.spec.model
    size = model.resident or model.size
    if size is None:
        return
    for index, device in enumerate(subject.spec.hardware.devices):
        if not device.bandwidth_curve:
            continue
        largest = max(device.bandwidth_curve, key=lambda text: parse_quantity(text, "size").mid)
        share = device.share.mid if device.share else 1.0
        if parse_quantity(largest, "size").mid < 0.99 * size.mid * share:
            yield Fact(
                f"The largest buffer of the curve is {largest}, and the model is {size}.",
                ("hardware", "devices", index, "bandwidth_curve"),
                "probe a buffer as large as the model",
                related=((("model",), "the size of the model"),),
                affects=subject.affected(),
            )
