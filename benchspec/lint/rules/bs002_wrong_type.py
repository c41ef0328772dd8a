"""A value is of another type than its key wants.

## What it checks
Text where a number is wanted, one value where a list is, a list where a map is, and so on.

## Why it misleads
A guess at what was meant would be a guess at what is measured.

## Bad
```yaml
repeats: three  # error: BS002
```

## Good
```yaml
repeats: 3
```

## Fix
Write a value of the type that the finding names.

## References
The spec language: docs/spec.md.
"""

from benchspec.lint.rule import Rule

RULE = Rule("BS002", "wrong-type", "error")
