"""Verdict cards and decision gates."""

from __future__ import annotations

from benchspec.judge.result import CheckResult, HypothesisResult, Input
from benchspec.observations.node import Provenance
from benchspec.report.material import Material, check_anchor, hypothesis_anchor
from benchspec.report.numbers import count, figure, percent, setting
from benchspec.report.parts import STATES, GateView, Ingredient, Reference, VerdictCard
from benchspec.spec.models import Hypothesis, Place, Test

MAX_INPUTS = 60
MAX_UNFOLDED = 10
_WEAKEST_FIRST: tuple[Provenance, ...] = ("bound", "declared", "datasheet", "derived", "measured")


def cards(material: Material, *, exploratory: bool) -> tuple[VerdictCard, ...]:
    """One card per verdict, in the order of the spec; exploratory ones are asked for apart."""
    declared = {h.id: h for h in material.spec.hypotheses}
    checks = {c.key: c for c in material.verdicts.checks}
    return tuple(
        _card(result, declared.get(result.id), checks)
        for result in material.verdicts.hypotheses
        if result.exploratory == exploratory
    )


def gates(material: Material) -> tuple[GateView, ...]:
    """Decisions that were registered before the run."""
    return tuple(
        GateView(
            reading=h.gate.reading,
            then=h.gate.then,
            cost=h.gate.cost,
            arithmetic=h.gate.arithmetic,
            hypothesis=h.id,
            anchor=hypothesis_anchor(h.id),
        )
        for h in material.verdicts.hypotheses
        if h.gate
    )


def ingredients(inputs: list[Input]) -> tuple[Ingredient, ...]:
    """Inputs of a check as they are printed, those of one source together."""
    groups: dict[tuple[str, str | None], dict[tuple[str, str], None]] = {}
    for i in inputs:
        groups.setdefault((i.provenance, i.source), {})[i.name, _value(i)] = None
    return tuple(
        Ingredient(tuple(numbers), provenance, source)
        for (provenance, source), numbers in groups.items()
    )


def _value(given: Input) -> str:
    if given.asked is None:
        return figure(given.value, given.unit)
    found = "not read back" if given.value is None else f"found {setting(given.value)}"
    return f"asked {setting(given.asked)}, {found}"


def weakest(inputs: list[Input]) -> Provenance:
    """A quotient is worth no more than its weakest input."""
    kinds = {i.provenance for i in inputs}
    return next((kind for kind in _WEAKEST_FIRST if kind in kinds), "measured")


def spread(result: CheckResult | HypothesisResult) -> str | None:
    """How far the repeats lie apart: `0.991 to 1.004`, or that they do not."""
    if result.range is None or not result.n or result.n < 2:
        return None
    if result.range.low == result.range.high:
        return "all equal"
    return figure(result.range, result.unit)


def _card(
    result: HypothesisResult, declared: Hypothesis | None, checks: dict[str, CheckResult]
) -> VerdictCard:
    word, meaning = STATES[result.verdict]
    behind = [checks[key] for key in result.checks if key in checks]
    inputs = [i for check in behind for i in check.inputs]
    return VerdictCard(
        id=result.id,
        anchor=hypothesis_anchor(result.id),
        claim=result.claim,
        because=result.because,
        state=result.verdict,
        word=word,
        meaning=meaning,
        test=test_in_words(declared.test) if declared and declared.test else None,
        division=result.arithmetic or _of_its_check(declared, behind),
        reason=result.reason,
        predicted=None if result.predicted is None else figure(result.predicted, result.unit),
        measured=_measured(result),
        provenance=weakest(inputs),
        range=spread(result),
        error=None
        if result.prediction_error is None
        else percent(result.prediction_error, signed=True),
        repeats=count(result.n, "repeat") if result.n else None,
        ingredients=ingredients(inputs[:MAX_INPUTS]),
        many_numbers=len(inputs) if len(inputs) > MAX_UNFOLDED else None,
        rests_on=tuple(Reference(key, check_anchor(key)) for key in result.checks if key in checks),
        remarks=tuple(_remarks(result)),
    )


def _of_its_check(declared: Hypothesis | None, behind: list[CheckResult]) -> str | None:
    """The division of the check that is tested; that of another one answers another question."""
    named = declared.test.check if declared and declared.test else None
    return next((c.arithmetic for c in behind if c.arithmetic and c.check == named), None)


def _measured(result: HypothesisResult) -> str | None:
    if result.value is not None:
        return figure(result.value, result.unit)
    return ", ".join(dict.fromkeys(result.readings)) or None


def _remarks(result: HypothesisResult) -> list[str]:
    remarks = [
        f"Withdrawn: it rests on {other}, which was refuted." for other in result.withdrawn_by
    ]
    if result.overridden:
        remarks.append(f"Run in spite of the linter: {', '.join(result.overridden)} overridden.")
    if not result.admissible:
        remarks.append("Not admissible as evidence: do not quote it.")
    return remarks


def test_in_words(test: Test) -> str:
    """The registered test as a sentence: `aggregate_tok_s at C=4 over C=1 is >= 1.2`."""
    what = test.metric or test.check or "the test"
    at = _place(test.at)
    over = f" over {_place(test.over)}" if test.over else ""
    where = f" at {at}" if at else ""
    if test.expect:
        wanted = f"reads {' or '.join(test.expect)}"
    elif test.relation and test.value is not None:
        value = test.value if isinstance(test.value, str) else figure(test.value)
        wanted = f"is {test.relation} {value}"
    else:
        wanted = "is judged"
    return f"{what}{where}{over} {wanted}"


def _place(place: Place) -> str:
    words = [place.arm or ""]
    words += [
        f"{'C' if key == 'concurrency' else key}={value}"
        for key, value in place.model_dump(exclude={"arm"}, exclude_none=True).items()
    ]
    return " ".join(w for w in words if w)
