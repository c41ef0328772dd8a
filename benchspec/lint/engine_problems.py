"""What an engine's own parser would say about an arm's flags, command line and environment."""

from collections.abc import Callable, Iterator

from benchspec.knowledge import engines
from benchspec.knowledge.model import Problem
from benchspec.lint.arm import Arm
from benchspec.lint.finding import Severity
from benchspec.lint.rule import Fact
from benchspec.lint.subject import Subject, names
from benchspec.spec.problems import Path, shown


def facts(
    subject: Subject,
    *kinds: str,
    help_text: str,
    severity: Callable[[Arm, Problem], Severity | None] | None = None,
) -> Iterator[Fact]:
    """One fact per place and sentence, however many arms share it.

    `severity` may weigh a problem of an arm otherwise than the rule does.
    """
    found: dict[tuple[Path, str, str], list[Arm]] = {}
    weights: dict[tuple[Path, str], Severity | None] = {}
    for arm in subject.arms:
        for problem in arm.reading.problems:
            if problem.kind in kinds:
                key = place(arm, problem), problem.text, problem.flag or ""
                found.setdefault(key, []).append(arm)
                weights[key[:2]] = severity(arm, problem) if severity else None
    for (path, text, flag), arms in found.items():
        yield Fact(
            sentence(text),
            path,
            help_text,
            arms=names(arms),
            affects=subject.affected(arms),
            severity=weights.get((path, text)),
            word=flag if path[-1] == "command" else "",
        )


def place(arm: Arm, problem: Problem) -> Path:
    """Where the flag or variable of a problem stands, else the command line or the flags."""
    if problem.flag:
        stated = arm.stated_at(problem.flag) or arm.stated_at(
            engines.canonical(arm.kind, problem.flag)
        )
        if stated:
            return stated
    return arm.flags_place


def sentence(text: str) -> str:
    """A problem's words as a sentence that can be printed."""
    text = shown(text, 300)
    return text if text.endswith((".", "…", "?")) else f"{text}."
