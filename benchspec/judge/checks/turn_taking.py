"""turn-taking: do the devices of a layer split work one after the other?

Needs: the utilisation of every device over the same ten windows or more, wholly inside one phase.

Division: U = sum over devices of mean utilisation [%]; each device against 100 % x its share. One
sequence in a layer split keeps one device busy at a time, so U is 100 and a card reads 100 % x its
share: 33 % on three cards is what they must read, and says nothing about headroom.

Readings
  idle-together     U < 80 %: 100 - U is time in which nobody works (host, launches, links)
  taking-turns      80-110 %, the split being by layers or a pipeline
  consistent-with   80-110 % where the split is not known: n cards busy together 1/n of the time give
                    the same sum, and the same picture at one sample a second
  partial           110-150 %
  concurrent        > 150 %

Silent when: fewer than two devices or ten windows; a tensor split (waiting in a collective reads as
busy). Prefill is judged apart from decode: a layer split pipelines its micro-batches there.

Value: U in %. Source: NVML counts the share of a period in which any kernel ran. Proof is an uneven
split (60/20/20 must read 60/20/20) or another number of cards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchspec.judge.case import Case
from benchspec.judge.channels import Channel, by_place, finite
from benchspec.judge.hardware import shares
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, attempt, lacking, not_applicable
from benchspec.judge.result import CheckResult
from benchspec.judge.thresholds import limit

NAME = "turn-taking"
READINGS = ("taking-turns", "idle-together", "partial", "concurrent", "consistent-with")
NEEDS = "utilisation of two devices or more over the same ten windows"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per arm and phase with a utilisation counter of several devices."""
    groups = by_place(case.channels("utilization"))
    return [_judge(case, group) for group in groups.values() if len(group) > 1]


def _judge(case: Case, group: Sequence[Channel]) -> CheckResult:
    line = Line(NAME, group[0].arm, group[0].at)
    return attempt(line, lambda: _add_up(case, line, group))


def _add_up(case: Case, line: Line, group: Sequence[Channel]) -> CheckResult:
    split = case.setup(line.arm or "").split
    windows = min(c.windows for c in group)
    counted = all(c.counts for c in group)
    if counted and windows < limit("sampling.windows"):
        raise lacking(f"10 windows of every device; there are {windows}")
    if split == "tensor":
        raise not_applicable("in a tensor split, waiting in a collective reads as busy")
    total = sum((c.middle for c in group), Interval(0.0, 0.0))
    parts = " + ".join(show(c.middle) for c in group)
    return line.judged(
        _read(total.mid, split),
        f"{parts} = {show(total)} % of one device's time{_tolerance(group)}{_fit(case, group)}",
        total,
        "%",
        inputs=[c.as_input() for c in group],
        quotable="yes" if counted else "order-of-magnitude",
        caveats=_caveats(total.mid, split, len(group))
        + ([] if counted else ["how many samples the means are of is not said"]),
    )


def _read(total: float, split: str | None) -> str:
    if total < limit("turns.idle"):
        return "idle-together"
    if total <= limit("turns.taking"):
        return "taking-turns" if split in ("layer", "pipeline") else "consistent-with"
    return "partial" if total <= limit("turns.partial") else "concurrent"


def _tolerance(group: Sequence[Channel]) -> str:
    """Two standard errors of the sum, where the windows themselves are known."""
    rows = [[v for s in c.raw for v in finite(s)] for c in group]
    if len({len(row) for row in rows}) != 1 or len(rows[0]) < 2:
        return ""
    sums = [math.fsum(column) for column in zip(*rows, strict=True)]
    mean = math.fsum(sums) / len(sums)
    sd = math.sqrt(math.fsum((x - mean) ** 2 for x in sums) / (len(sums) - 1))
    return f" (two standard errors {show(2 * sd / math.sqrt(len(sums)), 2)})"


def _fit(case: Case, group: Sequence[Channel]) -> str:
    """Each device against its share of the layers."""
    devices = {d.id: d for d in case.setup(group[0].arm or "").devices}
    mine = [devices[c.device] for c in group if c.device in devices]
    parts, stated = shares(mine) if len(mine) == len(group) else ([], False)
    if not stated:
        return ""
    off = max(abs(c.middle.mid - 100 * p.mid) for c, p in zip(group, parts, strict=True))
    expected = " / ".join(show(100 * p.mid, 3) for p in parts)
    words = "each as its share" if off <= limit("turns.share") else "not as their shares"
    return f"; shares {expected} %: {words}, at most {show(off, 2)} points off"


def _caveats(total: float, split: str | None, count: int) -> list[str]:
    if total < limit("turns.idle"):
        return [f"{show(100 - total, 3)} % of the time no device works"]
    if total > limit("turns.taking"):
        return []
    caveats = [f"a share of {show(100 / count, 3)} % per device says nothing about headroom"]
    if split not in ("layer", "pipeline"):
        caveats.append("the split is not known: an uneven one, or another number, would prove it")
    return caveats
