"""gate: was a decision that was registered before the run triggered?

Needs: a hypothesis with a `gate`, and its verdict.

Comparison: the hypothesis' own, over the whole interval of its figure. No division of its own.

Readings
  triggered       the whole interval passes the registered threshold
  not-triggered   none of it does
  undecided       anything else: the interval lies on both sides, or there is no verdict

Silent when: no hypothesis has a gate.

Value: the figure that was compared. Source: a threshold chosen after the fact decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchspec.judge.case import Case
from benchspec.judge.lines import Line
from benchspec.judge.result import CheckResult, HypothesisResult

NAME = "gate"
READINGS = ("triggered", "not-triggered", "undecided")
NEEDS = "a hypothesis with a gate"
RATE = False


def check(_case: Case) -> list[CheckResult]:
    """Nothing yet: gates are read off the verdicts, by `of`."""
    return []


def of(hypotheses: Sequence[HypothesisResult]) -> list[CheckResult]:
    """One result per hypothesis with a gate."""
    return [
        Line(NAME, None, {"hypothesis": h.id})
        .judged(h.gate.reading, f"{h.reason}; then: {h.gate.then}", None)
        .model_copy(update={"value": h.value, "unit": h.unit, "n": h.n})
        for h in hypotheses
        if h.gate is not None
    ]
