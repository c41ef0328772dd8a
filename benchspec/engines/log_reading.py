"""Reading an engine's log: one way for all engines, with a table of what each prints (`*_log.py`).

Pure: lines in, facts and findings out. Patterns are searched for, never anchored: what stands before
a message varies with the engine's version, and with what kept the log (journald, docker, kubectl).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from benchspec.knowledge.wrapped import unwrapped, without_colour
from benchspec.store.records import LogFinding

LINE_LIMIT = 1000  # characters kept of one line
FINDING_LIMIT = 100  # findings kept of one log, and
REPEAT_LIMIT = 3  # of one pattern: run-time trouble repeats for every request

Effect = Literal["refused", "changed", "ignored", "fell-back", "warning", "error"]

_LOST = re.compile(r"^\[[\d.]+[KM]?B? blob data\]$")
"""In the place of a line with control characters, from journald."""

_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")


@dataclass(frozen=True)
class LogReading:
    """`facts` by name (single values, and lists for what occurs per device); `findings` in order."""

    facts: dict[str, object] = field(default_factory=dict)
    findings: list[LogFinding] = field(default_factory=list)


@dataclass(frozen=True)
class Line:
    """A line without colours and wrapping. `level` is I, W, E or D; "" where the line has none."""

    number: int
    level: str
    text: str


@dataclass(frozen=True)
class Pattern:
    """One kind of line that matters; `only_if` limits it to specs that asked for such a setting."""

    effect: Effect
    setting: str | None
    regex: re.Pattern[str]
    only_if: tuple[str, ...] = ()


def pattern(
    effect: Effect, setting: str | None, regex: str, only_if: tuple[str, ...] = ()
) -> Pattern:
    """A Pattern from the text of its regular expression."""
    return Pattern(effect, setting, re.compile(regex), only_if)


def compiled(*patterns: str) -> tuple[re.Pattern[str], ...]:
    """The patterns, compiled."""
    return tuple(re.compile(one) for one in patterns)


@dataclass(frozen=True)
class LogForm:
    """What is known of one engine's log, after the format strings of the version `known`.

    `level`: its group `level` begins with the letter of the level, and the message stands behind
    the match. `facts`: a named group is the fact's name; the first occurrence counts, or the last
    with `last_counts`. `lists`: facts that occur once per device or file. `restarted` is the first
    line of a start: what an earlier start in the same file said is forgotten. After `started`,
    informational lines matter only where `while_running` is in them. `quotes` marks lines of
    somebody else's words, such as the model file's; `harmless` the warnings that are always there.
    `line_limit`: characters of a line that are looked at.
    """

    known: str
    level: re.Pattern[str]
    facts: tuple[re.Pattern[str], ...] = ()
    last_counts: bool = False
    lists: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    findings: tuple[Pattern, ...] = ()
    restarted: re.Pattern[str] | None = None
    started: re.Pattern[str] | None = None
    while_running: re.Pattern[str] | None = None
    quotes: re.Pattern[str] | None = None
    harmless: re.Pattern[str] | None = None
    line_limit: int = LINE_LIMIT

    @cached_property
    def any_finding(self) -> re.Pattern[str]:
        """Matches where any of the findings' patterns does: most lines are none of them."""
        return re.compile("|".join(one.regex.pattern for one in self.findings) or r"(?!)")


def numbered(lines: Iterable[str], form: LogForm, *, first: int = 1) -> Iterator[Line]:
    """The lines as `form` takes them apart, counted from `first`."""
    for number, raw in enumerate(lines, start=first):
        text = without_colour(unwrapped(raw[: form.line_limit * 2]))
        text = text.rstrip()[: form.line_limit]
        if not text.isprintable():
            text = "".join(c if c.isprintable() else " " for c in text)
        level = form.level.search(text)
        if level:
            yield Line(number, _letter(level["level"] or ""), text[level.end() :])
        else:
            yield Line(number, "", text)


def _letter(level: str) -> str:
    """I, W, E or D, of `WARNING`, `WARN`, `FATAL`, ... too."""
    letter = level[:1].upper()
    return "E" if letter in ("C", "F") else letter


def read(
    lines: Iterable[Line],
    form: LogForm,
    *,
    asked: Collection[str] = (),
    running: bool = False,
) -> LogReading:
    """Facts and findings of a log's `numbered` lines; `asked` are the canonical settings that the
    spec states.

    With `running` the lines are of a server that has started before. Findings beside the known
    patterns are the log's other warnings and errors, without a setting.
    """
    reading, seen = LogReading(), Counter[str]()
    starting = not running
    for line in lines:
        if form.quotes and form.quotes.search(line.text):
            continue
        if form.restarted and form.restarted.search(line.text):
            reading, seen, starting = LogReading(), Counter(), True
        if starting:
            _collect(reading.facts, form, line.text)
            starting = not (form.started and form.started.search(line.text))
        elif line.level == "I" and not (
            form.while_running and form.while_running.search(line.text)
        ):
            continue
        _keep(reading.findings, seen, _finding(line, form, asked))
    return reading


def _keep(findings: list[LogFinding], seen: Counter[str], finding: LogFinding | None) -> None:
    if finding is None or len(findings) >= FINDING_LIMIT:
        return
    kind = f"{finding.effect} {finding.setting} {re.sub(r'[0-9]+', '0', finding.text)}"
    seen[kind] += 1
    if seen[kind] <= REPEAT_LIMIT:
        findings.append(finding)


def _collect(facts: dict[str, object], form: LogForm, text: str) -> None:
    for regex in form.facts:
        match = regex.search(text)
        if match:
            for name, value in match.groupdict().items():
                if value is not None and (form.last_counts or name not in facts):
                    facts[name] = typed(value)
    for name, regex in form.lists.items():
        match = regex.search(text)
        if match:
            entries = facts.setdefault(name, [])
            assert isinstance(entries, list)
            if len(entries) < FINDING_LIMIT:
                entries.append(" ".join(match[1].split()))


def typed(value: str) -> str | int | float | bool:
    """A printed value as what it is: `4`, `0.5`, `true`, `123,456`; else the text."""
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    plain = value.replace(",", "") if _THOUSANDS.fullmatch(value) else value
    for number in (int, float):
        try:
            return number(plain)
        except ValueError:
            continue
    return value.strip()


def _finding(line: Line, form: LogForm, asked: Collection[str]) -> LogFinding | None:
    text = line.text[:LINE_LIMIT]
    known = form.any_finding.search(line.text) is not None
    for one in form.findings if known else ():
        if one.regex.search(line.text):
            if one.only_if and not any(name in asked for name in one.only_if):
                return None
            return LogFinding(effect=one.effect, setting=one.setting, text=text, line=line.number)
    if _LOST.match(text):
        lost = f"a line was not kept by what keeps the log: {text}"
        return LogFinding(effect="warning", text=lost, line=line.number)
    if line.level not in ("W", "E") or (form.harmless and form.harmless.search(line.text)):
        return None
    effect: Effect = "error" if line.level == "E" else "warning"
    return LogFinding(effect=effect, text=text, line=line.number)
