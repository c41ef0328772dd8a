"""The engine refuses the value of a flag and does not start.

## What it checks
Values as the engine reads them: a missing value, a word where a number is wanted, a value for a
bare flag, `--flag=value` for an engine that does not take it, a negative form that does not exist.

## Why it misleads
It does not mislead; it costs the start of a run.

## Bad
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: many, ctx-size: 8192, n-gpu-layers: 99, fit: "off"}  # error: BS319
```

## Good
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off"}
```

## Fix
Write a value of the kind that the finding names.

## References
The engine's `--help`.
"""

from collections.abc import Iterator

from benchspec.lint import engine_problems
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS319", "value-refused", "error")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per flag and place."""
    yield from engine_problems.facts(
        subject,
        "value-missing",
        "value-invalid",
        "value-unexpected",
        "not-negatable",
        "equals-form",
        "unquoted-json",
        help_text="write it as the engine's --help does",
    )
