"""An unquoted value is read differently by YAML 1.1 and YAML 1.2.

## What it checks
Values such as `yes`, `off`, `017` or `12:30` where a number or a truth value is wanted. Where text
is wanted (`fit: off`) they are text, and nothing is said.

## Why it misleads
Another tool that reads the same file sees another value: `yes` is true in YAML 1.1 and the text
"yes" in YAML 1.2.

## Bad
```yaml
workload:
  label: {material: english-prose, context_tokens: 128, speculation: none}
  prompt: {tokens: 64, unique: yes}  # error: BS006
  output: {tokens: 64, forced: true}
```

## Good
```yaml
workload:
  label: {material: english-prose, context_tokens: 128, speculation: none}
  prompt: {tokens: 64, unique: true}
  output: {tokens: 64, forced: true}
```

## Fix
Write `true` or `false`, or the number without leading zeros, colons or underscores.

## References
YAML 1.2.2, section 10.3; https://yaml.org/type/bool.html for YAML 1.1.
"""

from benchspec.lint.rule import Rule

RULE = Rule("BS006", "ambiguous-scalar", "error")
