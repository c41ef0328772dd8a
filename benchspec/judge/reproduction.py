"""Is a rerun inside the band of what was published?

A band reaches from the smallest to the largest published repeat, widened at each end by their range,
and by 5 % of their median at least. Unwidened, the median of three faithful repeats would fall
outside the ends of three with probability 0.40, whatever the distribution (of the 20 orders of 3 and
3, the median of the new lies outside in 8); widened, with 0.08 where repeats are normal. The 5 % are
what MLPerf's rules ask of a replicated result, and hold where repeats of one evening hardly differ.

There is no band where fewer than three repeats are known, or where they range over more than half
of their median: then nothing was published that a rerun could miss.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from benchspec.judge.comparability import SURROUNDINGS, Comparability, Side, compare
from benchspec.judge.interval import Interval, counted, show
from benchspec.judge.metrics import Metric
from benchspec.judge.place import Place
from benchspec.judge.result import Node
from benchspec.judge.side_by_side import Figure, figure
from benchspec.judge.spread import MAIN, Absence, Spread, over_repeats
from benchspec.judge.thresholds import limit
from benchspec.observations.node import Bounds

Answer = Literal["inside", "outside", "undecided"]
BandReading = Literal["inside", "below", "above", "no-band"] | Absence


class BandLine(Node):
    """One published figure, its band, and the median of the rerun."""

    metric: str
    unit: str
    published: Figure
    band: Bounds | None
    mine: Figure | None
    reading: BandReading
    why: str | None = None


class BandStep(Node):
    """A published step: outside where one figure is, inside where all that have a band are."""

    arm: str
    at: dict[str, Any]
    reading: Answer
    figures: list[BandLine]


class Reproduction(Node):
    """`answer` with its sentence. `undecided` where something published was not measured again, has
    no band, or where it is another experiment."""

    answer: Answer
    sentence: str
    comparability: Comparability
    steps: list[BandStep]


def band(spread: Spread) -> Interval | None:
    """Between which values the median of a rerun should lie, or None."""
    hull, share = spread.hull, spread.share
    if hull is None or share is None or spread.n < limit("repeats.verdict"):
        return None
    if share > limit("repeats.magnitude"):
        return None
    wider = max(
        limit("band.range") * (hull.high - hull.low), limit("band.least") * abs(spread.middle.mid)
    )
    return Interval(hull.low - wider, hull.high + wider)


def no_band(spread: Spread) -> str:
    """Why a published figure has no band."""
    if spread.n < limit("repeats.verdict"):
        return f"no band: {counted(spread.n, 'repeat')} of the 3 that it needs"
    if spread.hull is None:
        return "no band: the figure of each repeat is not known, only their median"
    if spread.share is None:
        return "no band: the median is zero"
    return f"no band: the repeats range over {show(100 * spread.share, 2)} % of their median"


def reproduce(published: Side, mine: Side) -> Reproduction:
    """Every main figure of every published step against the rerun."""
    comparability = compare(published, mine)
    steps = [_step(published, mine, place) for place in published.case.places]
    answer, sentence = _answer(comparability, [step for step in steps if step.figures])
    return Reproduction(answer=answer, sentence=sentence, comparability=comparability, steps=steps)


def _step(published: Side, mine: Side, place: Place) -> BandStep:
    lines = list(_lines(published, mine, place))
    return BandStep(arm=place.arm, at=place.at, reading=_of_figures(lines), figures=lines)


def _of_figures(lines: list[BandLine]) -> Answer:
    readings = {line.reading for line in lines} - {"no-band"}
    if readings & {"below", "above"}:
        return "outside"
    return "inside" if readings == {"inside"} else "undecided"


def _lines(published: Side, mine: Side, place: Place) -> Iterator[BandLine]:
    for metric in MAIN:
        told = over_repeats(published.case, place, metric)
        again = over_repeats(mine.case, place, metric)
        if (shown := figure(told)) is not None:
            yield _line(metric, shown, told, again)


def _line(metric: Metric, shown: Figure, told: Spread, again: Spread) -> BandLine:
    found, why = band(told), None
    reading: BandReading = "inside"
    if found is None:
        reading, why = "no-band", no_band(told)
    elif (absence := again.absence) is not None:
        reading, why = absence, again.why_not()
    elif again.middle.mid < found.low:
        reading = "below"
    elif again.middle.mid > found.high:
        reading = "above"
    return BandLine(
        metric=metric.name,
        unit=metric.unit,
        published=shown,
        band=Bounds(low=found.low, high=found.high) if found else None,
        mine=figure(again),
        reading=reading,
        why=why,
    )


def _answer(comparability: Comparability, steps: list[BandStep]) -> tuple[Answer, str]:
    outside = [step for step in steps if step.reading == "outside"]
    inside = [step for step in steps if step.reading == "inside"]
    many = counted(len(steps), "published step")
    told = f"{len(inside)} of {many} inside, {len(outside)} outside"
    if why := _another(comparability):
        return "undecided", f"Undecided, for it is no rerun of the same: {why}; {told}."
    if outside:
        return "outside", f"Outside the published band: {told}."
    if steps and len(inside) == len(steps):
        return "inside", f"Inside the published band at every step: {told}."
    return "undecided", f"Undecided: {told}, the others not measured, left out or without a band."


def _another(comparability: Comparability) -> str | None:
    """Why it is no rerun. Another machine, build or instrument is what every rerun has."""
    if comparability.blocked:
        return comparability.why.rstrip(".").removeprefix("Not comparable: ")
    own = {*SURROUNDINGS, "instrument", "footprint"}
    axes = list(dict.fromkeys(d.axis for d in comparability.differences if d.axis not in own))
    return f"{', '.join(axes)} differ{'s' if len(axes) == 1 else ''}" if axes else None
