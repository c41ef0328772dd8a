"""burst: is a counter's traffic steady, or do a few samples carry it?

Needs: the samples of a counter.

Division: peak / mean; beside it mean / median and Fano = variance / mean of the samples.

Readings
  bursty   peak / mean > 3: only the mean (total / time) may be used; a median reads near zero and
           makes any ratio with it meaningless
  steady   otherwise

Silent when: fewer than four samples; all of them zero.

Value: peak / mean. Source: definitions; the Fano factor depends on the length of a sample.
"""

from __future__ import annotations

import math

from benchspec.judge.case import Case
from benchspec.judge.channels import TRAFFIC, Channel, finite
from benchspec.judge.checks.sampling import missing_samples
from benchspec.judge.interval import show
from benchspec.judge.lines import Line, attempt, lacking, over_repeats
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Series
from benchspec.observations.quantiles import median

NAME = "burst"
READINGS = ("steady", "bursty")
NEEDS = "the samples of a counter"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per link counter, device and place of which the samples are known."""
    found = case.channels(*TRAFFIC)
    return [
        over_repeats([_judge(channel, s) for s in channel.raw], worst="bursty")
        for channel in found
        if all(finite(s) for s in channel.raw)
    ]


def _judge(channel: Channel, series: Series) -> CheckResult:
    at = {**channel.at, "counter": channel.counter}
    line = Line(NAME, channel.arm, at | ({"device": channel.device} if channel.device else {}))
    return attempt(line, lambda: _divide(line, series))


def _divide(line: Line, series: Series) -> CheckResult:
    values = finite(series)
    mean, middle = math.fsum(values) / len(values), median(values)
    if len(values) < limit("sampling.few"):
        raise lacking(f"4 samples; there are {len(values)}")
    if mean <= 0:
        raise lacking("a sample above zero")
    peak = max(values) / mean
    fano = math.fsum((v - mean) ** 2 for v in values) / len(values) / mean
    over_median = f"mean / median = {show(mean / middle, 3)}" if middle > 0 else "median is zero"
    gap = missing_samples(series.duration_s, series)
    return line.judged(
        "bursty" if peak > limit("burst.peak") else "steady",
        f"peak / mean = {show(max(values))} / {show(mean, 5)} = {show(peak, 3)}; "
        f"{over_median}; variance / mean = {show(fano, 3)}",
        peak,
        "ratio",
        inputs=[
            Input(name="mean", value=mean, unit=series.unit, provenance=series.provenance),
            Input(name="median", value=middle, unit=series.unit, provenance=series.provenance),
        ],
        caveats=[gap] if gap else [],
    )
