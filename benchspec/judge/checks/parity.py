"""parity: do two arms answer equally well?

Needs: the same questions to both arms, and for how many only the first and only the second was
right. From marginals (how many each got right) only bounds follow.

Division: difference = (right in the first - right in the second) / n [points], always with its 95 %
interval; exact McNemar: p = two-sided binomial of (only first, only second) at 1/2.

Readings
  differs                      p <= 0.05
  no-difference-shown          p > 0.05: up to the far end of the interval is not excluded
  equivalent-within-margin     the whole interval lies inside the registered margin

Silent when: fewer than six questions tell the arms apart (then p cannot reach 0.05) and no margin
holds the interval; more than 2 % of an arm's answers were truncated.

Value: the difference as a share. Source: McNemar (1947), exact; paired interval of Agresti and Min
(2005), unpaired of Wald. Runs of sampled decoding are compared per question, never pooled.
"""

from __future__ import annotations

import math

from benchspec.judge.case import Case
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, attempt, invalid, lacking
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.thresholds import limit
from benchspec.observations.answers import Parity
from benchspec.observations.node import Bounds

NAME = "parity"
READINGS = ("differs", "no-difference-shown", "equivalent-within-margin")
NEEDS = "the same questions to two arms, and which arm alone was right"
RATE = False

_Z = 1.959964
"""Two-sided 95 % of the normal distribution."""


def check(case: Case) -> list[CheckResult]:
    """One result per pair of arms."""
    return [_judge(parity) for parity in case.observations.parity]


def _judge(parity: Parity) -> CheckResult:
    line = Line(
        NAME, parity.arms[0] if parity.arms else None, {"against": " ".join(parity.arms[1:])}
    )
    return attempt(line, lambda: _compare(line, parity), parity)


def _compare(line: Line, parity: Parity) -> CheckResult:
    if parity.n < 1:
        raise lacking("questions")
    if any(t > limit("sanity.truncated") for t in parity.truncated):
        raise invalid("more than 2 % of an arm's answers were truncated")
    b, c = parity.only_first, parity.only_second
    if b is None or c is None:
        return _unpaired(line, parity)
    if b < 0 or c < 0 or b + c > parity.n:
        raise invalid("more discordant answers than questions")
    return _paired(line, parity, b, c)


def _paired(line: Line, parity: Parity, b: int, c: int) -> CheckResult:
    n, difference = parity.n, (b - c) / parity.n
    interval = paired_interval(b, c, n)
    p = exact_p(b, c)
    within = _within(interval, parity.margin)
    if b + c < limit("parity.discordant") and not within:
        raise lacking(
            f"6 questions that tell the arms apart; {b + c} do, and the difference of "
            f"{show(100 * difference, 2)} points has the interval {_points(interval)}"
        )
    reading = "differs" if p <= limit("parity.p") else "no-difference-shown"
    if within:
        reading = "equivalent-within-margin"
    text = (
        f"({b} - {c}) / {n} = {show(100 * difference, 2)} points, 95 % interval "
        f"{_points(interval)}; exact McNemar p = {show(p, 2)}"
    )
    return _result(line, parity, reading, text, difference, interval)


def _unpaired(line: Line, parity: Parity) -> CheckResult:
    if len(parity.correct) != 2:
        raise lacking("how many each arm got right, or which arm alone was right")
    n, (x, y) = parity.n, parity.correct
    if not (0 <= x <= n and 0 <= y <= n):
        raise invalid("more right answers than questions")
    difference = (x - y) / n
    half = _Z * math.sqrt(x / n * (1 - x / n) / n + y / n * (1 - y / n) / n)
    interval = Interval(difference - half, difference + half)
    least, most = p_range(x, y, n)
    reading = "no-difference-shown"
    if _within(interval, parity.margin):
        reading = "equivalent-within-margin"
    elif least > 0 and most <= limit("parity.p"):
        reading = "differs"
    text = (
        f"({x} - {y}) / {n} = {show(100 * difference, 2)} points, unpaired 95 % interval "
        f"{_points(interval)}; the paired p lies in {show(least, 1)}..{show(most, 2)}"
    )
    return _result(line, parity, reading, text, difference, interval)


def _result(
    line: Line, parity: Parity, reading: str, text: str, difference: float, interval: Interval
) -> CheckResult:
    hidden = 100 * max(abs(interval.low), abs(interval.high))
    shown = reading == "no-difference-shown"
    return line.judged(
        reading,
        text,
        difference,
        "ratio",
        inputs=[Input(name="questions", value=float(parity.n), unit="pairs")],
        caveats=[f"up to {show(hidden, 2)} points are not excluded"] if shown else [],
    ).model_copy(update={"range": Bounds(low=interval.low, high=interval.high), "n": parity.n})


def exact_p(b: int, c: int) -> float:
    """Exact two-sided p of McNemar's test: b of b + c discordant pairs at probability 1/2."""
    n = b + c
    if n == 0:
        return 1.0
    tail = sum(math.comb(n, i) for i in range(min(b, c) + 1)) / 2**n
    return float(min(1.0, 2 * tail))


def p_range(x: int, y: int, n: int) -> tuple[float, float]:
    """Smallest and largest exact p over all pairings with `x` and `y` of `n` right.

    Only-first counts run from max(0, x - y) to min(x, n - y).
    """
    every = [exact_p(b, b - (x - y)) for b in range(max(0, x - y), min(x, n - y) + 1)]
    return min(every), max(every)


def paired_interval(b: int, c: int, n: int) -> Interval:
    """95 % interval of (b - c) / n: Wald's with half a pair added to each of the four cells."""
    b_, c_, n_ = b + 0.5, c + 0.5, n + 2.0
    middle = (b_ - c_) / n_
    half = _Z * math.sqrt(b_ + c_ - (b_ - c_) ** 2 / n_) / n_
    return Interval(middle - half, middle + half)


def _within(interval: Interval, margin: float | None) -> bool:
    return margin is not None and -margin <= interval.low and interval.high <= margin


def _points(interval: Interval) -> str:
    return f"{show(100 * interval.low, 2)} to {100 * interval.high:+.1f}"
