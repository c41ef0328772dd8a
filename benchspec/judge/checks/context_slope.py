"""context-slope: what of a pass grows with the context, and what does not?

Needs: the time per pass of one stream at two context lengths or more (three to see whether a line
fits).

Division: least squares of time per pass [ms] against context [tokens]. Intercept [ms] = weights and
fixed cost; slope [ms per 1000 tokens] = reading the KV cache. Compare times per pass, not tok/s:
tokens per pass move with what is drafted.

Readings
  fit   the line passes within 10 % of every point, and time grows with context
  odd   it does not, or time falls with context

Where the KV bytes of a token and the bandwidth are known: bytes / bandwidth / slope is the part that
reading them accounts for; the rest is work on them (unpacking, a slow kernel).

Silent when: fewer than two context lengths; times that are not known.

Value: the slope in ms per 1000 tokens. Source: ordinary least squares.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchspec.judge import figures, geometry, hardware
from benchspec.judge.case import Case, measured
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line
from benchspec.judge.place import Place
from benchspec.judge.result import CheckResult
from benchspec.judge.setup import Setup
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Step
from benchspec.observations.quantiles import median

NAME = "context-slope"
READINGS = ("fit", "odd")
NEEDS = "the time per pass at two context lengths"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per arm (and material) with several context lengths."""
    groups: dict[tuple[str, str | None], list[Place]] = {}
    for place in case.places:
        if place.concurrency in (None, 1) and place.context_tokens is not None:
            groups.setdefault((place.arm, place.material), []).append(place)
    found = [_judge(case, arm, material, places) for (arm, material), places in groups.items()]
    return [result for result in found if result is not None]


def _judge(
    case: Case, arm: str, material: str | None, places: Sequence[Place]
) -> CheckResult | None:
    points: dict[int, float] = {}
    steps: dict[int, Step] = {}
    for place in places:
        sound = case.sound(place)
        times = [t.mid for s in sound if (t := figures.step_ms(s, case.setup(arm).drafts(s)))]
        if times and min(times) > 0 and place.context_tokens is not None:
            points[place.context_tokens] = median(times)
            steps[place.context_tokens] = sound[0]
    if len(points) < 2:
        return None
    intercept, slope = line_through(list(points.items()))
    off = max(abs(intercept + slope * x - y) / y for x, y in points.items())
    odd = slope < 0 or intercept < 0 or off > limit("slope.residual")
    each = ", ".join(f"{show(y)} ms at {x}" for x, y in sorted(points.items()))
    two = ["two context lengths: whether a line fits is not seen"] if len(points) == 2 else []
    return (
        Line(NAME, arm, {"material": material} if material else {})
        .judged(
            "odd" if odd else "fit",
            f"{each}: {show(intercept)} ms + {show(1000 * slope)} ms per 1000 tokens, "
            f"at most {show(100 * off, 2)} % off",
            1000 * slope,
            "ms per 1000 tokens",
            inputs=[measured(f"pass at {x} tokens", y, "ms", steps[x]) for x, y in points.items()],
            caveats=[*two, *_reading(case.setup(arm), slope)],
        )
        .model_copy(update={"remainder": _left(case.setup(arm), slope)})
    )


def _share(setup: Setup, slope: float) -> Interval | None:
    """What reading one more token of KV cache takes / the slope, ms per token."""
    each = geometry.kv_from_geometry(setup.model, 1)
    speeds = setup.bandwidths(None)
    known = [s for s in speeds if s is not None]
    if each is None or not known or len(known) < len(speeds) or slope <= 0:
        return None
    return hardware.read_time_s(each, setup.devices, known, setup.split) * 1e3 / slope


def _left(setup: Setup, slope: float) -> float | None:
    share = _share(setup, slope)
    return 1 - share.mid if share is not None else None


def _reading(setup: Setup, slope: float) -> list[str]:
    share = _share(setup, slope)
    if share is None:
        return []
    return [f"reading the KV cache accounts for {show(100 * share, 3)} % of the slope"]


def line_through(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """(intercept, slope) of least squares through two points or more with different x."""
    n = len(points)
    mean_x = math.fsum(x for x, _ in points) / n
    mean_y = math.fsum(y for _, y in points) / n
    spread = math.fsum((x - mean_x) ** 2 for x, _ in points)
    slope = math.fsum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    return mean_y - slope * mean_x, slope
