"""burst: is traffic, or the coming of tokens, steady, or do a few samples carry it?

Needs: the samples of a counter; or mean and median of the times between tokens.

Division: peak / mean; beside it mean / median and Fano = variance / mean of the samples. Of times
between tokens: mean / median.

Readings
  bursty   peak / mean > 3: only the mean (total / time) may be used; a median reads near zero and
           makes any ratio with it meaningless. Of times between tokens mean / median > 2: the long
           half of them takes three quarters of the time or more, decoding stalls now and then
  steady   otherwise

Silent when: fewer than four samples; all of them zero.

Value: peak / mean; of times between tokens mean / median. Source: definitions; the Fano factor
depends on the length of a sample.
"""

from __future__ import annotations

import math

from benchspec.judge.case import Case, measured
from benchspec.judge.channels import TRAFFIC, Channel, finite
from benchspec.judge.checks.sampling import missing_samples
from benchspec.judge.interval import show
from benchspec.judge.lines import Line, attempt, lacking, not_applicable, over_repeats
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Series, Step
from benchspec.observations.quantiles import median

NAME = "burst"
READINGS = ("steady", "bursty")
NEEDS = "the samples of a counter, or mean and median of the times between tokens"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per link counter, device and place of which the samples are known, and per step
    of which mean and median time between tokens are."""
    found = case.channels(*TRAFFIC)
    return [
        *(
            over_repeats([_judge(channel, s) for s in channel.raw], worst="bursty")
            for channel in found
            if all(finite(s) for s in channel.raw)
        ),
        *_waits(case),
    ]


def _waits(case: Case) -> list[CheckResult]:
    """Times between tokens of which mean and median are known: do a few long ones carry the mean?"""

    def divide(line: Line, step: Step) -> CheckResult:
        gaps = step.itl_ms
        if gaps is None or gaps.mean is None or not gaps.p50 or gaps.p50 < 0:
            raise not_applicable("mean and median of the times between tokens are not known")
        ratio = gaps.mean / gaps.p50
        stalls = ratio > limit("burst.stall")
        return line.judged(
            "bursty" if stalls else "steady",
            f"mean / median = {show(gaps.mean)} / {show(gaps.p50)} ms between tokens = "
            f"{show(ratio, 3)}",
            ratio,
            "ratio",
            inputs=[
                measured("mean", gaps.mean, "ms", step),
                measured("median", gaps.p50, "ms", step),
            ],
            caveats=[
                "a few long waits carry the mean (decoding stalls, as behind prompts of others): "
                "neither figure is the time of a token"
            ]
            if stalls
            else [],
        )

    also = {"figure": "itl_ms"}
    found = case.per_repeat(NAME, divide, worst="bursty", also=also)
    return [r for r in found if r.state != "not-applicable"]


def _judge(channel: Channel, series: Series) -> CheckResult:
    at = {**channel.at, "counter": channel.counter}
    line = Line(NAME, channel.arm, at | ({"device": channel.device} if channel.device else {}))
    return attempt(line, lambda: _divide(line, series, channel.sampled))


def _divide(line: Line, series: Series, seen: str | None) -> CheckResult:
    """`seen` is how a counter was sampled that does not see all of the time."""
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
            Input(
                name=name,
                value=value,
                unit=series.unit,
                provenance=series.provenance,
                source=seen,
            )
            for name, value in (("mean", mean), ("median", middle))
        ],
        caveats=[gap] if gap else [],
    )
