"""The judge: observations in, verdicts out. No I/O, no clock, no chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchspec import __version__
from benchspec.judge.case import Case
from benchspec.judge.checks import CHECKS, gate
from benchspec.judge.hypotheses import decide
from benchspec.judge.result import CheckResult, HypothesisResult, Unfinished, Verdicts
from benchspec.judge.unfinished import unfinished
from benchspec.observations.model import Observations
from benchspec.spec.models import Spec

Affected = Sequence[str]
"""Ids of the hypotheses that an overridden finding affects; none named means all."""


def judge(
    spec: Spec,
    observations: Observations,
    *,
    spec_sha256: str,
    overrides: Mapping[str, str] | None = None,
    affected: Mapping[str, Affected] | None = None,
    notes: Sequence[Unfinished] = (),
) -> Verdicts:
    """All results of checks, a verdict per hypothesis, and what was not finished.

    `overrides` maps codes of findings that were overridden to reasons, `affected` the same codes to
    the hypotheses they affect; `notes` are further unfinished lines from the run itself.
    """
    overrides = overrides or {}
    case = Case(spec, observations)
    results = [result for module in CHECKS for result in module.check(case)]
    hypotheses = decide(case, results)
    results += gate.of(hypotheses)
    for code, reason in overrides.items():
        ids = (affected or {}).get(code) or [h.id for h in hypotheses]
        hypotheses, results = _override(code, reason, ids, hypotheses, results)
    return Verdicts(
        benchspec=__version__,
        study=spec.study.title,
        spec_sha256=spec_sha256,
        origin=observations.origin,
        admissible=not overrides,
        overrides=dict(overrides),
        hypotheses=hypotheses,
        checks=results,
        unfinished=[*unfinished(case, results, hypotheses, overrides), *notes],
        waivers=[w.model_dump(exclude_none=True) for w in spec.waivers],
    )


def _override(
    code: str,
    reason: str,
    ids: Affected,
    hypotheses: list[HypothesisResult],
    results: list[CheckResult],
) -> tuple[list[HypothesisResult], list[CheckResult]]:
    """Mark the affected hypotheses inadmissible, and what they rest on not quotable."""
    marked = [
        h.model_copy(update={"admissible": False, "overridden": [*h.overridden, code]})
        if h.id in ids
        else h
        for h in hypotheses
    ]
    keys = {key for h in hypotheses if h.id in ids for key in h.checks}
    caveat = f"{code} was overridden: {reason}"
    lowered = [
        r.model_copy(update={"quotable": "no", "caveats": [*r.caveats, caveat]})
        if r.key in keys
        else r
        for r in results
    ]
    return marked, lowered
