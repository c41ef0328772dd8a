"""A waiver does not say why.

## What it checks
Every entry of `waivers` has a `reason`.

## Why it misleads
The reason is printed in the report beside the finding. Without it a reader learns that something
was known to be wrong and not why the author thinks that it does not matter.

## Bad
```yaml
repeats: 1
waivers:
  - {rule: BS505}  # error: BS901
```

## Good
```yaml
repeats: 1
waivers:
  - {rule: BS505, reason: pilot; repeated five times in the second study}
```

## Fix
Add `reason`, one sentence that a reader of the report can judge.

## References
The linter, waivers: docs/rules/README.md.
"""

from benchspec.lint.rule import Fact, Rule
from benchspec.spec.models import Waiver
from benchspec.spec.problems import Path

RULE = Rule("BS901", "waiver-without-reason", "error")


def fact(waiver: Waiver, path: Path) -> Fact:
    """The fact about `waiver`, which stands at `path`."""
    return Fact(
        f"The waiver of {waiver.rule} gives no reason, so it waives nothing.",
        path,
        "add `reason: ...`; the report prints it beside the finding",
    )
