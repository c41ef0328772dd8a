"""The flag existed once and is gone.

## What it checks
Flags and variables that older versions of the engine had, with what to write instead.

## Why it misleads
A command line copied from last year's post does not start, or starts and ignores what mattered.

## Bad
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off", draft-max: 8}  # error: BS303
```

## Good
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags:
    {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off", spec-type: draft-mtp, spec-draft-n-max: 8}
```

## Fix
Write the successor that the finding names.

## References
llama.cpp, common/arg.cpp: removed parameters.
"""

from collections.abc import Iterator

from benchspec.lint import engine_problems
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS303", "removed-flag", "error")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per flag and place."""
    yield from engine_problems.facts(
        subject, "removed-flag", help_text="write the successor, or remove the flag"
    )
