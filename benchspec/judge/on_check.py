"""A test that names a check: its reading, or its value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchspec.judge import targets
from benchspec.judge.case import Case
from benchspec.judge.checks import BY_NAME
from benchspec.judge.finding import Finding, TooFew, blocked, settle, too_few
from benchspec.judge.interval import Interval, show
from benchspec.judge.result import Bound, CheckResult
from benchspec.spec.models import Test

_OPEN = (None, "unresolved", "consistent-with", "no-difference-shown", "undecided")
"""Readings that leave the question open: they neither support nor refute another one."""

_OF_COUNTERS = (
    "turn-taking",
    "burst",
    "link-load",
    "expected-traffic",
    "traffic-symmetry",
    "control",
)
"""Checks on counters of a device, which count what everybody does with it."""


def findings(case: Case, test: Test, results: Sequence[CheckResult]) -> list[Finding]:
    """One per result of the check that `at` names. Raises QuantityError."""
    found = targets.results_at(case, results, test.check or "", targets.coordinates(test.at))
    if found:
        return [_on_result(case, test, result, results) for result in found]
    places = targets.places_at(case, test.at, None)
    if places and not any(case.steps(place) for place in places):
        return [Finding("not-run", f"no cell at {targets.text_of(test.at)} was finished")]
    module = BY_NAME.get(test.check or "")
    why = f"it needs {module.NEEDS}" if module else "there is no such check"
    return [Finding("inconclusive", f"{test.check} had nothing to divide: {why}")]


def _on_result(
    case: Case, test: Test, result: CheckResult, results: Sequence[CheckResult]
) -> Finding:
    found = Finding(
        verdict="invalid" if result.state == "invalid" else "inconclusive",
        reason=f"{result.key} is {result.state}: {result.reason}",
        arithmetic=result.arithmetic,
        values=_values(result),
        unit=result.unit,
        n=result.n,
        reading=result.reading,
        checks=(result.key,),
    )
    if result.state != "judged":
        return found
    rate = bool(getattr(BY_NAME.get(result.check), "RATE", False))
    others = [r for r in results if r.check != result.check]
    counters = result.check in _OF_COUNTERS
    if why := blocked(others, result.arm, result.at, rate=rate, counters=counters):
        return found.says("invalid", why)
    few = too_few(result.n or 1, result.caveats) if rate else None
    if test.expect:
        return _on_reading(test.expect, found, few)
    if test.over is None:
        return _as_bounded(test, settle(test, found, few), result.bound)
    return _divided(case, test, found, result, results, few)


_DECIDED_BY: Mapping[str, Mapping[str, frozenset[str]]] = {
    "at-least": {"supported": frozenset({">", ">="}), "refuted": frozenset({"<", "<="})},
    "at-most": {"supported": frozenset({"<", "<="}), "refuted": frozenset({">", ">="})},
    "both": {},
}
"""Bound -> verdict -> the relations of which it can give that verdict."""


def _as_bounded(test: Test, found: Finding, bound: Bound | None) -> Finding:
    """A bound decides on its own side only: at most 40 % is not at least 30 %."""
    if bound is None or found.verdict not in ("supported", "refuted"):
        return found
    if (test.relation or ">=") in _DECIDED_BY[bound].get(found.verdict, frozenset()):
        return found
    side = "bounded from both sides" if bound == "both" else f"known as {bound.replace('-', ' ')}"
    return found.says("inconclusive", f"the figure is only {side}; {found.reason}")


def _on_reading(expected: Sequence[str], found: Finding, few: TooFew | None) -> Finding:
    name, wanted = found.checks[0], " or ".join(expected)
    if found.reading not in expected and found.reading in _OPEN:
        return found.says("inconclusive", f"{name} is {found.reading}; expected {wanted}")
    if few:
        return found.says(few.verdict, few.reason)
    if found.reading in expected:
        return found.says("supported", f"{name} reads {found.reading}, as expected")
    return found.says("refuted", f"{name} reads {found.reading}, not {wanted}")


def _divided(
    case: Case,
    test: Test,
    found: Finding,
    result: CheckResult,
    results: Sequence[CheckResult],
    few: TooFew | None,
) -> Finding:
    """The result's value over that of the same check at `over`: an interval over an interval."""
    over = targets.coordinates(test.over or test.at)
    wanted = {**targets.coordinates(test.at), "arm": result.arm, **over}
    if "material" in over and "arm" not in over:
        del wanted["arm"]  # in a run another material is another arm
    below = targets.results_at(case, results, result.check, wanted)
    values = _values(below[0]) if len(below) == 1 and below[0].state == "judged" else ()
    if not values or not found.values:
        return found.says("inconclusive", f"{result.check} has no single value to divide by")
    try:
        quotient = Interval.hull(list(found.values)) / Interval.hull(list(values))
    except ZeroDivisionError:
        return found.says("invalid", f"{below[0].key} may be zero")
    divided = replace(
        found,
        arithmetic=f"{result.key} / {below[0].key} = {show(quotient)}",
        values=(quotient,),
        unit="ratio",
        checks=(*found.checks, below[0].key),
    )
    return settle(test, divided, few)


def _values(result: CheckResult) -> tuple[Interval, ...]:
    """The ends of the range over repeats with the median between, or the one value."""
    if result.value is None:
        return ()
    value = Interval.of(result.value)
    if result.range is None:
        return (value,)
    return (Interval.of(result.range.low), value, Interval.of(result.range.high))
