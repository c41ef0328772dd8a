"""What reading one request's prompt does to the others that decode: a reduction of token stamps. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchspec.observations.model import Interference
from benchspec.store.records import RequestRecord

Stamps = NDArray[np.int64]


class _Prompts(NamedTuple):
    """When prompts were read: begins and ends in ns, one of each per prompt, in no order."""

    begins: Stamps
    ends: Stamps
    timed_by: Literal["server", "first-token"]


def token_stamps(request: RequestRecord, stamps: Stamps) -> Stamps:
    """The stamps of one request in the sample file of its cell, ns."""
    return stamps[request.samples_start : request.samples_start + request.samples_count]


def interference_of(requests: Sequence[RequestRecord], stamps: Stamps) -> Interference | None:
    """p99 of the times between tokens beside a prompt that is read, and without, in ms.

    `stamps` are those of the cell, ns. Only streams count that have times of both kinds, so that
    both are of the same streams; None where there is none. A time is beside where prompts were read
    for half of it or longer, and without where none was; a prompt that only touches it (two answers
    that begin together) makes it neither. A prompt is read for as long as the server says, up to
    its first token; without the server's word for every one, from its send to its first token.
    """
    prompts = _prompts(requests)
    beside, alone = [], []
    for request in requests:
        times = token_stamps(request, stamps)
        if not request.ok or prompts is None or len(times) < 2:
            continue
        gaps, read = np.diff(times), _read_ns(times[:-1], times[1:], prompts)
        within, without = (read > 0) & (2 * read >= gaps), read == 0
        if within.any() and without.any():
            beside.append(gaps[within] / 1e6)
            alone.append(gaps[without] / 1e6)
    if prompts is None or not beside:
        return None
    longer, usual = np.concatenate(beside), np.concatenate(alone)
    return Interference(
        alone_ms=float(np.percentile(usual, 99)),
        beside_ms=float(np.percentile(longer, 99)),
        alone_n=len(usual),
        beside_n=len(longer),
        prefill_ms=_typical_ms(prompts.ends - prompts.begins),
        timed_by=prompts.timed_by,
    )


def _prompts(requests: Sequence[RequestRecord]) -> _Prompts | None:
    seen = [(r, r.first_token_ns, r.sent_ns) for r in requests]
    known = [(r, first, sent) for r, first, sent in seen if first is not None and sent is not None]
    if not known:
        return None
    took = [r.server_prefill_ms for r, _, _ in known]
    ends = np.array([first for _, first, _ in known], np.int64)
    if None in took:
        return _Prompts(np.array([sent for _, _, sent in known], np.int64), ends, "first-token")
    lengths = np.array([round(1e6 * (ms or 0.0)) for ms in took], np.int64)
    return _Prompts(ends - lengths, ends, "server")


def _typical_ms(lengths: Stamps) -> float | None:
    """The prompt that is read at a typical moment: half of all reading belongs to longer ones, so
    that a few long prompts among many short ones are what counts."""
    ordered = np.sort(lengths)
    read = np.cumsum(ordered)
    return float(ordered[np.searchsorted(read, read[-1] / 2)]) / 1e6 if read[-1] > 0 else None


def _read_ns(begins: Stamps, ends: Stamps, prompts: _Prompts) -> Stamps:
    """For how long of each time some prompt was read.

    The stream's own prompt ended by its first token, so it adds nothing.
    """
    order = np.argsort(prompts.begins)
    first, last = prompts.begins[order], np.maximum.accumulate(prompts.ends[order])
    fresh = np.concatenate([[True], first[1:] > last[:-1]])  # where no earlier prompt is still read
    first, last = first[fresh], last[np.concatenate([fresh[1:], [True]])]
    before = np.concatenate([[0], np.cumsum(last - first)])

    def until(moments: Stamps) -> Stamps:
        """Time in which some prompt was read, from the beginning to each moment."""
        begun = np.searchsorted(first, moments, side="right")
        current = np.maximum(begun - 1, 0)
        over = np.where(begun > 0, np.maximum(last[current] - moments, 0), 0)
        return np.asarray(before[begun] - over)

    return until(ends) - until(begins)
