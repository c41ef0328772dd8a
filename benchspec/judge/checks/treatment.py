"""treatment: did the setting that was varied ever bind?

Needs: a limit and the most that was used of it: a power limit and the draw, slots and the requests
in flight.

Division: used / limit. Slots of arms that differ in them only count against the largest step.

Readings
  binds         95 % of the limit or more was used
  never-binds   less: arms that differ in it are the same arm, and their difference is noise

Silent when: no limit and use are known.

Value: used / limit. Source: definition: what never binds was not treated.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchspec.judge.case import Case
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, attempt, invalid
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Limit

NAME = "treatment"
READINGS = ("binds", "never-binds")
NEEDS = "a limit that was set and the most that was used of it"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per stated limit, per power limit of a device, and per arm whose slots differ."""
    every = [*case.observations.limits, *_slots(case), *_power(case)]
    return [_judge(one) for one in every]


def _judge(one: Limit) -> CheckResult:
    line = Line(NAME, one.arm, {"name": one.name})
    return attempt(line, lambda: _divide(line, one), one)


def _divide(line: Line, one: Limit) -> CheckResult:
    bound, used = Interval.of(one.limit), Interval.of(one.used)
    if bound.low <= 0 or used.low < 0:
        raise invalid("a limit, or its use, is not above zero")
    share = used / bound
    unit = f" {one.unit}" if one.unit else ""
    idle = share.high < limit("treatment.binds")
    return line.judged(
        "never-binds" if idle else "binds",
        f"{one.name}: {show(used)}{unit} used / {show(bound)}{unit} allowed = {show(share)}",
        share,
        "ratio",
        inputs=[
            Input(name="limit", value=bound.number, unit=one.unit, provenance="declared"),
            Input(name="used", value=used.number, unit=one.unit, provenance=one.provenance),
        ],
        caveats=["another value of it would have been the same test"] if idle else [],
    )


def _slots(case: Case) -> Iterator[Limit]:
    """Arms that differ in their slots, against the most requests that they were sent."""
    known = {arm: s for arm in case.arm_ids if (s := case.stated_slots(arm)) is not None}
    if len({s.count for s in known.values()}) < 2:
        return
    for arm, slots in known.items():
        sent = [p.concurrency for p in case.places if p.arm == arm and p.concurrency]
        if sent:
            used = min(max(sent), slots.count)
            yield Limit(name="slots", arm=arm, limit=slots.count, used=used, unit="requests")


def _power(case: Case) -> Iterator[Limit]:
    """Devices with a declared power limit, against the highest mean draw of a repeat."""
    for channel in case.channels("power"):
        devices = {d.id: d for d in case.setup(channel.arm or "").devices}
        device = devices.get(channel.device or "")
        if device is None or device.power_limit is None or channel.unit != "W":
            continue
        place = " ".join(f"{k}={v}" for k, v in channel.at.items())
        yield Limit(
            name=f"power {device.id} {place}".strip(),
            arm=channel.arm,
            limit=Interval.of(device.power_limit).mid,
            used=channel.range.high,
            unit="W",
        )
