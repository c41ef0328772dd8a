"""tabbyAPI's line of metrics after each request, which its console may wrap. Pure.

`Metrics (ID: abc): 150 tokens generated in 15.00 seconds (Queue: ..., Process: 4000 cached tokens and
8000 new tokens at 800.00 T/s, Generate: 30.0 T/s, Context: 12000 tokens, Draft: 3 / 4 tokens accepted
(75.00%))`. The seconds are those of the whole request; the rate of Process counts new tokens only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from benchspec.observations.importers.logs.found import (
    Found,
    between,
    number,
    present,
    rounded,
    step,
    whole,
)

_BEGIN = re.compile(r"Metrics \(ID:|\bINFO:\s+Metrics\s*$")
_MOST_PIECES = 16
"""Lines that one may be wrapped into."""

_TIME = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?)\s+[A-Z]+:")
# A figure stands right behind its word: of one that was broken in two, no half is taken for it.
_TOKENS = re.compile(r"\): (\d{1,15}) tokens generated in ([\d.]{1,20}) seconds")
_CACHED = re.compile(r"Process: (\d{1,15}) cached tokens")
_NEW = re.compile(r"(?:Process:|and) (\d{1,15}) new tokens at ([\d.]{1,20}) T/s")
_RATE = re.compile(r"Generate: ([\d.]{1,20}) T/s")
_CONTEXT = re.compile(r"Context: (\d{1,15}) tokens")
_DRAFT = re.compile(r"Draft: (\d{1,15}) / (\d{1,15}) tokens accepted")


def read(lines: Iterable[str]) -> Found:
    """One step with a request per line of metrics."""
    found = Found()
    requests: list[dict[str, Any]] = []
    prefills: list[float | None] = []
    ends: list[tuple[float | None, float | None]] = []
    for text in _whole_lines(lines):
        requests.append(_request(text))
        new, done = _NEW.search(text), _TOKENS.search(text)
        prefills.append(number(new[2]) if new and number(new[2]) else None)
        ends.append((_seconds(text), number(done[2]) if done else None))
    if requests:
        _add_times(requests, ends)
        source = "tabbyAPI's metrics of each request; prefill of new tokens only"
        step(found, requests, source, prefill_tok_s=between(prefills))
        found.leave_out("Queue: the time in the queue")
    return found


def _whole_lines(lines: Iterable[str]) -> Iterator[str]:
    """Each line of metrics in one piece: up to where its brackets close, if that is near."""
    pieces: list[str] = []
    for line in lines:
        if _BEGIN.search(line):
            if pieces:
                yield " ".join(pieces)
            pieces = [line.strip()]
        elif pieces and not _TIME.match(line):
            pieces.append(line.strip())
        if pieces and (_closed(pieces) or len(pieces) == _MOST_PIECES):
            yield " ".join(pieces)
            pieces = []
    if pieces:
        yield " ".join(pieces)


def _closed(pieces: list[str]) -> bool:
    text = " ".join(pieces)
    return "(Queue" in text and text.count("(") <= text.count(")")


def _request(text: str) -> dict[str, Any]:
    done, rate, draft = _TOKENS.search(text), _RATE.search(text), _DRAFT.search(text)
    cached, context = _CACHED.search(text), _CONTEXT.search(text)
    return present(
        tokens=whole(done[1]) if done else None,
        prompt_tokens=whole(context[1]) if context else None,
        cached_tokens=whole(cached[1]) if cached else None,
        self_reported_tok_s=number(rate[1]) if rate else None,
        accepted_tokens=whole(draft[1]) if draft else None,
        draft_tokens=whole(draft[2]) if draft else None,
    )


def _add_times(
    requests: list[dict[str, Any]], ends: list[tuple[float | None, float | None]]
) -> None:
    """Start and end of each, from the first start, where all lines say when and how long."""
    known = [(end, took) for end, took in ends if end is not None and took is not None]
    if len(known) < len(requests):
        return
    first = min(end - took for end, took in known)
    for request, (end, took) in zip(requests, known, strict=True):
        request |= {"start_s": rounded(end - took - first), "end_s": rounded(end - first)}


def _seconds(text: str) -> float | None:
    at = _TIME.search(text)
    try:
        return (
            (datetime.fromisoformat(at[1]) - datetime(1970, 1, 1)).total_seconds() if at else None
        )
    except ValueError:
        return None
