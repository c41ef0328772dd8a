"""Ollama: the server's lines of its requests, and what `ollama run --verbose` prints after each. Pure.

A line `[GIN] 2026/01/01 - 12:00:30 | 200 | 5.1s | ... | POST "/api/chat"` is written when the answer
has ended: start = finish - duration, and the finish is known to the second. Both print durations as Go
does: µs, ms, s, XmYs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from benchspec.observations.importers.logs.found import (
    Found,
    between,
    duration_s,
    first_number,
    present,
    rounded,
    step,
    whole,
)

_GIN = re.compile(
    r"\[GIN\] (\d{4})/(\d\d)/(\d\d) - (\d\d:\d\d:\d\d) \| *(\d{3}) \| *([^\s|]{1,40}) \|"
    r"[^|]{0,80}\| *([A-Z]{3,7}) +\"([^\"]{0,300})\""
)
_ANSWERS = ("/api/chat", "/api/generate", "/v1/chat/completions", "/v1/completions", "/v1/messages")
_VERBOSE = re.compile(
    r"^\s*(total duration|load duration|prompt eval (?:count|duration|rate)"
    r"|eval (?:count|duration|rate)):\s+(\S{1,60})"
)
_CUT = re.compile(r"truncating input prompt.{0,40}\blimit=(\d{1,12}) prompt=(\d{1,12})")
_MOST_CUT = 20
"""Lines about a prompt that was cut; more of them say nothing new."""


@dataclass(frozen=True)
class _Answer:
    """One request to the server, in seconds of its clock."""

    end_s: float
    duration_s: float
    status: int


def read(lines: Iterable[str]) -> Found:
    """A step with the server's requests, one with those of `--verbose`, and prompts that were cut."""
    found = Found()
    answers: list[_Answer] = []
    blocks: list[dict[str, str]] = []
    for place, line in enumerate(lines, start=1):
        if gin := _GIN.search(line):
            _served(gin, answers, found)
        elif cut := _CUT.search(line):
            _cut(found, cut, place)
        elif (verbose := _VERBOSE.match(line)) is not None:
            if not blocks or verbose[1] in blocks[-1]:
                blocks.append({})
            blocks[-1][verbose[1]] = verbose[2]
    _requests(found, answers)
    _verbose(found, blocks)
    return found


def _served(gin: re.Match[str], answers: list[_Answer], found: Found) -> None:
    duration = duration_s(gin[6])
    try:
        end = datetime.fromisoformat(f"{gin[1]}-{gin[2]}-{gin[3]}T{gin[4]}")
    except ValueError:
        return
    if gin[7] != "POST" or gin[8].partition("?")[0] not in _ANSWERS or duration is None:
        found.leave_out("requests to other addresses than those that generate")
        return
    answers.append(_Answer((end - datetime(1970, 1, 1)).total_seconds(), duration, int(gin[5])))


def _requests(found: Found, answers: list[_Answer]) -> None:
    if not answers:
        return
    ordered = sorted(answers, key=lambda answer: answer.end_s - answer.duration_s)
    first = ordered[0].end_s - ordered[0].duration_s
    requests = []
    for one in ordered:
        start = one.end_s - one.duration_s - first
        times = {"start_s": rounded(start), "end_s": rounded(start + one.duration_s)}
        good = 200 <= one.status < 300
        requests.append(times | ({} if good else {"ok": False, "error": f"HTTP {one.status}"}))
    source = "Ollama's log: start = finish - duration, the finish to the second"
    step(found, requests, source, provenance="derived")


def _verbose(found: Found, blocks: list[dict[str, str]]) -> None:
    if not blocks:
        return
    step(
        found,
        [_timed(block) for block in blocks],
        "`ollama run --verbose`, its averages over each answer",
        prefill_tok_s=between(first_number(block.get("prompt eval rate")) for block in blocks),
        latency_s=between(duration_s(block.get("total duration", "")) for block in blocks),
    )
    found.leave_out("load and eval duration; prompt eval count, which leaves out cached tokens")


def _timed(block: dict[str, str]) -> dict[str, Any]:
    prefill = duration_s(block.get("prompt eval duration", ""))
    return present(
        tokens=whole(block.get("eval count")),
        self_reported_tok_s=first_number(block.get("eval rate")),
        server_prefill_ms=None if prefill is None else rounded(prefill * 1000),
    )


def _cut(found: Found, cut: re.Match[str], place: int) -> None:
    said = found.arm.setdefault("log", [])
    if len(said) < _MOST_CUT:
        text = f"truncating input prompt: {int(cut[2])} tokens cut to the limit of {int(cut[1])}"
        said.append({"effect": "changed", "setting": "num_ctx", "text": text, "line": place})
