"""A map has the same key twice.

## What it checks
Every map of the file, `engine.flags` among them.

## Why it misleads
Most YAML readers keep the last value and say nothing, so that the line a reader finds first is not
the one that was measured.

## Bad
```yaml
repeats: 3
repeats: 5  # error: BS005
```

## Good
```yaml
repeats: 5
```

## Fix
Delete one of the two.

## References
YAML 1.2.2, section 3.2.1.3: the keys of a map are unique.
"""

from benchspec.lint.rule import Rule

RULE = Rule("BS005", "duplicate-key", "error")
