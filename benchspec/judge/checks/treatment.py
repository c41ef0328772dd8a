"""treatment: did the setting that was varied ever bind?

Needs: a limit and the most that was used of it: a power limit and the draw, slots and the requests
in flight.

Division: used / limit. Slots count where two arms that are compared differ in them, against the
largest step.

Readings
  binds         95 % of the limit or more was used
  never-binds   less: arms that differ in it are the same arm, and their difference is noise

Silent when: no limit and use are known.

Value: used / limit. Source: definition: what never binds was not treated.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchspec.judge.case import Case
from benchspec.judge.checks.identity import pairs
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
    """One result per stated limit, per power limit of a device, and per arm compared by its slots."""
    stated = [*case.observations.limits, *_power(case)]
    return [*(_judge(one, {}) for one in stated), *_slots(case)]


def _judge(one: Limit, at: dict[str, str]) -> CheckResult:
    line = Line(NAME, one.arm, {"name": one.name, **at})
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


def _slots(case: Case) -> Iterator[CheckResult]:
    """Arms that are compared and differ in their slots, against the most requests they were sent."""
    for pair in pairs(case):
        known = [slots for arm in pair if (slots := case.stated_slots(arm)) is not None]
        if len({slots.count for slots in known}) < 2:
            continue
        for arm, other, slots in zip(pair, reversed(pair), known, strict=True):
            sent = [s.concurrency for s in case.of_arm(arm) if s.concurrency]
            if sent:
                used = min(max(sent), slots.count)
                bound = Limit(name="slots", arm=arm, limit=slots.count, used=used, unit="requests")
                yield _judge(bound, {"against": other})


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
