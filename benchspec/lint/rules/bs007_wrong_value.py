"""A value is of the right type and still not one that its key can have.

## What it checks
Choices, ranges, patterns and intervals: an engine kind that does not exist, zero repeats, a digest
of 63 digits, an interval that runs backwards, tags and other YAML that a spec has no use for.

## Why it misleads
It cannot be run as written, and the nearest value that can be run is a guess.

## Bad
```yaml
repeats: 0  # error: BS007
```

## Good
```yaml
repeats: 3
```

## Fix
Write one of the values that the finding names.

## References
The spec language: docs/spec.md.
"""

from benchspec.lint.rule import Rule

RULE = Rule("BS007", "wrong-value", "error")
