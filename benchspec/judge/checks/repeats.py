"""repeats: do the repeats of a step agree?

Needs: three repeats of a step; drift needs five in the order they were run, two modes ten.

Division: (largest - smallest) / median of the throughput (else of the wall time, the rate of a
stream, prefill, the first-token time or the latency, whichever is known first); where only the ends
over several repeats are stated, their distance / their middle. No standard deviation: of three
values it says nothing (t = 4.30, half-width 2.5 sd), while the range of three holds the median with
probability 75 %, of five with 94 %.

Readings
  stable     range <= 5 % of the median
  noisy      more; above 15 % only the order of magnitude may be quoted, above 50 % nothing
  first-apart  the first is 1.5 times (or 1 / 1.5 of) each of the others, which agree within 15 %:
             warm-up or a cache, so it is another thing than they are
  drifting   from five: a trend in run order, Mann-Kendall exact p <= 0.05 two-sided, beyond 5 %
  bimodal    from ten: a gap wider than either side's own range, three or more on each side

Silent when: fewer than three repeats.

Value: range / median. Source: Mann, Nonparametric tests against trend (1945); order statistics.
"""

from __future__ import annotations

from itertools import combinations, pairwise

from benchspec.judge import figures, metrics
from benchspec.judge.case import Case
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, by_spread, lacking
from benchspec.judge.place import Place
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Step
from benchspec.observations.node import Bounds
from benchspec.observations.quantiles import median

NAME = "repeats"
READINGS = ("stable", "noisy", "first-apart", "drifting", "bimodal")
NEEDS = "three repeats of a step"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per arm and step."""
    return [_judge(case, place) for place in case.places]


def _judge(case: Case, place: Place) -> CheckResult:
    line = Line(NAME, place.arm, place.at)
    values, name, unit = _values(case, place)
    stated = [s for s in case.steps(place) if s.repeats]
    if stated:
        return _stated(case, line, stated[0])
    if len(values) < limit("repeats.verdict"):
        wide = _widest(case, place)
        what = (
            f"how many repeats {show(wide)} is of"
            if wide
            else f"3 repeats; there are {len(values)}"
        )
        return line.silent(lacking(what))
    middle, spread = median(values), max(values) - min(values)
    if middle <= 0:
        return line.silent(lacking("figures above zero"))
    share = spread / middle
    each = ", ".join(show(v) for v in values)
    source = f"{len(values)} repeats of {place}"
    return line.judged(
        read(values),
        f"{name} {each} {unit}: range / median = {show(spread)} / {show(middle)} "
        f"= {show(100 * share, 2)} %",
        share,
        "ratio",
        inputs=[
            Input(name=f"repeat {i}", value=v, unit=unit, source=source)
            for i, v in enumerate(values, 1)
        ],
        quotable=by_spread(spread, middle),
    ).model_copy(update={"n": len(values), "range": Bounds(low=min(values), high=max(values))})


def _widest(case: Case, place: Place) -> Interval | None:
    """A figure of a step with two ends, which may be those of repeats that nobody counted."""
    found = [
        value for s in case.sound(place) for _, _, f in _FIGURES if (value := f(s)) is not None
    ]
    return next((value for value in found if not value.exact), None)


def _stated(case: Case, line: Line, step: Step) -> CheckResult:
    """From the ends of an interval that is stated over several repeats."""
    known = [value for _, _, read_off in _FIGURES if (value := read_off(step)) is not None]
    found = next((value for value in known if not value.exact), None)
    many = step.repeats or 0
    if found is None or case.defect(step) or found.low <= 0:
        return line.silent(lacking("the figure of each repeat; only their median is known"))
    if many < limit("repeats.verdict"):
        return line.silent(lacking(f"3 repeats; there are {many}"))
    share = (found.high - found.low) / found.mid
    return line.judged(
        "stable" if share <= limit("repeats.stable") else "noisy",
        f"range / middle of {many} repeats, {show(found)} = {show(100 * share, 2)} %",
        share,
        "ratio",
        inputs=[Input(name=f"{many} repeats", value=found.number, provenance=step.provenance)],
        quotable=by_spread(found.high - found.low, found.mid),
    ).model_copy(update={"n": many, "range": found.number})


def _values(case: Case, place: Place) -> tuple[list[float], str, str]:
    sound = case.sound(place)
    for name, unit, read_off in _FIGURES:
        found = [value.mid for s in sound if (value := read_off(s)) is not None]
        if found:
            return found, name, unit
    return [], "T", "s"


_FIGURES = (
    ("X", "tok/s", figures.aggregate_tok_s),
    ("T", "s", figures.wall_s),
    ("r", "tok/s", figures.decode_tok_s),
    ("prefill", "tok/s", metrics.METRICS["prefill_tok_s"].whole),
    ("first token", "ms", figures.ttft_ms),
    ("latency", "s", figures.latency_s),
)
"""What is compared: the first that is known (of stated ends, the first that has two)."""


def read(values: list[float]) -> str:
    """The reading of three or more values in run order."""
    stable = max(values) - min(values) <= limit("repeats.stable") * median(values)
    if _first_apart(values):
        return "first-apart"
    if len(values) >= limit("repeats.modes") and not stable and _two_modes(values):
        return "bimodal"
    if (
        len(values) >= limit("repeats.drift")
        and not stable
        and trend_p(values) <= limit("repeats.drift-p")
    ):
        return "drifting"
    return "stable" if stable else "noisy"


def _first_apart(values: list[float]) -> bool:
    first, later = values[0], values[1:]
    apart = limit("repeats.first")
    agree = max(later) - min(later) <= limit("repeats.noisy") * median(later)
    return agree and (first >= apart * max(later) or first * apart <= min(later))


def trend_p(values: list[float]) -> float:
    """Exact two-sided p of Mann-Kendall's test: how often a random order is as monotone as this.

    Orders of n by their number of inversions follow the Mahonian numbers; ties count as neither.
    """
    n = len(values)
    pairs = n * (n - 1) // 2
    score = sum((later > earlier) - (later < earlier) for earlier, later in combinations(values, 2))
    orders = [1]
    for size in range(2, n + 1):
        longer = [0] * (len(orders) + size - 1)
        for inversions, count in enumerate(orders):
            for more in range(size):
                longer[inversions + more] += count
        orders = longer
    extreme = sum(c for i, c in enumerate(orders) if abs(pairs - 2 * i) >= abs(score))
    return extreme / sum(orders)


def _two_modes(values: list[float]) -> bool:
    ordered = sorted(values)
    gaps = [b - a for a, b in pairwise(ordered)]
    cut = gaps.index(max(gaps)) + 1
    low, high = ordered[:cut], ordered[cut:]
    widest = max(low[-1] - low[0], high[-1] - high[0])
    return min(len(low), len(high)) >= 3 and max(gaps) > widest
