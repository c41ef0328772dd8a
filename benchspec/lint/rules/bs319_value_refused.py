"""The engine refuses the value of a flag and does not start.

## What it checks
Values as the engine reads them: a missing value, a word where a number is wanted, a value for a
bare flag, `--flag=value` for an engine that does not take it, a negative form that does not exist.
Where the stated version is older than the table of options, a missing or unknown value is a warning,
and a remark where that version is known to take the flag without one (`-fa` of llama.cpp).

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

from benchspec.knowledge.model import Problem
from benchspec.lint import engine_problems
from benchspec.lint.arm import Arm
from benchspec.lint.finding import Severity
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject
from benchspec.lint.versions import older

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
        severity=_severity,
    )


def _severity(arm: Arm, problem: Problem) -> Severity | None:
    """The choices of a value, and whether a flag wants one, change between versions."""
    known = arm.knowledge
    if known is None or problem.kind not in ("value-missing", "value-invalid"):
        return None
    if problem.kind == "value-missing" and older(arm, known.words_since.get(problem.flag or "")):
        return "info"
    return "warning" if older(arm, known.version) else None
