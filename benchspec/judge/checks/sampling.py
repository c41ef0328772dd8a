"""sampling: can these samples show what is asked of them?

Needs: a counter's samples, their interval, and for a polled counter how long one sample looks.

Two questions, two results.
Shape (do the devices alternate): the interval [ms] must be at most half the time of one turn, which
is time per token [ms] / number of devices. Mean: standard error of the mean / mean; number of
windows; coverage = window / interval of a counter that looks for less than the interval; spread =
range over repeats / median. Division for shape: interval / (time per token / 2n).

Readings
  adequate             shape: the interval is short enough. Mean: ten windows, standard error of at
                       most 10 %, spread of at most 15 %
  order-of-magnitude   four to nine windows; or spread above 15 % (above 50 %: not quotable); or
                       coverage below 0.1 of a bursty series (a steady one is fine)
  blind                shape: the interval is longer than half a turn, so rising and falling together
                       is evidence of nothing

Silent when: fewer than four windows in a repeat; for shape, no interval or no time per token.

Value: shape, the longest interval that would do, in ms; mean, standard error / mean where the
samples are known, else the spread. Source: sampling theorem; standard error of a mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchspec.judge import figures
from benchspec.judge.case import Case
from benchspec.judge.channels import TRAFFIC, Channel, by_place, finite
from benchspec.judge.interval import show
from benchspec.judge.lines import Line, by_spread, lacking
from benchspec.judge.result import CheckResult, Quotable
from benchspec.judge.thresholds import limit

NAME = "sampling"
READINGS = ("adequate", "order-of-magnitude", "blind")
NEEDS = "the samples of a counter and their interval"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per channel for the mean, one per place for the shape of utilisation."""
    found = case.channels("utilization", *TRAFFIC)
    shapes = by_place([c for c in found if c.counter == "utilization"])
    return [
        *(_mean(c) for c in found),
        *(_shape(case, group) for group in shapes.values() if len(group) > 1),
    ]


def _shape(case: Case, group: Sequence[Channel]) -> CheckResult:
    first = group[0]
    line = Line(NAME, first.arm, {**first.at, "counter": first.counter, "question": "shape"})
    interval_s = max((s.interval_s or 0.0 for c in group for s in c.raw), default=0.0)
    token_ms = _token_ms(case, first)
    if not interval_s or not token_ms:
        return line.silent(lacking("the sampling interval and the time per token"))
    needed = token_ms / (2 * len(group))
    turns = 1e3 * interval_s / token_ms
    return line.judged(
        "adequate" if 1e3 * interval_s <= needed else "blind",
        f"{show(token_ms)} ms / (2 x {len(group)}) = {show(needed, 2)} ms; sampled every "
        f"{show(1e3 * interval_s)} ms = {show(turns, 3)} rotations per sample{_gaps(group)}",
        needed,
        "ms",
        inputs=[c.as_input() for c in group],
    )


def _gaps(group: Sequence[Channel]) -> str:
    """What a sample saw, where it did not see the whole interval."""
    return "".join(f"; {said}" for said in dict.fromkeys(c.sampled for c in group) if said)


def _token_ms(case: Case, channel: Channel) -> float | None:
    """Time per token of the arm, at the channel's concurrency or at one stream."""
    wanted = channel.at.get("concurrency", 1)
    for place in case.places:
        if place.arm == channel.arm and place.concurrency == wanted:
            for step in case.steps(place):
                time = figures.step_ms(step)
                if time is not None and not case.defect(step):
                    return time.mid
    return None


def _mean(channel: Channel) -> CheckResult:
    at = {**channel.at, "counter": channel.counter, "question": "mean"}
    line = Line(NAME, channel.arm, at | ({"device": channel.device} if channel.device else {}))
    if not channel.counts:
        return line.silent(lacking("how many samples the mean is of"))
    if channel.windows < limit("sampling.few"):
        return line.silent(lacking(f"4 samples in every repeat; one has {channel.windows}"))
    error, spread, covered = _error(channel), channel.spread, channel.coverage
    reading = "adequate" if quotable(channel) == "yes" else "order-of-magnitude"
    words = [f"{'/'.join(str(n) for n in channel.counts)} samples"]
    if error is not None:
        words.append(
            f"standard error / mean = {show(error * channel.middle.mid)} / "
            f"{show(channel.middle.mid)} = {show(100 * error, 2)} %"
        )
    if spread is not None and channel.range.low != channel.range.high:
        words.append(f"range over repeats / median = {show(100 * spread, 3)} %")
    if covered is not None:
        gaps = f" ({channel.sampled})" if channel.sampled else ""
        words.append(f"coverage {show(covered, 3)}{gaps}")
    return line.judged(
        reading,
        ", ".join(words),
        error if error is not None else (spread or None),
        "ratio",
        inputs=[channel.as_input()],
        quotable=quotable(channel),
        caveats=[text for s in channel.raw if (text := missing_samples(s.duration_s, s))],
    )


def quotable(channel: Channel) -> Quotable:
    """What the samples of a channel allow for its mean."""
    if channel.windows < limit("sampling.few"):
        return "no"
    spread = channel.range.high - channel.range.low
    word = by_spread(spread, channel.middle.mid)
    if word != "yes":
        return word
    error, covered = _error(channel), channel.coverage
    blinking = covered is not None and covered < limit("sampling.coverage") and bursty(channel)
    inexact = error is not None and error > limit("sampling.error")
    few = channel.windows < limit("sampling.windows")
    return "order-of-magnitude" if few or inexact or blinking else "yes"


def bursty(channel: Channel) -> bool:
    """Whether a few samples carry the mean."""
    return any(
        max(values) > limit("burst.peak") * math.fsum(values) / len(values)
        for s in channel.raw
        if (values := finite(s)) and math.fsum(values) > 0
    )


def missing_samples(duration_s: float | None, series: object) -> str | None:
    """How many samples a series lacks for its duration, as a caveat."""
    interval_s, values = getattr(series, "interval_s", None), getattr(series, "values", [])
    got = sum(v is not None for v in values)
    if not duration_s or not interval_s or not got:
        return None
    due = round(duration_s / interval_s)
    return f"{got} samples over {due} intervals: {due - got} missing" if got < due else None


def _error(channel: Channel) -> float | None:
    """Standard error of the mean / mean, of the largest repeat's samples."""
    errors = []
    for series in channel.raw:
        values = finite(series)
        mean = math.fsum(values) / len(values) if values else 0.0
        if len(values) < 2 or mean == 0:
            continue
        sd = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))
        errors.append(sd / math.sqrt(len(values)) / abs(mean))
    return max(errors, default=None)
