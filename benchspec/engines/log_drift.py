"""Has an engine's log a form that is known? If not, its silence means nothing.

Every start prints a few lines that facts are read from. Where such a line is there in other words,
or not at all although the log is detailed enough, a fact that is absent is unread, not untrue. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from benchspec.engines.log_reading import Line, LogForm
from benchspec.store.records import LogFinding

QUOTED_CHARACTERS = 160
FEW_LINES = 20
"""A log that does not tell its verbosity and is shorter than this has told nothing yet."""


@dataclass(frozen=True)
class Mark:
    """A line of every start: words that any wording of it would have, and the form that is read."""

    name: str
    words: re.Pattern[str]
    form: re.Pattern[str]


def mark(name: str, words: str, form: str) -> Mark:
    """A Mark from the texts of its regular expressions."""
    return Mark(name, re.compile(words), re.compile(form))


@dataclass(frozen=True)
class Marks:
    """The marks of an engine's log. A log that states a level of detail (the only group of
    `verbosity`) below `detailed` does not print them all."""

    every: tuple[Mark, ...]
    verbosity: re.Pattern[str] | None = None
    detailed: int = 0


def drift(lines: Iterable[Line], form: LogForm, marks: Marks) -> list[LogFinding]:
    """A warning per mark that is printed otherwise, and one for those that are missing; none where
    the start of the log is in the known form, or says too little to tell."""
    seen: set[Mark] = set()
    otherwise: dict[Mark, Line] = {}
    verbosity = None
    start = _last_start(lines, form)
    for line in start:
        stated = marks.verbosity.search(line.text) if marks.verbosity else None
        verbosity = int(stated[1]) if stated else verbosity
        for one in marks.every:
            if one.form.search(line.text):
                seen.add(one)
            elif one.words.search(line.text):
                otherwise.setdefault(one, line)
    findings = [
        _finding(form, f"it prints its {one.name} as: {_quoted(line)}", line.number)
        for one, line in otherwise.items()
        if one not in seen
    ]
    missing = [one.name for one in marks.every if one not in seen and one not in otherwise]
    detailed = len(start) >= FEW_LINES if verbosity is None else verbosity >= marks.detailed
    if missing and detailed:
        findings.append(_finding(form, f"it does not print its {', '.join(missing)}"))
    return findings


def _last_start(lines: Iterable[Line], form: LogForm) -> list[Line]:
    """The last start's lines until the server listens; what the model file says is left out."""
    start: list[Line] = []
    listens = False
    for line in lines:
        if form.restarted and form.restarted.search(line.text):
            start, listens = [], False
        if not listens and not (form.quotes and form.quotes.search(line.text)):
            start.append(line)
        listens = listens or bool(form.started and form.started.search(line.text))
    return start


def _quoted(line: Line) -> str:
    return line.text.strip()[:QUOTED_CHARACTERS]


def _finding(form: LogForm, what: str, line: int | None = None) -> LogFinding:
    text = f"the log is not in the form that is known ({form.known}): {what}"
    return LogFinding(effect="warning", text=text, line=line)
