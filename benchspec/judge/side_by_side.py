"""Two runs side by side: per step that they share, each figure of both and their ratio.

A ratio is the second run's figure over the first's: of the medians, and from its smallest to its
largest value over all pairs of repeats. Nobody registered these differences, so one is shown only
by complete separation with four repeats on each side (exact permutation, two-sided p = 0.029).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from benchspec.judge.comparability import Comparability, Side, compare, shared
from benchspec.judge.interval import Interval
from benchspec.judge.metrics import Metric
from benchspec.judge.place import Place
from benchspec.judge.result import Node, Quotable, VerdictWord
from benchspec.judge.spread import MAIN, Absence, Spread, limits, over_repeats
from benchspec.judge.thresholds import limit
from benchspec.observations.node import Bounds

Reading = Literal["differs", "no-difference-shown"]
_ORDER: tuple[Quotable, ...] = ("yes", "bound", "order-of-magnitude", "no")


class Figure(Node):
    """A figure over the repeats of a step; `range` None where only one value is known."""

    median: float | Bounds
    range: Bounds | None
    n: int


class Ratio(Node):
    """The second run's figure / the first's; `range` over all pairs of repeats."""

    median: float | Bounds
    range: Bounds | None


class FigureLine(Node):
    """One metric at one step; a side is None where it has no value, and `why` says so."""

    metric: str
    unit: str
    a: Figure | None
    b: Figure | None
    ratio: Ratio | None
    reading: Reading | Absence
    quotable: Quotable
    why: list[str]


class StepLines(Node):
    """The figures of one step that both runs have."""

    arm: str
    at: dict[str, Any]
    figures: list[FigureLine]


class Comparison(Node):
    """Two runs. `only_a` and `only_b` are the steps that the other does not have."""

    comparability: Comparability
    steps: list[StepLines]
    only_a: list[str]
    only_b: list[str]


class Asked(Node):
    """A hypothesis, and the verdict on it in each run; None where it was not asked."""

    id: str
    claim: str
    verdicts: list[VerdictWord | None]


def side_by_side(a: Side, b: Side) -> Comparison:
    """Every figure of every step that `a` and `b` share. Nothing is withheld for want of
    comparability, but no ratio is quotable then."""
    comparability = compare(a, b)
    here, there = shared(a, b), set(b.case.places)
    spoiled = None if comparability.comparable else comparability.why
    return Comparison(
        comparability=comparability,
        steps=[
            StepLines(arm=place.arm, at=place.at, figures=list(_lines(a, b, place, spoiled)))
            for place in here
        ],
        only_a=[str(p) for p in a.case.places if p not in there],
        only_b=[str(p) for p in b.case.places if p not in set(a.case.places)],
    )


def hypotheses(sides: Sequence[Side]) -> list[Asked]:
    """Every hypothesis of every run once, by its id and its claim, in the order met."""
    verdicts = [{(h.id, h.claim): h.verdict for h in side.verdicts.hypotheses} for side in sides]
    asked = dict.fromkeys(key for seen in verdicts for key in seen)
    return [
        Asked(id=id_, claim=claim, verdicts=[seen.get((id_, claim)) for seen in verdicts])
        for id_, claim in asked
    ]


def _lines(a: Side, b: Side, place: Place, spoiled: str | None) -> Iterator[FigureLine]:
    for metric in MAIN:
        ours, theirs = over_repeats(a.case, place, metric), over_repeats(b.case, place, metric)
        if ours.values or theirs.values or ours.left_out or theirs.left_out:
            yield _line(metric, (a.label, ours), (b.label, theirs), spoiled)


def _line(
    metric: Metric, mine: tuple[str, Spread], theirs: tuple[str, Spread], spoiled: str | None
) -> FigureLine:
    a, b = mine[1], theirs[1]
    missing = [f"{label}: {s.why_not()}" for label, s in (mine, theirs) if not s.values]
    ratio = None if missing else _ratio(a, b)
    held = [] if missing else [*limits(*mine), *limits(*theirs)]
    if ratio is None:
        held += [("no", why) for why in missing or ["a figure that is divided by may be zero"]]
    if spoiled:
        held.append(("no", spoiled))
    return FigureLine(
        metric=metric.name,
        unit=metric.unit,
        a=figure(a),
        b=figure(b),
        ratio=ratio,
        reading=a.absence or b.absence or _reading(a, b),
        quotable=max((word for word, _ in held), key=_ORDER.index, default="yes"),
        why=[text for _, text in held],
    )


def figure(spread: Spread) -> Figure | None:
    """A spread as a result; None where there are no values."""
    if not spread.values:
        return None
    return Figure(median=spread.middle.number, range=_bounds(spread.hull), n=spread.n)


def _ratio(under: Spread, over: Spread) -> Ratio | None:
    try:
        middle = over.middle / under.middle
        ends = over.hull / under.hull if over.hull and under.hull else None
    except ZeroDivisionError:
        return None
    return Ratio(median=middle.number, range=_bounds(ends))


def _bounds(interval: Interval | None) -> Bounds | None:
    return Bounds(low=interval.low, high=interval.high) if interval else None


def _reading(a: Spread, b: Spread) -> Reading:
    mine, theirs = a.hull, b.hull
    if mine is None or theirs is None or min(a.n, b.n) < limit("repeats.unregistered"):
        return "no-difference-shown"
    apart = mine.high < theirs.low or theirs.high < mine.low
    return "differs" if apart else "no-difference-shown"
