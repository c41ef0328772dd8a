"""How an open loop was sent against how it was asked for. Pure.

A schedule of n random gaps strays from its rate by itself: by 1 / sqrt(n) for exponential ones, by
1 / sqrt(shape x n) for gamma. Equal gaps do not.
"""

from __future__ import annotations

import math

from benchspec.judge import figures
from benchspec.judge.interval import show
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Step
from benchspec.spec.models import Load


def stray(step: Step, load: Load) -> str | None:
    """A sentence where a step was sent at another rate than its arrivals explain, else None.

    An open loop that does not say how its requests are spaced is a random one, as in a run.
    """
    achieved = figures.sent_per_s(step)
    if not step.rate or achieved is None:
        return None
    off = achieved / step.rate - 1
    allowed, why = _allowed(step, load)
    if abs(off) <= allowed:
        return None
    return (
        f"sent at another rate than asked: {show(achieved)} of {show(step.rate)} requests/s is "
        f"{100 * off:+.2g} %; {why} strays by up to {100 * allowed:.2g} %"
    )


def _allowed(step: Step, load: Load) -> tuple[float, str]:
    """The part of the rate by which a schedule may be off, and what schedule that is."""
    arrival, gaps = load.arrival or "poisson", (figures.sent(step) or 0) - 1
    if arrival == "constant" or gaps < 1:
        return limit("arrivals.constant"), "a schedule of equal gaps"
    shape = load.burstiness or 1.0 if arrival == "gamma" else 1.0
    error = 1 / math.sqrt(shape * gaps)
    return limit("arrivals.random") * error, f"a schedule of {gaps} {arrival} gaps"
