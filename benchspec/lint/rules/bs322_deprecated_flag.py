"""The flag still works and will be gone.

## What it checks
Flags that the engine accepts with a warning, or without any effect.

## Why it misleads
Whoever repeats the study with the next version cannot start it.

## Bad
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off", defrag-thold: 0.1}  # info: BS322
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
Write the successor that the finding names, or remove the flag.

## References
The engine's `--help`.
"""

from collections.abc import Iterator

from benchspec.lint import engine_problems
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS322", "deprecated-flag", "info")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per flag."""
    yield from engine_problems.facts(
        subject, "deprecated-flag", help_text="write the successor, or remove it"
    )
