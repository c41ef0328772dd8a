"""A test that names a metric: read in every repeat, divided within it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchspec.judge import figures, metrics, targets
from benchspec.judge.case import Case
from benchspec.judge.conditions import failures, unfit
from benchspec.judge.finding import Finding, blocked, settle, too_few
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Withheld, invalid, lacking
from benchspec.judge.place import Place
from benchspec.judge.result import CheckResult
from benchspec.observations.model import Step
from benchspec.observations.quantiles import median
from benchspec.spec.models import Test

_CONDITIONS = ("effective-settings", "baseline", "client", "conservation", "aggregate", "repeats")
"""The results that a verdict on a metric rests on."""


@dataclass(frozen=True)
class _Quotient:
    value: Interval
    division: str
    repeats: int


def findings(case: Case, test: Test, results: Sequence[CheckResult]) -> list[Finding]:
    """One per place that `at` names. Raises QuantityError."""
    known = metrics.find(test.metric or "")
    if known is None:
        return [Finding("inconclusive", f"there is no metric {test.metric!r}")]
    places = targets.places_at(case, test.at, test.over)
    if not places:
        return [
            Finding("not-run", f"no cell at {targets.text_of(test.at)} was planned or measured")
        ]
    return [_at_place(case, test, place, known, results) for place in places]


def _at_place(
    case: Case,
    test: Test,
    place: Place,
    known: tuple[metrics.Metric, float | None],
    results: Sequence[CheckResult],
) -> Finding:
    below = targets.divisor(case, place, test.over) if test.over else None
    involved = [place] if below is None else [place, below]
    for wanted in involved:
        if not case.steps(wanted):
            return Finding("not-run", f"no repeat of {wanted} was finished")
    quotients, left_out = _quotients(case, known, place, below)
    unit = known[0].unit if below is None else "ratio"
    found = Finding(
        "inconclusive",
        f"{test.metric} is not known",
        arithmetic=_text(f"{test.metric} at {place}", below, quotients, unit),
        values=tuple(q.value for q in quotients),
        unit=unit,
        n=sum(q.repeats for q in quotients),
        checks=_keys(results, involved),
    )
    for p in involved:
        if why := blocked(results, p.arm, p.at, rate=True):
            return found.says("invalid", why)
    few = too_few(found.n or 0, left_out)
    if not quotients:
        return found.says(few.verdict, few.reason) if few else found
    return settle(test, found, few)


def _quotients(
    case: Case, known: tuple[metrics.Metric, float | None], place: Place, below: Place | None
) -> tuple[list[_Quotient], list[str]]:
    """The repeats that count, and why the others do not."""
    divisors = {s.repeat: s for s in case.steps(below)} if below else {}
    quotients, left_out = [], []
    for step in case.steps(place):
        try:
            value = _read(step, known)
            if below is None:
                quotients.append(_Quotient(value, "", step.repeats or 1))
                continue
            if step.repeat not in divisors:
                raise lacking(f"{below} of repeat {step.repeat}")
            base = _read(divisors[step.repeat], known)
            division = f"{show(value)} / {show(base)} = "
            quotients.append(_Quotient(value / base, division, step.repeats or 1))
        except Withheld as why:
            left_out.append(why.reason)
        except ZeroDivisionError:
            left_out.append(f"{known[0].name} may be zero at {below}, repeat {step.repeat}")
    return quotients, left_out


def _read(step: Step, known: tuple[metrics.Metric, float | None]) -> Interval:
    metric, q = known
    where = f"{Place.of(step)}, repeat {step.repeat}"
    if why := figures.defect(step) or failures(step) or unfit(step, metric.figure):
        raise invalid(f"{where}: {why}")
    reading = metrics.read(step, metric, q)
    if reading is None:
        raise lacking(f"{metric.name} at {where}")
    return reading.value


def _text(name: str, below: Place | None, quotients: Sequence[_Quotient], unit: str) -> str | None:
    if not quotients:
        return None
    middle = median([q.value.mid for q in quotients])
    nearest = min(quotients, key=lambda q: abs(q.value.mid - middle))
    over = f" / at {below}" if below else ""
    suffix = "" if unit == "ratio" else f" {unit}"
    each = ", ".join(show(q.value) for q in quotients)
    many = f"; {len(quotients)} repeats {each}" if len(quotients) > 1 else ""
    return f"{name}{over} = {nearest.division}{show(nearest.value)}{suffix}{many}"


def _keys(results: Sequence[CheckResult], places: Sequence[Place]) -> tuple[str, ...]:
    return tuple(
        r.key
        for r in results
        if r.check in _CONDITIONS and any(r.arm == p.arm and r.at in ({}, p.at) for p in places)
    )
