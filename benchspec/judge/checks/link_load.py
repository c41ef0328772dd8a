"""link-load: what share of a link's capacity is in use?

Needs: the mean of a link counter (MB/s, one direction) and the link's capacity per direction: of
PCIe from the lowest generation and width that were sampled beside it (a card lowers both when idle, and
a slot may give fewer than the card has), else as stated, else by its generation and lanes, else as
`benchspec probe` copied over it.

Division: mean [MB/s] / capacity [MB/s], the theoretical one; beside it against 0.85 of that, what
packet headers leave for payload. Beside that the bound on a faster link: the time that the transfers
would take, t = rx / capacity + tx / capacity if they are serial (the larger one on a full-duplex
link); a link m times as fast gains at most 1 / (1 - t (1 - 1/m)).

Readings
  fraction     of the capacity. Never "not the bottleneck": load says nothing about time unless the
               transfers are known to overlap
  impossible   above 1: not the link of that name

A polled counter that looks for less than the interval says so (sampled: 20 ms every 200 ms); the
check sampling says what that allows.

Silent when: no capacity is known. A counter that answered N/A is not measured, never zero.

Value: the share in this direction, mean over the devices. Source: PCIe transfer rates; NVML counts
headers with the payload.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchspec.judge.case import Case
from benchspec.judge.channels import TRAFFIC, Channel, by_place, finite, mean_of
from benchspec.judge.checks.sampling import quotable
from benchspec.judge.hardware import Known, as_input, gb, pcie, slowest
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, attempt, lacking
from benchspec.judge.result import CheckResult, Quotable
from benchspec.judge.thresholds import limit

NAME = "link-load"
READINGS = ("fraction", "impossible")
NEEDS = "the mean of a link counter and the link's capacity"
RATE = False

_ORDER: tuple[Quotable, ...] = ("yes", "bound", "order-of-magnitude", "no")


def check(case: Case) -> list[CheckResult]:
    """One result per arm, phase and direction."""
    groups = by_place([c for c in case.channels(*TRAFFIC) if c.unit == "MB/s"])
    return [_judge(case, group) for group in groups.values()]


def _judge(case: Case, group: Sequence[Channel]) -> CheckResult:
    line = Line(NAME, group[0].arm, {**group[0].at, "counter": group[0].counter})
    return attempt(line, lambda: _divide(case, line, group))


def _divide(case: Case, line: Line, group: Sequence[Channel]) -> CheckResult:
    first = group[0]
    kind = first.counter.split("-", maxsplit=1)[0]
    links = [k for k in case.spec.hardware.links if k.kind == kind]
    copied = case.setup(line.arm or "").copied
    declared = slowest(links, measured_first=False, copied=copied)
    sampled = _sampled(case, first) if kind == "pcie" else None
    link = sampled or declared
    if link is None:
        raise lacking(f"the capacity of the {kind} link")
    capacity = link[0] * 1e-6
    mean, _ = mean_of(group)
    share = mean / capacity
    busiest = max(group, key=lambda c: c.middle.mid)
    largest = busiest.range.high / capacity.mid
    peak = any(s.statistic == "max" for c in group for s in c.raw)
    payload = share / limit("link.payload")
    gaps = "".join(f"; {said}" for said in dict.fromkeys(c.sampled for c in group) if said)
    return line.judged(
        "impossible" if share.low > 1 else "fraction",
        f"{show(mean)} / {show(capacity, 5)} MB/s = {show(100 * share, 2)} % "
        f"({show(100 * payload, 2)} % of payload capacity); busiest device "
        f"{show(busiest.middle)} = {show(100 * busiest.middle / capacity, 2)} %, largest repeat "
        f"{show(100 * largest, 2)} %{_gain(case, first, mean, capacity)}{gaps}",
        share,
        "ratio",
        inputs=[*(c.as_input() for c in group), as_input("capacity", link[0], "B/s", *link[1:])],
        quotable=max((quotable(c) for c in group), key=_ORDER.index),
        caveats=[
            *(["the highest sample, not the mean: the load is at most that"] if peak else []),
            *_other_than(declared, sampled),
            "a load is no share of time: whether transfers overlap is not known",
        ],
    )


def _sampled(case: Case, first: Channel) -> Known | None:
    """What the lowest generation and width give that were sampled at the place of `first`; of several
    devices the slowest counts."""
    lowest: dict[str, dict[str | None, int]] = {"pcie-gen": {}, "pcie-lanes": {}}
    for channel in case.channels(*lowest):
        if (channel.arm, channel.at) == (first.arm, first.at):
            values = [v for s in channel.raw for v in finite(s)] or [channel.range.low]
            lowest[channel.counter][channel.device] = int(min(values))
    both = [
        pcie(generation, lowest["pcie-lanes"][device])
        for device, generation in lowest["pcie-gen"].items()
        if lowest["pcie-lanes"].get(device, 0) > 0
    ]
    known = min((k for k in both if k is not None), key=lambda k: k[0].low, default=None)
    return None if known is None else (known[0], "measured", f"sampled: {known[2]}")


def _other_than(declared: Known | None, sampled: Known | None) -> list[str]:
    """That the link was sampled to be another than it is declared to be."""
    if declared is None or sampled is None or declared[1] == "measured":
        return []
    ratio, most = (sampled[0] / declared[0]).mid, limit("ceiling.impossible")
    if 1 / most <= ratio <= most:
        return []
    both = f"declared {declared[2]} ({gb(declared[0])} GB/s), {sampled[2]} ({gb(sampled[0])} GB/s)"
    return [f"{both}: what was sampled counts"]


def _gain(case: Case, first: Channel, mean: Interval, capacity: Interval) -> str:
    """Upper bound on what a link twice as fast would gain, from both directions."""
    name, direction = first.counter.rsplit("-", maxsplit=1)
    other = f"{name}-{'tx' if direction == 'rx' else 'rx'}"
    back = [c for c in case.channels(other) if (c.arm, c.at) == (first.arm, first.at)]
    if not back:
        return ""
    links = [k for k in case.spec.hardware.links if k.kind == name]
    full = bool(links) and all(k.duplex == "full" for k in links)
    opposite = mean_of(back)[0]
    busy = (max(mean.mid, opposite.mid) if full else (mean + opposite).mid) / capacity.mid
    if busy >= 1:
        return ""
    words = "the larger direction" if full else "both directions in series"
    return (
        f"; {words} {show(100 * busy, 3)} % of the time at most, so a link twice as fast gains at "
        f"most {show(math.ceil(100 / (1 - busy / 2)) / 100)} x"
    )
