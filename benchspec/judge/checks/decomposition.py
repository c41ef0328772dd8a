"""decomposition: do the factors make the ratio?

Needs: an observed ratio and the factors that are said to explain it, each as a ratio or as two
figures.

Division: product of the factors / observed ratio.

Readings
  explained   within 5 %, and every factor was measured apart from the ratio
  identity    a factor was computed from the rate that is being explained: the product must fit, and
              splits the ratio without verifying it
  remainder   off by more than 5 %

Silent when: a factor has neither a ratio nor two figures.

Value: product / observed. Source: arithmetic of ratios.
"""

from __future__ import annotations

import math

from benchspec.judge.case import Case
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, attempt, lacking
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Decomposition, Factor

NAME = "decomposition"
READINGS = ("explained", "identity", "remainder")
NEEDS = "an observed ratio and its factors"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per decomposition."""
    return [_judge(d) for d in case.observations.factors]


def _judge(d: Decomposition) -> CheckResult:
    line = Line(NAME, d.arm, {"name": d.name})
    return attempt(line, lambda: _divide(line, d), d)


def _divide(line: Line, d: Decomposition) -> CheckResult:
    ratios = [_ratio(f) for f in d.factors]
    if not ratios:
        raise lacking("factors")
    product = math.prod(ratios, start=Interval.of(1.0))
    fit = product / Interval.of(d.observed)
    off = max(abs(fit.low - 1), abs(fit.high - 1))
    circular = [f.name for f in d.factors if f.from_observed]
    within = off <= limit("decomposition.remainder")
    text = " x ".join(f"{f.name} {show(r, 3)}" for f, r in zip(d.factors, ratios, strict=True))
    return line.judged(
        "remainder" if not within else "identity" if circular else "explained",
        f"{text} = {show(product, 3)} against {show(Interval.of(d.observed), 4)} observed, "
        f"ratio {show(fit)}",
        fit,
        "ratio",
        inputs=[
            Input(name=f.name, value=r.number, unit="ratio", provenance=f.provenance)
            for f, r in zip(d.factors, ratios, strict=True)
        ],
        caveats=[f"computed from the ratio itself: {', '.join(circular)}"] if circular else [],
    ).model_copy(update={"remainder": 1 - fit.mid})


def _ratio(factor: Factor) -> Interval:
    if factor.ratio is not None:
        return Interval.of(factor.ratio)
    if factor.over is None or factor.under is None:
        raise lacking(f"a ratio or two figures for {factor.name}")
    return Interval.of(factor.over) / Interval.of(factor.under)
