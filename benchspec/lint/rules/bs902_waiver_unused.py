"""A waiver waives nothing.

## What it checks
Every entry of `waivers` against the findings of this spec: rule, arm and path.

## Why it misleads
A leftover waiver tells readers of a defect that the study no longer has, and hides the next one.

## Bad
```yaml
repeats: 3
waivers:
  - {rule: BS505, reason: pilot}  # warning: BS902
```

## Good
```yaml
repeats: 3
```

## Fix
Delete the waiver, or correct its `arm` or `path`. A finding about several arms needs a waiver for
each, or one without `arm`.

## References
The linter, waivers: docs/rules/README.md.
"""

from benchspec.lint.rule import Fact, Rule
from benchspec.spec.models import Waiver
from benchspec.spec.problems import Path

RULE = Rule("BS902", "waiver-unused", "warning")


def fact(waiver: Waiver, path: Path) -> Fact:
    """The fact about `waiver`, which stands at `path`."""
    where = "".join(f", {name} {value}" for name, value in _limits(waiver))
    return Fact(
        f"No finding matches this waiver (rule {waiver.rule}{where}).",
        path,
        "delete it, or correct its arm or path",
    )


def _limits(waiver: Waiver) -> list[tuple[str, str]]:
    stated = [("arm", waiver.arm), ("path", waiver.path)]
    return [(name, value) for name, value in stated if value]
