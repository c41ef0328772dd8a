"""Has llama-server's log a form that `llama_cpp_log` knows? If not, its silence means nothing.

Every start prints a few lines that facts are read from. Where such a line is there in other words,
or not at all although the log is detailed enough, a fact that is absent is unread, not untrue. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from benchspec.store.records import LogFinding

KNOWN_FORMAT = "llama.cpp b11434"
"""The build whose format strings the patterns follow."""

LINE_LIMIT = 1000
QUOTED_CHARACTERS = 160
DETAILED = 4
"""Verbosity from which all of the lines are printed."""
FEW_LINES = 20
"""A log that does not tell its verbosity and is shorter than this has told nothing yet."""


@dataclass(frozen=True)
class _Mark:
    """A line of every start: words that any wording of it would have, and the form that is read."""

    name: str
    words: re.Pattern[str]
    form: re.Pattern[str]


def _mark(name: str, words: str, form: str) -> _Mark:
    return _Mark(name, re.compile(words), re.compile(form))


_MARKS = (
    _mark("layers", r"\bn_layers?\b", r"print_info: n_layer\s+= \d+"),
    _mark("context size", r"llama_context: n_ctx\b(?! is not)", r"llama_context: n_ctx\s+= \d+"),
    _mark("flash attention", r"\bflash_attn\b", r"llama_context: flash_attn\s+= \w+"),
    _mark(
        "slots",
        r"\bn_slots\b",
        r"n_slots = \d+, n_ctx_slot = \d+, kv_unified = '(?:true|false)'",
    ),
)
_VERBOSITY = re.compile(r"verbosity = (\d+) \(adjust")
_READY = re.compile(r"listening on \S+")
_QUOTES_THE_MODEL = re.compile(r"llama_model_loader: - kv|print_info: general\.name")


def drift(lines: Iterable[str]) -> list[LogFinding]:
    """A warning per mark that is printed otherwise, and one for those that are missing; none where
    the start of the log is in the known form, or says too little to tell."""
    seen: set[_Mark] = set()
    otherwise: dict[_Mark, tuple[int, str]] = {}
    count, verbosity = 0, None
    for count, line in _start(lines):
        stated = _VERBOSITY.search(line)
        verbosity = int(stated[1]) if stated else verbosity
        for mark in _MARKS:
            if mark.form.search(line):
                seen.add(mark)
            elif mark.words.search(line):
                otherwise.setdefault(mark, (count, line))
    findings = [
        _finding(f"it prints its {mark.name} as: {line.strip()[:QUOTED_CHARACTERS]}", number)
        for mark, (number, line) in otherwise.items()
        if mark not in seen
    ]
    missing = [mark.name for mark in _MARKS if mark not in seen and mark not in otherwise]
    detailed = count >= FEW_LINES if verbosity is None else verbosity >= DETAILED
    if missing and detailed:
        findings.append(_finding(f"it does not print its {', '.join(missing)}"))
    return findings


def _start(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Numbered lines until the server listens; what the model file says of itself is left out."""
    for number, raw in enumerate(lines, start=1):
        line = raw[:LINE_LIMIT]
        if not _QUOTES_THE_MODEL.search(line):
            yield number, line
        if _READY.search(line):
            return


def _finding(what: str, line: int | None = None) -> LogFinding:
    printable = "".join(letter if letter.isprintable() else " " for letter in what)
    text = f"the log is not in the form that is known ({KNOWN_FORMAT}): {printable}"
    return LogFinding(effect="warning", text=text, line=line)
