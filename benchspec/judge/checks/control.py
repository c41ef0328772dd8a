"""control: what does the thing under test cost, net of the arm without it?

Needs: an arm declared `control_for` another, and the same counter or rate in both.

Division: arm - control, and arm / control, of the means over devices and medians over repeats; both
with intervals from the ranges over repeats: [a_min - b_max, a_max - b_min]. Never a standard
deviation of three.

Readings
  net-cost     the interval of the difference excludes zero
  unresolved   it does not

Silent when: no arm is a control; a figure is missing in one of the two.

Value: the difference in the counter's unit, or the ratio, as `of` says. A difference is quotable
when its half width is at most 15 % of it; a ratio whose denominator ranges over more than 50 % is an
order of magnitude at best. Source: interval arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchspec.judge import figures, metrics
from benchspec.judge.case import Case
from benchspec.judge.channels import TRAFFIC, Channel, by_place, mean_of
from benchspec.judge.checks.expected_traffic import control_of
from benchspec.judge.conditions import unfit
from benchspec.judge.hardware import as_input
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, by_spread
from benchspec.judge.place import Place
from benchspec.judge.result import CheckResult, Quotable
from benchspec.judge.thresholds import limit
from benchspec.observations.quantiles import median

NAME = "control"
READINGS = ("net-cost", "unresolved")
NEEDS = "an arm declared control_for another, and the same counter or rate in both"
RATE = True

_RATES = ("decode_tok_s", "prefill_tok_s", "aggregate_tok_s")


@dataclass(frozen=True)
class _Figure:
    """Median over repeats, their range, and how many there were."""

    middle: Interval
    range: Interval
    n: int


def check(case: Case) -> list[CheckResult]:
    """Two results, difference and ratio, per arm with a control and per counter or rate."""
    groups = by_place(case.channels(*TRAFFIC, "power", "energy")).values()
    pairs = [(arm, a.id) for a in case.arms.values() for arm in a.control_for]
    return [
        *(r for group in groups for r in _counters(case, group)),
        *(r for arm, control in pairs for r in _rates(case, arm, control)),
    ]


def _counters(case: Case, group: Sequence[Channel]) -> Iterator[CheckResult]:
    control = control_of(case, group)
    if not control:
        return
    first = group[0]
    at = {**first.at, "counter": first.counter}
    n = min(len(c.counts) for c in [*group, *control])
    ours, theirs = _Figure(*mean_of(group), n), _Figure(*mean_of(control), n)
    few = min(c.windows for c in group) < limit("sampling.windows")
    for result in _compare((first.arm, control[0].arm), at, ours, theirs, first.unit):
        capped = few and result.quotable == "yes"
        yield result.model_copy(update={"quotable": "order-of-magnitude"}) if capped else result


def _rates(case: Case, arm: str, control: str) -> Iterator[CheckResult]:
    for place in case.places:
        if place.arm != arm:
            continue
        other = Place(**{**place.__dict__, "arm": control})
        against = {"against": control} if len(case.controls(arm)) > 1 else {}
        for name in _RATES:
            ours, theirs = _over_repeats(case, place, name), _over_repeats(case, other, name)
            if ours is not None and theirs is not None:
                at = {**place.at, "metric": name, **against}
                yield from _compare((arm, control), at, ours, theirs, "tok/s")


def _over_repeats(case: Case, place: Place, name: str) -> _Figure | None:
    read = figures.decode_tok_s if name == "decode_tok_s" else metrics.METRICS[name].whole
    steps = [s for s in case.sound(place) if not unfit(s)]
    values = [v for s in steps if (v := read(s)) is not None]
    if not values:
        return None
    middle = Interval(median([v.low for v in values]), median([v.high for v in values]))
    return _Figure(middle, Interval.hull(values), sum(s.repeats or 1 for s in steps))


def _compare(
    arms: tuple[str | None, str | None],
    at: dict[str, object],
    ours: _Figure,
    theirs: _Figure,
    unit: str,
) -> Iterator[CheckResult]:
    arm, control = arms
    a, a_range, b, b_range = ours.middle, ours.range, theirs.middle, theirs.range
    n = min(ours.n, theirs.n)
    net, net_range = a - b, a_range - b_range
    excludes_zero = net_range.low > 0 or net_range.high < 0
    reading = "net-cost" if excludes_zero else "unresolved"
    inputs = [
        as_input(f"arm {arm}", a, unit, "measured", "median over repeats"),
        as_input(f"arm {control}", b, unit, "measured", "median over repeats"),
    ]
    yield (
        Line(NAME, arm, {**at, "of": "difference"})
        .judged(
            reading,
            f"{show(a)} - {show(b)} = {show(net)} {unit} ({show(net_range)})",
            net,
            unit,
            inputs=inputs,
            quotable=_at_most(n, _difference_quotable(net, net_range, excludes_zero)),
        )
        .model_copy(update={"n": n, "range": None if net_range.exact else net_range.number})
    )
    if b.low <= 0 or b_range.low <= 0:
        return
    ratio, ratio_range = a / b, a_range / b_range
    yield (
        Line(NAME, arm, {**at, "of": "ratio"})
        .judged(
            reading,
            f"{show(a)} / {show(b)} = {show(ratio, 3)} ({show(ratio_range, 3)})",
            ratio,
            "ratio",
            inputs=inputs,
            quotable=_at_most(n, _ratio_quotable(a, a_range, b, b_range)),
        )
        .model_copy(update={"n": n, "range": None if ratio_range.exact else ratio_range.number})
    )


def _at_most(n: int, word: Quotable) -> Quotable:
    """One run is never quotable, two give an order of magnitude."""
    if n >= limit("repeats.verdict"):
        return word
    return "no" if n < 2 or word == "no" else "order-of-magnitude"


def _difference_quotable(net: Interval, spread: Interval, excludes_zero: bool) -> Quotable:
    half = (spread.high - spread.low) / 2
    if net.mid and half <= limit("control.quotable") * abs(net.mid):
        return "yes"
    return "order-of-magnitude" if excludes_zero else "no"


def _ratio_quotable(a: Interval, a_range: Interval, b: Interval, b_range: Interval) -> Quotable:
    words = {
        by_spread(a_range.high - a_range.low, a.mid),
        by_spread(b_range.high - b_range.low, b.mid),
    }
    return "yes" if words == {"yes"} else "order-of-magnitude"
