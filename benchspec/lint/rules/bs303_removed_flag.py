"""The flag existed once and is gone.

## What it checks
Flags and variables that older versions of the engine had, with what to write instead, and since
when, or as of which version, they are gone. Where the stated version is older than the table of
options, it is a warning; where that version is known to have the flag, a remark, and where it is
known to lack it, an error.

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

from benchspec.knowledge.model import Problem
from benchspec.lint import engine_problems
from benchspec.lint.arm import Arm
from benchspec.lint.finding import Severity
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject
from benchspec.lint.versions import newer, older

RULE = Rule("BS303", "removed-flag", "error")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per flag and place."""
    yield from engine_problems.facts(
        subject,
        "removed-flag",
        help_text="write the successor, or remove the flag",
        severity=_severity,
    )


def _severity(arm: Arm, problem: Problem) -> Severity | None:
    """An older engine than the table's may still have it: what is known of its end decides."""
    known = arm.knowledge
    if known is None or not older(arm, known.version):
        return None
    entry = next((each for each in known.removed if problem.flag in each.names), None)
    if entry is None:
        return "warning"
    if older(arm, entry.gone_in) or (entry.seen_in and not newer(arm, entry.seen_in)):
        return "info"
    return None if entry.gone_in else "warning"
