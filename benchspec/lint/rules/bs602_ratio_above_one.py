"""A share is larger than the whole.

## What it checks
`share` of a device and `bytes_share` of experts are at most 1 (100 %).

## Why it misleads
`share: 33` is 3300 %. Written so, the ceiling of the split comes out a hundred times off.

## Bad
```yaml
hardware:
  devices:
    - {id: gpu0, name: A100, share: 33}  # error: BS602
    - {id: gpu1, name: A100, share: 67 %}
```

## Good
```yaml
hardware:
  devices:
    - {id: gpu0, name: A100, share: 33 %}
    - {id: gpu1, name: A100, share: 67 %}
```

## Fix
Write `33 %` or `0.33`.

## References
The spec language: docs/spec.md, quantities.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject
from benchspec.spec.problems import Path
from benchspec.spec.quantity import Quantity

RULE = Rule("BS602", "ratio-above-one", "error")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per share."""
    for path, share in _shares(subject):
        if share.high > 1:
            yield Fact(
                f"A share of {share} is {share.high * 100:g} %.",
                path,
                f"write `{share.high:g} %`" if share.high <= 100 else "write a share of at most 1",
                affects=subject.affected(),
            )


def _shares(subject: Subject) -> Iterator[tuple[Path, Quantity]]:
    for index, device in enumerate(subject.spec.hardware.devices):
        if device.share:
            yield ("hardware", "devices", index, "share"), device.share
    experts = subject.spec.model.experts
    if experts and experts.bytes_share:
        yield ("model", "experts", "bytes_share"), experts.bytes_share
