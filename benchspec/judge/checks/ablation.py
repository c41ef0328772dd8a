"""ablation: what is left when a part is taken out?

Needs: the whole time and the time without each of two parts, in ms.

Division: common part >= a + b - full, where a and b are the times without one part each; its share
is that / full. If the parts ran one after the other and were all there is, the two times would add
up to the whole.

Readings
  accounted     at most 10 % of the whole belongs to neither part
  unexplained   more does: the limit is in what both versions share

Silent when: fewer than two parts were taken out; a time without a part exceeds the whole.

Value: the common part in ms. Source: inclusion and exclusion of two intervals of time.
"""

from __future__ import annotations

from itertools import combinations

from benchspec.judge.case import Case
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, attempt, invalid, lacking
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Ablation

NAME = "ablation"
READINGS = ("accounted", "unexplained")
NEEDS = "a time, and the same without each of two parts"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per pair of parts."""
    found = []
    for ablation in case.observations.ablations:
        pairs = list(combinations(ablation.without, 2)) or [("", "")]
        found += [_judge(ablation, pair) for pair in pairs]
    return found


def _judge(ablation: Ablation, pair: tuple[str, str]) -> CheckResult:
    line = Line(NAME, ablation.arm, {"name": ablation.name})
    return attempt(line, lambda: _divide(line, ablation, pair), ablation)


def _divide(line: Line, ablation: Ablation, pair: tuple[str, str]) -> CheckResult:
    full = Interval.of(ablation.full_ms)
    if not all(pair):
        raise lacking("the time without each of two parts")
    a, b = (Interval.of(ablation.without[name]) for name in pair)
    if full.low <= 0 or max(a.low, b.low) > full.high:
        raise invalid("without a part it takes longer than with it")
    common = a + b - full
    share = common.mid / full.mid
    return line.judged(
        "unexplained" if share > limit("unfinished.remainder") else "accounted",
        f"{show(a)} without {pair[0]} + {show(b)} without {pair[1]} - {show(full)} = at least "
        f"{show(common, 3)} ms, {show(100 * share, 2)} % of the whole, belongs to neither",
        common,
        "ms",
        inputs=[
            Input(name=name, value=v.number, unit="ms")
            for name, v in (("full", full), (f"without {pair[0]}", a), (f"without {pair[1]}", b))
        ],
        quotable="bound",
    ).model_copy(update={"remainder": max(0.0, share)})
