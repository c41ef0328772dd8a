"""Devices that are compared are known by a marketing name only.

## What it checks
Where arms run on devices of the same name and share none of them, each has a `pci_id`, a
`memory_clock` or a measured bandwidth. A GPU without any name is a finding, too.

## Why it misleads
One name, several cards: a "V100 32 GB" with memory at 1107 MHz has 1134 GB/s, one at 877 MHz has
898. Two "V100 pairs, with NVLink and without" differed by 1.20 in speed, and by 1.20 in memory
bandwidth.

## Bad
```yaml
hardware: {devices: [{id: a, name: V100}, {id: b, name: V100}]}
arms:
  - {id: A, devices: [a], control_for: B}
  - {id: B, devices: [b]}  # warning: BS410
```

## Good
```yaml
hardware: {devices: [{id: a, name: V100, pci_id: "10de:1df0"}, {id: b, name: V100, pci_id: "10de:1db5"}]}
arms:
  - {id: A, devices: [a], control_for: B}
  - {id: B, devices: [b]}
```

## Fix
Add `pci_id` and `memory_clock`: `nvidia-smi -q` prints both.

## References
The judge's identity check: docs/checks.md.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject
from benchspec.spec.models import Device

RULE = Rule("BS410", "device-identity-missing", "warning")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per nameless GPU, one per arm on a twin device."""
    for index, device in enumerate(subject.spec.hardware.devices):
        if device.kind == "gpu" and not device.name:
            yield Fact(
                f"Device {device.id} has no name, so no reader knows what was measured.",
                ("hardware", "devices", index),
                "add `name`, as nvidia-smi prints it",
                affects=subject.affected(),
            )
    first = subject.arms[0]
    for arm in subject.arms[1:]:
        shared = {d.id for d in arm.devices} & {d.id for d in first.devices}
        twins = [d for d in arm.devices if not _known(d) and not shared and _twin(d, first.devices)]
        if twins:
            yield Fact(
                f"Arms {first.id} and {arm.id} run on different devices that are both called "
                f"{twins[0].name}.",
                arm.part("devices"),
                "add `pci_id` or `memory_clock` to both",
                arms=(first.id, arm.id),
                affects=subject.affected([first, arm]),
            )


def _known(device: Device) -> bool:
    measured = device.memory_bandwidth is not None and device.source == "measured"
    return bool(device.pci_id or device.memory_clock or measured)


def _twin(device: Device, others: list[Device]) -> bool:
    return any(device.name and device.name == other.name for other in others)
