"""The engine has no such flag.

## What it checks
Every name in `engine.flags`, in a pasted command line and in the environment variables that the
engine reads, against the engine's own options, as that engine parses them. The table of options
describes one version, which the finding names; where the stated version is another, it is a warning.

## Why it misleads
Most engines refuse to start. Those that ignore the flag measure a configuration that nobody
described.

## Bad
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, fit: "off", n-gpu-layer: 99}  # error: BS302
```

## Good
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, fit: "off", n-gpu-layers: 99}
```

## Fix
Write the flag that the finding names. If yours is newer than the table, waive the finding and say
which version has it.

## References
`llama-server --help`, `vllm serve --help=all`, `python -m sglang.launch_server --help`.
"""

from collections.abc import Iterator

from benchspec.knowledge.model import Problem
from benchspec.lint import engine_problems
from benchspec.lint.arm import Arm
from benchspec.lint.finding import Severity
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject
from benchspec.lint.versions import newer, older

RULE = Rule("BS302", "unknown-flag", "error")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per flag and place."""
    yield from engine_problems.facts(
        subject,
        "unknown-flag",
        "ambiguous-flag",
        "stray-argument",
        "not-a-flag",
        help_text="correct its spelling or remove it; `benchspec explain unknown-flag` says more",
        severity=_severity,
    )


def _severity(arm: Arm, _problem: Problem) -> Severity | None:
    """Another version of the engine than the table's may have flags that the table has not."""
    version = arm.knowledge.version if arm.knowledge else None
    return "warning" if newer(arm, version) or older(arm, version) else None
