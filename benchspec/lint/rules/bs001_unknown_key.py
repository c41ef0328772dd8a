"""A key is not part of the spec language.

## What it checks
Every key of the file against the language, at every depth. Flags under `engine.flags` and variables
under `engine.env` are the engine's own and are looked at by other rules.

## Why it misleads
An ignored key is a setting that its author believes in. `repeat: 5` instead of `repeats: 5` would
publish one run as five.

## Bad
```yaml
repeat: 3  # error: BS001
```

## Good
```yaml
repeats: 3
```

## Fix
Write the key that the finding names, or delete it. `benchspec schema` prints every key.

## References
The spec language: docs/spec.md.
"""

from benchspec.lint.rule import Rule

RULE = Rule("BS001", "unknown-key", "error")
