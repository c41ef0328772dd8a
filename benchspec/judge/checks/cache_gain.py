"""cache-gain: is what a prefix cache brought bounded by the time that prompts took?

Needs: the share of hits and the throughput with the cache / without; the share of the time that
prompts took without it, where it is known.

Division: hits save at most their share h of the prompts' time p, so gain <= 1 / (1 - h p). Turned
round: p = (1 - 1 / gain) / h, the prompts' share that the gain speaks of.

Readings
  bounded   the gain fits: a high share of hits brings little where prompts take little time
  above     more than the bound: something else changed too

Silent when: no share of hits and gain are known.

Value: p, the prompts' share of the time. Source: Amdahl (1967).
"""

from __future__ import annotations

from benchspec.judge.case import Case
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, attempt, invalid
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Caching

NAME = "cache-gain"
READINGS = ("bounded", "above")
NEEDS = "the share of cache hits and the throughput with and without the cache"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per gain that is stated."""
    return [_judge(one) for one in case.observations.caching]


def _judge(one: Caching) -> CheckResult:
    line = Line(NAME, one.arm, {"name": one.name})
    return attempt(line, lambda: _divide(line, one), one)


def _divide(line: Line, one: Caching) -> CheckResult:
    hits, gain = Interval.of(one.hit_rate), Interval.of(one.gain)
    if gain.low <= 0 or not 0 < hits.low <= hits.high <= 1:
        raise invalid("a gain is above zero, and a share of hits between 0 and 1")
    share = (1 - 1 / gain) / hits
    text = (
        f"(1 - 1 / {show(gain)}) / {show(hits)} = {show(100 * share, 3)} % of the time is prompts"
    )
    above = share.low > 1
    if one.prefill_share is not None:
        known = Interval.of(one.prefill_share)
        bound = 1 / (1 - hits * known)
        above = gain.low > bound.high * (1 + limit("repeats.stable"))
        text += f"; at {show(100 * known, 3)} % it could be {show(bound)} at most"
    return line.judged(
        "above" if above else "bounded",
        text,
        share,
        "ratio",
        inputs=[
            Input(name="hits", value=hits.number, unit="ratio"),
            Input(name="gain", value=gain.number, unit="ratio"),
        ],
    )
