"""A saved log of `nvidia-smi dmon` as samples, for whoever imports someone else's measurement. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime

from benchspec.store.tracks import Track
from benchspec.telemetry.dmon_log import SILENT, Row, counter_of, parse

DAY_S = 86_400


def tracks(lines: Iterable[str], *, interval_s: float = 1.0) -> list[Track]:
    """One track per card and column, in seconds from the log's first line.

    A time that is printed (`-o T`, `-o DT`) counts, so that missing seconds stay missing; without
    one, a card's lines are `interval_s` apart. A column that only ever shows `-` is not measured.
    """
    found: dict[tuple[int, str], Track] = {}
    for at_ns, row in _timed(parse(lines), interval_s):
        for printed, value in row.values.items():
            key = (row.gpu, printed)
            if key not in found:
                counter = counter_of(printed, f"gpu{row.gpu}")
                found[key] = Track(counter=counter, at_ns=[], values=[])
            track = found[key]
            track.at_ns.append(at_ns)
            track.values.append(value)
    return [_or_not_measured(track) for track in found.values()]


def _timed(rows: Iterable[Row], interval_s: float) -> Iterator[tuple[int, Row]]:
    lines: Counter[int] = Counter()
    first_s = last_s = None
    for row in rows:
        seconds = _seconds(row.time) if row.time else lines[row.gpu] * interval_s
        lines[row.gpu] += 1
        if seconds is None:
            continue
        if last_s is not None and seconds < last_s:  # past midnight, where no date is printed
            seconds += DAY_S * math.ceil((last_s - seconds) / DAY_S)
        first_s = seconds if first_s is None else first_s
        last_s = seconds if row.time else None
        yield round((seconds - first_s) * 1e9), row


def _seconds(text: str) -> float | None:
    for form in ("%Y%m%d %H:%M:%S", "%H:%M:%S"):
        try:
            moment = datetime.strptime(text, form)
        except ValueError:
            continue
        return (moment - datetime(1900, 1, 1)).total_seconds()
    return None


def _or_not_measured(track: Track) -> Track:
    if any(value is not None for value in track.values):
        return track
    silent = track.counter.model_copy(update={"not_measured": SILENT})
    return Track(counter=silent, at_ns=[], values=[])
