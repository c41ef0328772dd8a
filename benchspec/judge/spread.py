"""A figure of a step over its repeats: the median, the smallest and the largest, and how many.

No standard deviation: of three values it says nothing (t = 4.30), while their range holds the
median with probability 75 %, of five with 94 % (order statistics). A repeat that was disturbed does
not count, and is named.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from benchspec.judge import metrics
from benchspec.judge.case import Case
from benchspec.judge.conditions import failures, unfit
from benchspec.judge.interval import Interval, counted, show
from benchspec.judge.lines import by_spread
from benchspec.judge.place import Place
from benchspec.judge.result import Quotable
from benchspec.judge.thresholds import limit
from benchspec.observations.quantiles import median

MAIN = tuple(
    metrics.METRICS[name]
    for name in ("aggregate_tok_s", "stream_tok_s", "ttft_ms", "itl_ms", "wall_s")
)
"""The figures that people quote of a step."""


Absence = Literal["not-measured", "left-out"]


@dataclass(frozen=True)
class Spread:
    """`values` of the repeats that count; `left_out` says why others do not.

    `n` is larger than the number of values where a step states one figure over several repeats.
    """

    values: tuple[Interval, ...] = ()
    n: int = 0
    left_out: tuple[str, ...] = ()

    @property
    def middle(self) -> Interval:
        """The median. Raises ValueError when there are no values."""
        return Interval(median([v.low for v in self.values]), median([v.high for v in self.values]))

    @property
    def hull(self) -> Interval | None:
        """From the smallest to the largest; None where one repeat, or only their median, is known."""
        told = len(self.values) > 1 or (self.n > 1 and any(not v.exact for v in self.values))
        return Interval.hull(list(self.values)) if told else None

    @property
    def share(self) -> float | None:
        """Range / median, where both are known and the median is not zero."""
        if self.hull is None or self.middle.mid == 0:
            return None
        return (self.hull.high - self.hull.low) / abs(self.middle.mid)

    @property
    def absence(self) -> Absence | None:
        """What to say in place of a value; None where there is one."""
        if self.values:
            return None
        return "left-out" if self.left_out else "not-measured"

    def why_not(self) -> str:
        """Why there is no value."""
        return f"left out: {self.left_out[0]}" if self.left_out else "not measured"


def over_repeats(case: Case, place: Place, metric: metrics.Metric) -> Spread:
    """`metric` in every repeat of `place` whose numbers can be right and that was not disturbed."""
    values, n, left_out = [], 0, []
    for step in case.steps(place):
        why = case.defect(step) or failures(step) or unfit(step, metric.figure)
        if why:
            left_out.append(f"repeat {step.repeat}: {why}")
        elif (found := metrics.read(step, metric, None)) is not None:
            values.append(found.value)
            n += step.repeats or 1
    return Spread(tuple(values), n, tuple(left_out))


def limits(name: str, spread: Spread) -> Iterator[tuple[Quotable, str]]:
    """What keeps a figure over repeats from being quoted as it is, and how far; `name` for it."""
    if spread.n < limit("repeats.verdict"):
        word: Quotable = "order-of-magnitude" if spread.n > 1 else "no"
        others = f"; {spread.why_not()}" if spread.left_out else ""
        yield word, f"{name} has {counted(spread.n, 'repeat')}{others}"
    elif spread.hull is None:
        yield "order-of-magnitude", f"of {name}'s {spread.n} repeats only the median is known"
    if spread.share is not None:
        word = by_spread(spread.share, 1.0)
        if word != "yes":
            yield word, f"{name}'s repeats range over {show(100 * spread.share, 2)} % of the median"
