"""Counters around a cell, aligned to its requests by phase. Pure.

Phases of a cell: *decode* is when somebody is between the first and the last token; *prefill* is
when somebody waits for a first token while nobody decodes; neither is the whole step, from the
first dispatch to the last end. A window counts where it lies wholly inside; nothing is interpolated.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from benchspec.observations.model import Series
from benchspec.observations.quantiles import median
from benchspec.store.records import CellRecord
from benchspec.store.tracks import CounterRecord, Track

Interval = tuple[int, int]
Phase = Literal["prefill", "decode"] | None

BY_PHASE = ("utilization", "pcie", "nvlink", "xgmi", "clocks")
"""Families of a device's counters that mean something else in prefill than in decode. Everything
else (power, energy, memory, temperature, and what host and engine show) is of the whole step."""


class Window(NamedTuple):
    """What one reading looked at: `value` in the counter's unit, None where it failed; `amount` is
    what a cumulative counter grew by, in unit x s."""

    begin_ns: int
    end_ns: int
    value: float | None
    amount: float | None = None


def windows(track: Track) -> list[Window]:
    """The windows of a counter's readings, in order; those that cannot be trusted have no value."""
    pairs = list(zip(track.at_ns, track.values, strict=True))
    read = {"gauge": _moments, "window": _means, "cumulative": _differences}[track.counter.kind]
    return list(read(track.counter, pairs))


Readings = Sequence[tuple[int, int | float | None]]


def _moments(counter: CounterRecord, readings: Readings) -> Iterator[Window]:
    for at_ns, raw in readings:
        yield Window(at_ns, at_ns, _scaled(raw, counter))


def _means(counter: CounterRecord, readings: Readings) -> Iterator[Window]:
    """Over `window_s` before the reading, or since the one before it."""
    if counter.window_s is not None:
        length_ns = round(counter.window_s * 1e9)
        for at_ns, raw in readings:
            yield Window(at_ns - length_ns, at_ns, _scaled(raw, counter))
        return
    for (before_ns, _), (at_ns, raw) in pairwise(readings):
        yield Window(before_ns, at_ns, _scaled(raw, counter))


def _scaled(raw: int | float | None, counter: CounterRecord) -> float | None:
    return None if raw is None or not math.isfinite(raw) else raw * counter.scale


def _differences(counter: CounterRecord, readings: Readings) -> Iterator[Window]:
    """From one good reading to the next; a failed one in between is covered by the next."""
    good = [(at_ns, raw) for at_ns, raw in readings if raw is not None and math.isfinite(raw)]
    for (begin_ns, before), (end_ns, after) in pairwise(good):
        seconds = (end_ns - begin_ns) / 1e9
        if seconds <= 0:
            continue
        grown = _grown(counter, before, after, seconds)
        if grown is None:
            yield Window(begin_ns, end_ns, None)
        else:
            amount = grown * counter.scale
            yield Window(begin_ns, end_ns, amount / seconds, amount)


def _grown(
    counter: CounterRecord, before: int | float, after: int | float, seconds: float
) -> int | float | None:
    """How far a counter went, over a wrap as well; None after a restart, or where it may have gone
    round more than once. A number beyond the wrap proves that the counter is wider than that."""
    grown, turn = after - before, counter.wraps_at
    if turn is None or max(before, after) >= turn:
        return grown if grown >= 0 else None
    if counter.most_per_s is not None and counter.most_per_s * seconds >= turn:
        return None
    return grown if grown >= 0 else grown + turn


def phases(cell: CellRecord) -> dict[Phase, list[Interval]]:
    """When each phase was, as separate intervals in order (ns of the run's clock)."""
    sent = [r for r in cell.requests if r.sent_ns is not None]
    decode = _union(
        (r.first_token_ns, r.last_token_ns)
        for r in sent
        if r.first_token_ns is not None and r.last_token_ns is not None
    )
    waiting = _union(
        (r.sent_ns, r.first_token_ns)
        for r in sent
        if r.sent_ns is not None and r.first_token_ns is not None
    )
    ends = [r.end_ns for r in sent if r.end_ns is not None]
    begin = min((r.sent_ns for r in sent if r.sent_ns is not None), default=cell.started_ns)
    whole = (begin, max(ends, default=cell.ended_ns))
    return {"prefill": _without(waiting, decode), "decode": decode, None: [whole]}


def _union(intervals: Iterable[Interval]) -> list[Interval]:
    merged: list[Interval] = []
    for begin, end in sorted(interval for interval in intervals if interval[0] < interval[1]):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((begin, end))
    return merged


def _without(intervals: Sequence[Interval], holes: Sequence[Interval]) -> list[Interval]:
    """What is left of `intervals`; both are in order and without overlap."""
    left: list[Interval] = []
    highs = [high for _, high in holes]
    for begin, end in intervals:
        start = begin
        for place in range(bisect_right(highs, begin), len(holes)):
            low, high = holes[place]
            if low >= end:
                break
            if low > start:
                left.append((start, low))
            start = max(start, high)
        if start < end:
            left.append((start, end))
    return left


def inside(found: Sequence[Window], intervals: Sequence[Interval]) -> list[list[Window]]:
    """The windows that lie wholly in each of the intervals, which are in order."""
    starts = [begin for begin, _ in intervals]
    groups: list[list[Window]] = [[] for _ in intervals]
    for window in found:
        place = bisect_right(starts, window.begin_ns) - 1
        if place >= 0 and window.end_ns <= intervals[place][1]:
            groups[place].append(window)
    return groups


