"""Figures as someone printed them: each the numbers that round to it, and what a list of them says."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from benchspec.judge.interval import Interval
from benchspec.observations.quantiles import median


def printed(value: float) -> Interval:
    """The numbers that round to `value` as it is written: half a unit of its last digit each way."""
    text = str(int(value)) if value == int(value) else repr(value)
    places = len(text.partition(".")[2]) if "." in text and "e" not in text else 0
    half = 0.5 * 10.0**-places
    return Interval(value - half, value + half)


def _ends(values: Sequence[float], of: Callable[[list[float]], float]) -> Interval:
    """A statistic that grows with each of the values, over their rounding intervals."""
    every = [printed(value) for value in values]
    return Interval(of([v.low for v in every]), of([v.high for v in every]))


def _mean(values: Sequence[float]) -> Interval:
    return _ends(values, math.fsum) / len(values)


def _range(values: Sequence[float]) -> Interval:
    return _ends(values, max) - _ends(values, min)


def _sd(values: Sequence[float]) -> Interval:
    """Divided by n or by n - 1, whichever the author used; a value that is off by h moves it by
    h x sqrt(n / (n - 1)) at most."""
    n = len(values)
    mean = math.fsum(values) / n
    squares = math.fsum((v - mean) ** 2 for v in values)
    half = max((p.high - p.low) / 2 for p in map(printed, values))
    off = half * math.sqrt(n / max(n - 1, 1))
    return Interval(
        max(0.0, math.sqrt(squares / n) - off), math.sqrt(squares / max(n - 1, 1)) + off
    )


STATISTICS: Mapping[str, Callable[[Sequence[float]], Interval]] = {
    "maximum": lambda values: _ends(values, max),
    "minimum": lambda values: _ends(values, min),
    "mean": _mean,
    "median": lambda values: _ends(values, median),
    "sum": lambda values: _ends(values, math.fsum),
    "range": _range,
    "sd": _sd,
}
"""Statistic of a list of printed figures -> the interval that it lies in. Lists are not empty."""
