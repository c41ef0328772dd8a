"""Times of change of response files as completion times of a wave of requests. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

SECOND_NS = 10**9
FINEST_S = 0.01
"""A kernel stamps files by its tick, 1 to 10 ms, however many digits the file system keeps."""

_FEW = 4
"""Fewer times than these may be multiples of two seconds by chance."""


@dataclass(frozen=True)
class Response:
    """One file with an answer: when its content last changed, and how long it is."""

    name: str
    changed_ns: int
    size_bytes: int


class BeforeTheStart(ValueError):
    """A file changed before the first request was sent."""


def resolution_s(times_ns: Sequence[int]) -> float:
    """How fine the times are, in seconds: 2 where all are even seconds (FAT), 1 where all are whole
    (older file systems, most archives and copies), else a kernel's tick."""
    if any(t % SECOND_NS for t in times_ns):
        return FINEST_S
    even = len(times_ns) >= _FEW and not any(t % (2 * SECOND_NS) for t in times_ns)
    return 2.0 if even else 1.0


def step_of(responses: Sequence[Response], start_ns: int) -> dict[str, Any]:
    """A step of `observations`: as many requests in flight as there are files, each ended when its
    file last changed, in seconds from `start_ns`. An empty file is a request that failed.

    Raises BeforeTheStart, naming the file.
    """
    answers = sorted((r for r in responses if r.size_bytes > 0), key=lambda r: r.changed_ns)
    if early := next((r for r in answers if r.changed_ns < start_ns), None):
        raise BeforeTheStart(
            f"{early.name} changed {(start_ns - early.changed_ns) / SECOND_NS:.3f} s before the start"
        )
    fine = resolution_s([r.changed_ns for r in answers])
    failed = len(responses) - len(answers)
    return {
        "concurrency": len(responses),
        "mode": "burst",
        "provenance": "derived",
        "source": f"times of change of {len(answers)} files, resolution {fine:g} s",
        "completions_s": [(r.changed_ns - start_ns) / SECOND_NS for r in answers],
        **({"errors": failed} if failed else {}),
    }