def series_of(cell: CellRecord, tracks: Iterable[Track], origin_ns: int) -> list[Series]:
    """A series per counter that is judged, device and phase; counters without a window have none.

    `origin_ns` is the cell's first dispatch, from which `times_s` count.
    """
    when = phases(cell)
    found = []
    for track in tracks:
        if track.counter.judged and track.counter.not_measured is None:
            seen = windows(track)
            common = {"interval_s": _interval_s(seen), **_idle(cell, seen)}
            for phase in _phases_of(track.counter):
                groups = inside(seen, when[phase])
                series = _series(cell, track.counter, phase, groups, common, origin_ns)
                if series is not None:
                    found.append(series)
    return found


def _phases_of(counter: CounterRecord) -> tuple[Phase, ...]:
    split = counter.device is not None and counter.name.startswith(BY_PHASE)
    return ("prefill", "decode") if split else (None,)


def _series(
    cell: CellRecord,
    counter: CounterRecord,
    phase: Phase,
    groups: Sequence[Sequence[Window]],
    common: Mapping[str, Any],
    origin_ns: int,
) -> Series | None:
    found = [window for group in groups for window in group]
    if all(window.value is None for window in found):
        return None
    between_s = common["interval_s"] if counter.kind == "gauge" else 0.0
    total, covered_s = _total(found)
    return Series(
        counter=counter.name,
        unit=counter.unit,
        device=counter.device,
        arm=cell.key.arm,
        **cell.key.model_dump(include={"concurrency", "rate", "context_tokens", "cache", "repeat"}),
        phase=phase,
        **common,
        window_s=counter.window_s,
        values=[_short(window.value) for window in found],
        times_s=[round((window.end_ns - origin_ns) / 1e9, 6) for window in found],
        mean=total / covered_s if total is not None else None,
        total=total,
        duration_s=_duration_s(groups, between_s),
        source=counter.read_as or counter.source,
        provenance="bound" if counter.bound else "measured",
    )


def _total(found: Iterable[Window]) -> tuple[float | None, float]:
    """What a cumulative counter grew by in these windows (unit x s), and the seconds they cover."""
    grown = [(w.amount, w.end_ns - w.begin_ns) for w in found if w.amount is not None]
    if not grown:
        return None, 0.0
    return math.fsum(amount for amount, _ in grown), sum(length for _, length in grown) / 1e9


def _interval_s(seen: Sequence[Window]) -> float | None:
    """The median time from one reading to the next, also outside the phase."""
    gaps = [float(b.end_ns - a.end_ns) for a, b in pairwise(seen)]
    return median(gaps) / 1e9 if gaps else None


def _duration_s(groups: Iterable[Sequence[Window]], last_s: float | None) -> float:
    """How long was looked at; a momentary value stands for the time until the next (`last_s`)."""
    spans = [(group[-1].end_ns - group[0].begin_ns) / 1e9 for group in groups if group]
    return math.fsum(span + (last_s or 0.0) for span in spans)


def _short(value: float | None) -> float | None:
    """Seven digits: more than any of these counters has, and half the file."""
    return None if value is None else float(f"{value:.7g}")


def _idle(cell: CellRecord, seen: Sequence[Window]) -> dict[str, list[float | None]]:
    """The values in the idle windows before and after the cell."""
    record = cell.telemetry
    if record is None:
        return {}
    ranges = {"idle_before": record.idle_before_ns, "idle_after": record.idle_after_ns}
    return {
        name: [_short(window.value) for window in inside(seen, [interval])[0]]
        for name, interval in ranges.items()
        if interval is not None
    }


def not_measured(seen: Iterable[tuple[CellRecord, Sequence[Track]]]) -> list[Series]:
    """A series without values per judged counter and device that failed, wholly or at times; it
    names the arm unless it holds for all of them."""
    reasons: dict[tuple[str, str | None, str], set[str]] = {}
    arms: set[str] = set()
    for cell, tracks in seen:
        arms.add(cell.key.arm)
        for track in tracks:
            counter, why = track.counter, _why_not(track)
            if why is not None and counter.judged:
                key = (counter.name, counter.device, why)
                reasons.setdefault(key, set()).add(cell.key.arm)
    return [
        Series(counter=name, unit="", device=device, arm=arm, not_measured=why)
        for (name, device, why), where in reasons.items()
        for arm in ([None] if where == arms else sorted(where))
    ]


def _why_not(track: Track) -> str | None:
    """Why a counter has no values, or not all of them."""
    if track.counter.not_measured is not None or track.trouble is None:
        return track.counter.not_measured
    if all(value is None for value in track.values):
        return track.trouble
    return f"some readings failed: {track.trouble}"


def joules(cell: CellRecord, tracks: Iterable[Track]) -> float | None:
    """Energy of the whole step: mean power over the windows inside it, times its length.

    Of the accelerators' own counters where they have them, else of the processor's packages; None
    where no energy counter was read, or one of them has no window.
    """
    counters = [t for t in tracks if t.counter.name == "energy" and not t.counter.not_measured]
    cards = [track for track in counters if track.counter.source != "host"]
    whole = phases(cell)[None]
    found = [_total(inside(windows(track), whole)[0]) for track in cards or counters]
    if not found or any(total is None for total, _ in found):
        return None
    (begin_ns, end_ns), *_ = whole
    powers = (total / covered_s for total, covered_s in found if total is not None)
    return math.fsum(powers) * (end_ns - begin_ns) / 1e9
