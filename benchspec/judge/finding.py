"""What one place says of a registered test, and the rules that turn it into a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from benchspec.judge import compare
from benchspec.judge.conditions import NOT_IDLE
from benchspec.judge.interval import Interval, show
from benchspec.judge.result import CheckResult, VerdictWord
from benchspec.judge.thresholds import limit
from benchspec.observations.quantiles import median
from benchspec.spec.models import Relation, Test


@dataclass(frozen=True)
class Finding:
    """`values` are the quotients (per repeat, or the ends of a check's range and its median)."""

    verdict: VerdictWord
    reason: str
    arithmetic: str | None = None
    values: tuple[Interval, ...] = ()
    unit: str | None = None
    n: int | None = None
    reading: str | None = None
    checks: tuple[str, ...] = ()

    def says(self, verdict: VerdictWord, reason: str) -> Finding:
        """The same with a verdict and the sentence for it."""
        return replace(self, verdict=verdict, reason=reason)

    @property
    def middle(self) -> Interval | None:
        """The median of the values."""
        if not self.values:
            return None
        lows, highs = [v.low for v in self.values], [v.high for v in self.values]
        return Interval(median(lows), median(highs))

    @property
    def hull(self) -> Interval | None:
        """From the smallest to the largest value; None below two."""
        return Interval.hull(list(self.values)) if len(self.values) > 1 else None


_SPOILED = ("contaminated", "client-limited", "requests failed")
"""Words of the reasons for which a measured repeat does not count."""


@dataclass(frozen=True)
class TooFew:
    """Why the repeats that are left decide nothing."""

    verdict: VerdictWord
    reason: str


def too_few(n: int, left_out: Sequence[str]) -> TooFew | None:
    """For a rate from `n` repeats; `left_out` are the reasons for which others do not count."""
    needed = int(limit("repeats.verdict"))
    if n >= needed:
        return None
    spoiled = [why for why in left_out if any(word in why for word in _SPOILED)]
    if spoiled:
        why = spoiled[0].removeprefix("left out: ")
        return TooFew("invalid", f"repeats were disturbed, and {n or 'none'} left: {why}")
    if n == 0 and left_out:
        return TooFew("inconclusive", left_out[0])
    return TooFew("inconclusive", f"{n} of the {needed} repeats that a verdict on a rate needs")


def settle(test: Test, found: Finding, few: TooFew | None) -> Finding:
    """The verdict of a relation and a value: all repeats must agree on the same side of it.

    Raises QuantityError when the registered value cannot be read in the figure's unit.
    """
    if test.value is None or not found.values:
        missing = "a registered value" if test.value is None else "a figure"
        return found.says("inconclusive", f"there is not {missing} to compare")
    relation: Relation = test.relation or ">="
    target = compare.registered(test.value, found.unit)
    margin = compare.margin_of(test.margin, target, found.unit)
    within = f" within {show(margin)}" if margin else ""
    registered = f"{relation} {show(target)}{within}"
    found = replace(found, arithmetic=f"{found.arithmetic}; registered {registered}")
    if few:
        return found.says(few.verdict, few.reason)
    answer = compare.all_hold([compare.holds(v, relation, target, margin) for v in found.values])
    seen = show(Interval.hull(list(found.values)))
    if answer is None:
        return found.says("inconclusive", f"{seen} lies on both sides of {registered}")
    if answer:
        return found.says("supported", f"{seen} is {registered}{_everywhere(found)}")
    return found.says("refuted", f"{seen} is not {registered}{_everywhere(found)}")


def _everywhere(found: Finding) -> str:
    return f" in each of {found.n} repeats" if found.n and found.n > 1 else ""


def blocked(
    results: Sequence[CheckResult],
    arm: str | None,
    at: Mapping[str, object],
    *,
    rate: bool,
    counters: bool = False,
) -> str | None:
    """Why nothing measured at a place answers the claim, or None.

    The cell does not add up; for rates, the engine did not run with what was asked of it, or its
    answers were no text; for rates and `counters`, somebody else used a device meanwhile.
    """
    for r in results:
        if r.arm != arm or r.state != "judged":
            continue
        if (rate or counters) and r.check == "baseline" and _covers(r, at):
            for noise in r.inputs:
                if noise.name == NOT_IDLE:
                    return f"{r.key} is {r.reading}: {noise.value}"
        if r.check == "conservation" and r.reading == "violated" and r.at == at:
            return f"{r.key} is violated: {r.arithmetic}"
        if rate and r.check == "effective-settings" and r.reading in ("refused", "changed"):
            return f"arm {arm} did not run as asked: {r.arithmetic}"
        if rate and r.check == "output-sanity" and r.quotable == "no" and _covers(r, at):
            return f"{r.key} is {r.reading}: {r.caveats[0]}"
    return None


def _covers(result: CheckResult, at: Mapping[str, object]) -> bool:
    """Whether the place `at` is, or lies within, that of the result."""
    return all(at.get(name, value) == value for name, value in result.at.items())
