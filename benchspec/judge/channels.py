"""Counters over time, one channel per device: means within repeats, the median over them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchspec.judge.case import Case
from benchspec.judge.interval import Interval
from benchspec.judge.result import Input
from benchspec.observations.model import Series
from benchspec.observations.quantiles import median


@dataclass(frozen=True)
class Channel:
    """One counter of one device at one place; `means` are those of its repeats."""

    arm: str | None
    counter: str
    unit: str
    device: str | None
    at: dict[str, Any]
    middle: Interval
    range: Interval
    counts: tuple[int, ...]
    raw: tuple[Series, ...]

    @property
    def windows(self) -> int:
        """Samples in the repeat that has fewest."""
        return min(self.counts, default=0)

    @property
    def spread(self) -> float | None:
        """Range over repeats / median."""
        width = self.range.high - self.range.low
        return width / abs(self.middle.mid) if self.middle.mid else None

    def as_input(self) -> Input:
        """The median over repeats, with how many samples it is from."""
        place = " ".join(str(v) for v in self.at.values())
        each = "/".join(str(n) for n in self.counts)
        return Input(
            name=f"{self.counter} {self.device or ''}".strip(),
            value=self.middle.number,
            unit=self.unit,
            provenance=self.raw[0].provenance,
            source=f"arm {self.arm} {place}, {each} samples".replace("  ", " "),
        )


def channels(case: Case, *counters: str) -> list[Channel]:
    """Every channel of `counters` (of all, without any) that has values or a stated mean."""
    groups: dict[tuple[Any, ...], list[Series]] = {}
    for series in case.observations.series:
        if counters and series.counter not in counters:
            continue
        if series_mean(series) is None:
            continue
        key = (series.arm, series.concurrency, series.phase, series.counter, series.device)
        groups.setdefault(key, []).append(series)
    return [_channel(group) for group in groups.values()]


def by_place(found: Sequence[Channel]) -> dict[tuple[Any, ...], list[Channel]]:
    """Channels of the same arm, place and counter: one per device."""
    groups: dict[tuple[Any, ...], list[Channel]] = {}
    for channel in found:
        key = (channel.arm, channel.counter, *sorted(channel.at.items()))
        groups.setdefault(key, []).append(channel)
    return groups


def finite(series: Series) -> list[float]:
    """The values that were read; a missed sample is None."""
    return [v for v in series.values if v is not None and math.isfinite(v)]


def series_mean(series: Series) -> Interval | None:
    """The mean over the samples (a median hides bursts), or as stated."""
    values = finite(series)
    if values:
        return Interval.of(math.fsum(values) / len(values))
    return None if series.mean is None else Interval.of(series.mean)


def _channel(group: Sequence[Series]) -> Channel:
    first = group[0]
    means = [m for s in group if (m := series_mean(s)) is not None]
    stated = [Interval.of(s.range) for s in group if s.range is not None]
    at = {"concurrency": first.concurrency, "phase": first.phase}
    return Channel(
        arm=first.arm,
        counter=first.counter,
        unit=first.unit,
        device=first.device,
        at={name: value for name, value in at.items() if value is not None},
        middle=Interval(median([m.low for m in means]), median([m.high for m in means])),
        range=Interval.hull([*means, *stated]),
        counts=tuple(n for s in group for n in (s.counts or [len(finite(s))]) if n),
        raw=tuple(group),
    )


def mean_of(found: Sequence[Channel]) -> tuple[Interval, Interval]:
    """Over devices: the mean of the medians, and of the ranges. At least one channel."""
    n = len(found)
    middle = sum((c.middle for c in found), Interval(0.0, 0.0)) / n
    spread = sum((c.range for c in found), Interval(0.0, 0.0)) / n
    return middle, spread
