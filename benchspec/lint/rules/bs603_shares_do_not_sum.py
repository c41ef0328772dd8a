"""The shares of the devices do not add up to the whole model.

## What it checks
If every device has a `share`, they sum to 1 within 2 %.

## Why it misleads
A part of the model is then on no device, or on two. Ceiling and turn-taking divide by these shares.

## Bad
```yaml
hardware:
  devices:
    - {id: gpu0, name: A100, share: 0.5}  # warning: BS603
    - {id: gpu1, name: A100, share: 0.3}
```

## Good
```yaml
hardware:
  devices:
    - {id: gpu0, name: A100, share: 0.6}
    - {id: gpu1, name: A100, share: 0.4}
```

## Fix
Correct the shares, or add the device (often the CPU) that holds the rest.

## References
llama.cpp, `tensor-split`: proportions, which it normalises itself.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS603", "shares-do-not-sum", "warning")


def check(subject: Subject) -> Iterator[Fact]:
    """At most one fact."""
    devices = subject.spec.hardware.devices
    shares = [device.share for device in devices if device.share]
    if len(devices) < 2 or len(shares) < len(devices) or any(s.high > 1 for s in shares):
        return
    low, high = sum(s.low for s in shares), sum(s.high for s in shares)
    if high < 0.98 or low > 1.02:
        terms = " + ".join(str(share) for share in shares)
        yield Fact(
            f"{terms} = {(low + high) / 2:.2f}, not 1.",
            ("hardware", "devices", 0, "share"),
            "correct the shares, or add the device that holds the rest",
            affects=subject.affected(),
        )
