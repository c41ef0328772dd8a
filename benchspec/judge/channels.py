"""Counters over time, one channel per device: means within repeats, the median over them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchspec.judge.figures import believable, unsound
from benchspec.judge.interval import Interval, show
from benchspec.judge.place import COORDINATES
from benchspec.judge.result import Input
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Series
from benchspec.observations.quantiles import median

TRAFFIC = ("pcie-rx", "pcie-tx", "nvlink-rx", "nvlink-tx", "xgmi-rx", "xgmi-tx")
"""Counters of links, in MB/s, per direction."""

_SAME = {
    "clocks-sm": "clock",
    "clocks": "clock",
    "sm-clock": "clock",
    "gpu-utilization": "utilization",
}


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

    @property
    def coverage(self) -> float | None:
        """Share of the time that was looked at, where it is least; None where nobody says."""
        least = self._thinnest()
        return None if least is None else min(1.0, least[0] / least[1])

    @property
    def sampled(self) -> str | None:
        """`sampled: 20 ms every 200 ms` where one reading does not reach to the next."""
        least = self._thinnest()
        if least is None or least[0] / least[1] > limit("sampling.gapless"):
            return None
        return f"sampled: {_length(least[0])} every {_length(least[1])}"

    def _thinnest(self) -> tuple[float, float] | None:
        """Window and interval [s] of the repeat in which most was not seen."""
        known = [(s.window_s, s.interval_s) for s in self.raw if s.window_s and s.interval_s]
        return min(known, key=lambda both: both[0] / both[1], default=None)

    def as_input(self) -> Input:
        """The median over repeats, with how many samples it is from, and whether they have gaps."""
        place = " ".join(str(v) for v in self.at.values())
        each = "/".join(str(n) for n in self.counts)
        seen = f", {self.sampled}" if self.sampled else ""
        return Input(
            name=f"{self.counter} {self.device or ''}".strip(),
            value=self.middle.number,
            unit=self.unit,
            provenance=self.raw[0].provenance,
            source=f"arm {self.arm} {place}, {each} samples{seen}".replace("  ", " "),
        )


def channels_of(every: Sequence[Series]) -> list[Channel]:
    """The channels of series that have values or a stated mean."""
    groups: dict[tuple[Any, ...], list[Series]] = {}
    for series in every:
        if series_mean(series) is not None:
            place = sorted(place_of(series).items())
            key = (series.arm, counter_of(series), series.device, *place)
            groups.setdefault(key, []).append(series)
    return [_channel(group) for group in groups.values()]


def counter_of(series: Series) -> str:
    """A counter's name in one spelling: `pcie-rx`, `clock`."""
    name = series.counter.lower().replace("_", "-")
    return _SAME.get(name, name)


def place_of(series: Series) -> dict[str, Any]:
    """The coordinates of a series that are set, without arm, repeat and device."""
    names = (*COORDINATES, "phase")
    pairs = {name: getattr(series, name, None) for name in names}
    return {name: value for name, value in pairs.items() if value is not None}


def by_place(found: Sequence[Channel]) -> dict[tuple[Any, ...], list[Channel]]:
    """Channels of the same arm, place and counter: one per device."""
    groups: dict[tuple[Any, ...], list[Channel]] = {}
    for channel in found:
        key = (channel.arm, channel.counter, *sorted(channel.at.items()))
        groups.setdefault(key, []).append(channel)
    return groups


def finite(series: Series) -> list[float]:
    """The values that were read; a missed sample is None."""
    return [v for v in series.values if v is not None and believable(v)]


def series_mean(series: Series) -> Interval | None:
    """The mean: as stated (of a cumulative counter it is exact), else over the samples. Never a
    median, which hides bursts."""
    stated = None if series.mean is None else Interval.of(series.mean)
    if stated is not None and believable(stated.low) and believable(stated.high):
        return stated
    values = finite(series)
    return Interval.of(math.fsum(values) / len(values)) if values else None


def _channel(group: Sequence[Series]) -> Channel:
    first = group[0]
    means = [m for s in group if (m := series_mean(s)) is not None]
    stated = [Interval.of(s.range) for s in group if s.range and not unsound(s.range)]
    return Channel(
        arm=first.arm,
        counter=counter_of(first),
        unit=first.unit,
        device=first.device,
        at=place_of(first),
        middle=Interval(median([m.low for m in means]), median([m.high for m in means])),
        range=Interval.hull([*means, *stated]),
        counts=tuple(n for s in group for n in (s.counts or [len(finite(s))]) if n),
        raw=tuple(group),
    )


def _length(seconds: float) -> str:
    return f"{show(seconds, 3)} s" if seconds >= 1 else f"{show(1e3 * seconds, 3)} ms"


def mean_of(found: Sequence[Channel]) -> tuple[Interval, Interval]:
    """Over devices: the mean of the medians, and of the ranges. At least one channel."""
    n = len(found)
    middle = sum((c.middle for c in found), Interval(0.0, 0.0)) / n
    spread = sum((c.range for c in found), Interval(0.0, 0.0)) / n
    return middle, spread
