"""A variable is set that the engine does not read, or reads as nothing.

## What it checks
Variables with the engine's prefix that no version of it reads, that an older version read, or whose
value is silently ignored.

## Why it misleads
`LLAMA_ARG_MLOCK=1` in a post looks like memory locking. The variable has no effect.

## Bad
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off"}
  env:
    LLAMA_ARG_MLOCK: "1"  # warning: BS320
```

## Good
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off"}
  env:
    LLAMA_ARG_LOAD_MODE: mlock
```

## Fix
Write the variable that the finding names, or remove it.

## References
llama.cpp, common/arg.cpp: environment variables are read by exact name.
"""

from collections.abc import Iterator

from benchspec.lint import engine_problems
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS320", "variable-ignored", "warning")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per variable."""
    yield from engine_problems.facts(
        subject, "env-ignored", help_text="remove it, or write the variable that is read"
    )
