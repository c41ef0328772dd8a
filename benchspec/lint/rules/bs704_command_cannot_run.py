"""The engine cannot be started as written.

## What it checks
A command line is one program with its arguments: no unbalanced quotes, no placeholders, nothing the
shell would have had to expand, a server and not a tool that prints and exits, the engine that
`kind` names. In the line of a server that runs already a variable is a remark. What a web page does
to a line (typographic dashes and quotes), and what a shell would stop at (a remark between continued
lines), is read as it was meant and is a warning. The kinds `openai` and `command` say what they
attach to and what they run.

## Why it misleads
A reader cannot repeat it, and neither can benchspec.

## Bad
```yaml
engine:
  kind: llama.cpp
  version: b11434
  command: llama-cli -m x.gguf -c 8192 -ngl 99 -fit off  # error: BS704
```

## Good
```yaml
engine:
  kind: llama.cpp
  version: b11434
  command: llama-server -m x.gguf -np 4 -c 8192 -ngl 99 -fit off
```

## Fix
Write the line as it was run, with every variable expanded.

## References
POSIX shell: quoting and expansion.
"""

from collections.abc import Iterator

from benchspec.knowledge.model import Problem
from benchspec.lint import engine_problems
from benchspec.lint.arm import Arm
from benchspec.lint.finding import Severity
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, by_place, names

RULE = Rule("BS704", "command-cannot-run", "error")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per defect and place."""
    yield from engine_problems.facts(
        subject,
        "exits",
        "unbalanced-quote",
        "not-expanded",
        "control-character",
        "typographic",
        "too-long",
        "unknown-executable",
        "other-engine",
        "not-a-server",
        help_text="write the line as it was run, with every variable expanded",
        severity=_weight,
    )
    if subject.seen:
        return  # nothing will be started: the figures are there already
    for path, arms in by_place(
        filter(_lacks, subject.arms), lambda arm: arm.part("engine", "kind")
    ):
        key = _lacks(arms[0])
        yield Fact(
            f"An engine of kind {arms[0].kind} needs `{key}`.",
            path,
            f"add `{key}`",
            arms=names(arms),
            affects=subject.affected(arms),
        )


def _weight(arm: Arm, problem: Problem) -> Severity | None:
    """A variable matters less where the server runs already: the line is only read. What a web page
    did to it is mended in reading."""
    if problem.kind == "typographic":
        return "warning"
    return "info" if arm.attached and problem.kind == "not-expanded" else None


def _lacks(arm: Arm) -> str:
    """The key without which this kind cannot be used, or nothing."""
    if arm.kind == "openai" and not arm.attached:
        return "attach"
    return "workload.command" if arm.kind == "command" and not arm.workload.command else ""
