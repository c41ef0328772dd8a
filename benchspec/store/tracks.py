"""Samples of counters around a cell: `telemetry/<cell>.jsonl`, one line per counter.

A line is one Track as JSON. What was read is kept raw (a counter's own number, wraps included), so
that a better reduction can be made later; `CounterRecord` says what the numbers mean.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import ValidationError

from benchspec.errors import StorageFailure
from benchspec.store.records import Record

Kind = Literal["gauge", "cumulative", "window"]
Raw = int | float | None


class CounterRecord(Record):
    """What one counter is. `raw x scale` is in `unit`; for a cumulative one, the raw difference
    over the seconds between two readings, times `scale`, is.

    `gauge`: the value at the moment of reading. `cumulative`: a count that grows. `window`: the
    mean over the last `window_s`, or since the reading before where that is None.
    A cumulative counter that starts again at `wraps_at` grows by at most `most_per_s` raw units a
    second; readings further apart than one turn of it cannot be told apart.
    `device` is None for the machine and for the engine; `read_as` says by which call or file.
    `bound` marks a number that is an upper bound (packets counted as if they were full). `judged` is
    False for what is only kept as evidence. `not_measured` is why there are no samples.
    """

    name: str
    unit: str
    kind: Kind
    source: str
    read_as: str = ""
    device: str | None = None
    scale: float = 1.0
    wraps_at: int | None = None
    most_per_s: float | None = None
    window_s: float | None = None
    bound: bool = False
    judged: bool = True
    not_measured: str | None = None


class Track(Record):
    """Readings of one counter: `at_ns` from the run's origin, ascending; None = it failed.

    `trouble` is why the first of the failed ones failed.
    """

    counter: CounterRecord
    at_ns: list[int]
    values: list[Raw]
    trouble: str | None = None


def encode(tracks: Iterable[Track]) -> bytes:
    """The file's bytes; the same tracks give the same bytes."""
    return b"".join(track.model_dump_json().encode() + b"\n" for track in tracks)


def decode(data: bytes, name: str) -> list[Track]:
    """The tracks in a file's bytes. Raises StorageFailure when a line is not a Track."""
    return [_decode_line(line, name, number) for number, line in enumerate(data.splitlines(), 1)]


def _decode_line(line: bytes, name: str, number: int) -> Track:
    try:
        track = Track.model_validate_json(line)
    except ValidationError as error:
        raise _damaged(name, number, error.errors()[0]["msg"]) from error
    if len(track.at_ns) != len(track.values):
        raise _damaged(name, number, "it has not one time per value")
    return track


def _damaged(name: str, number: int, why: str) -> StorageFailure:
    return StorageFailure(
        f"{name}, line {number}, holds no samples of a counter: {why}.",
        hint="The file was changed after the run, or made by another version of benchspec.",
    )
