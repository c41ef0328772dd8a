"""A size agrees with its own parts only if GB is read as GiB, or the other way round.

## What it checks
`model.size` against `parameters.total` x `bits_per_weight` / 8, and a device's `memory` against the
usual sizes of memory: the figure is off by 7.4 % and right in the other unit.

## Why it misleads
A GiB is 7.4 % more than a GB. That is more than most differences that are published, and it enters
every fraction of a bandwidth.

## Bad
```yaml
model:
  name: 320B with 18B active
  source: served
  parameters: {total: 320e9, active: 18e9}
  bits_per_weight: 3.01
  size: 112.1 GB  # warning: BS601
```

## Good
```yaml
model:
  name: 320B with 18B active
  source: served
  parameters: {total: 320e9, active: 18e9}
  bits_per_weight: 3.01
  size: 112.1 GiB
```

## Fix
Write the unit that the tool printed: `ls` and vendors use GB, llama.cpp and nvidia-smi use GiB and
MiB.

## References
IEC 80000-13: 1 GiB = 1.0737 GB.
"""

from collections.abc import Iterator

from benchspec.lint.figures import shown
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS601", "gb-gib-mixed", "warning")

_CLOSE = 0.01
_RATIOS = {"GB": 2**30 / 1e9, "GiB": 1e9 / 2**30, "MB": 2**20 / 1e6, "MiB": 1e6 / 2**20}
_OTHER = {"GB": "GiB", "GiB": "GB", "MB": "MiB", "MiB": "MB"}


def check(subject: Subject) -> Iterator[Fact]:
    """At most one fact."""
    model = subject.spec.model
    parameters = model.parameters
    if not model.size or not parameters or not parameters.total or not model.bits_per_weight:
        return
    computed = parameters.total * model.bits_per_weight / 8
    unit = str(model.size).split()[-1].lstrip("0123456789.")
    if unit in _RATIOS and abs(model.size.mid * _RATIOS[unit] / computed - 1) <= _CLOSE:
        factor = 1e9 if unit.startswith("G") else 1e6
        base = 2**30 if unit.startswith("G") else 2**20
        amount = computed / (base if unit.endswith("iB") else factor)
        yield Fact(
            f"{parameters.total / 1e9:g}e9 x {model.bits_per_weight:g} / 8 = {shown(amount)} {unit}, and the "
            f"size says {model.size}: it is right in {_OTHER[unit]}.",
            ("model", "size"),
            f"write {_OTHER[unit]}",
            affects=subject.affected(),
        )
