"""From divisions to verdicts: what was registered against what was found.

`supported` and `refuted` need three repeats that all say so, unless the effect is structural (a
shape of completions, a setting) or the figure is no repeated measurement. A disturbed repeat is
left out; where too few remain, the verdict is `invalid`. Why three: complete separation of 3
against 3, in a direction registered beforehand, has one-sided p = 0.05 (exact permutation test).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from benchspec.judge import compare, on_check, on_metric
from benchspec.judge.case import Case
from benchspec.judge.finding import Finding
from benchspec.judge.interval import Interval
from benchspec.judge.result import CheckResult, GateResult, HypothesisResult, VerdictWord
from benchspec.observations.node import Bounds
from benchspec.spec.models import Hypothesis, Test
from benchspec.spec.quantity import QuantityError

_FIRST: tuple[VerdictWord, ...] = ("refuted", "invalid", "not-run", "inconclusive", "supported")
"""A test made at several places must hold at all: the first of these at any place is the verdict."""

_GATES: dict[str, Literal["triggered", "not-triggered"]] = {
    "supported": "triggered",
    "refuted": "not-triggered",
}


def decide(case: Case, results: Sequence[CheckResult]) -> list[HypothesisResult]:
    """One verdict per hypothesis, in the spec's order."""
    return _withdraw(case, [_verdict(case, h, results) for h in case.spec.hypotheses])


def _verdict(case: Case, h: Hypothesis, results: Sequence[CheckResult]) -> HypothesisResult:
    found = _findings(case, h.test, results)
    first = min(found, key=lambda f: _FIRST.index(f.verdict))
    verdict, reason = first.verdict, first.reason
    if h.exploratory and verdict in ("supported", "refuted"):
        verdict, reason = "inconclusive", f"exploratory, so no verdict: {reason}"
    middle, hull, predicted = first.middle, first.hull, _prediction(h, first.unit)
    return HypothesisResult(
        id=h.id,
        claim=h.claim,
        because=h.because,
        verdict=verdict,
        reason=reason,
        arithmetic=first.arithmetic,
        value=middle.number if middle else None,
        unit=first.unit,
        range=Bounds(low=hull.low, high=hull.high) if hull else None,
        n=first.n,
        predicted=predicted.number if predicted else None,
        prediction_error=_error(middle, predicted),
        readings=list(dict.fromkeys(f.reading for f in found if f.reading)),
        checks=list(dict.fromkeys(key for f in found for key in f.checks)),
        gate=_gate(h, verdict, first.arithmetic),
        exploratory=h.exploratory,
    )


def _findings(case: Case, test: Test | None, results: Sequence[CheckResult]) -> list[Finding]:
    if test is None:
        return [Finding("inconclusive", "no test was registered for it")]
    ask = on_metric.findings if test.check is None else on_check.findings
    try:
        return ask(case, test, results)
    except QuantityError as error:
        return [Finding("inconclusive", f"the registered value cannot be used: {error}")]


def _prediction(h: Hypothesis, unit: str | None) -> Interval | None:
    if h.prediction is None:
        return None
    try:
        return compare.registered(h.prediction, unit)
    except QuantityError:
        return None


def _error(value: Interval | None, predicted: Interval | None) -> float | None:
    if value is None or predicted is None or predicted.mid == 0:
        return None
    return (value.mid - predicted.mid) / predicted.mid


def _gate(h: Hypothesis, verdict: VerdictWord, arithmetic: str | None) -> GateResult | None:
    if h.gate is None:
        return None
    reading = _GATES.get(verdict, "undecided")
    return GateResult(reading=reading, then=h.gate.then, cost=h.gate.cost, arithmetic=arithmetic)


def _withdraw(case: Case, verdicts: list[HypothesisResult]) -> list[HypothesisResult]:
    """What rests on a refuted or withdrawn hypothesis is withdrawn, however far down."""
    rests_on = {h.id: h.rests_on for h in case.spec.hypotheses}
    fallen = {v.id for v in verdicts if v.verdict == "refuted"}
    while more := {i for i, on in rests_on.items() if fallen & set(on)} - fallen:
        fallen |= more
    return [_withdrawn(v, [i for i in rests_on[v.id] if i in fallen]) for v in verdicts]


def _withdrawn(v: HypothesisResult, by: list[str]) -> HypothesisResult:
    if not by:
        return v
    gate = v.gate.model_copy(update={"reading": "undecided"}) if v.gate else None
    return v.model_copy(
        update={
            "withdrawn_by": by,
            "verdict": "inconclusive" if v.verdict == "supported" else v.verdict,
            "reason": f"withdrawn, for it rests on {', '.join(by)}, which did not stand: {v.reason}",
            "gate": gate,
        }
    )
