"""A variable and a flag set the same thing.

## What it checks
No setting is stated both in `engine.env` (or before the command) and on the command line.

## Why it misleads
The command line wins, so the variable in the post is not what was measured. The engine says so in
one line of its log, if at all.

## Bad
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off"}  # warning: BS306
  env: {LLAMA_ARG_N_PARALLEL: "8"}
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
Keep one of the two.

## References
llama.cpp, common/arg.cpp: "environment variable is set, but will be overwritten".
"""

from collections.abc import Iterator

from benchspec.lint import engine_problems
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS306", "flag-and-env-conflict", "warning")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per setting and place."""
    yield from engine_problems.facts(subject, "flag-and-env", help_text="keep one of the two")
