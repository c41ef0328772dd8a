"""placement: is the work done where it was put, or in slower memory, or on the processor?

Needs: utilisation of a device and of its memory, and how much of its memory is used; or the prefill
rate of an arm and of its control with the same model on the same devices.

Division: memory used / memory of the device; utilisation of the memory against that of the device;
prefill rate of the control / of the arm.

Readings
  spilled     busy (80 % or more) while its memory is read under 10 % of the time, and 97 % of it or
              more is full: the rest lies in the host's memory, and no log says so
  starved     the same, and it is not full (or nobody says): it waits for another memory, or for the
              processor
  fell-back   prefill at a fifth of the control or less, the same model on the same devices, and the
              arms differ in nothing but what chooses a kernel (cache types, attention, build): a
              part of the work has no kernel there and runs on the processor
  on-device   none of these

Silent when: no such pair of counters and no such pair of arms is known; prefill is that slow and the
arms differ in something else (a limit, a split), which may be why.

Value: for counters the utilisation of the memory in %, for arms the ratio of the rates.
Source: prefill is bound by arithmetic, which no setting of a cache makes five times as much;
decoding reads memory all the time.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchspec.judge import metrics
from benchspec.judge.case import Case
from benchspec.judge.channels import Channel
from benchspec.judge.checks.identity import axes_between
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line
from benchspec.judge.place import Place
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.thresholds import limit
from benchspec.observations.quantiles import median

NAME = "placement"
READINGS = ("spilled", "starved", "fell-back", "on-device")
NEEDS = "utilisation of a device and of its memory, or prefill rates of an arm and its control"
RATE = False

_KERNELS = {"kv", "compute", "engine", "build", "attention"}
"""Axes of `identity` that choose a kernel; a power cap or another split slows prefill by itself."""

_MIB = {"MiB": 2**20, "GiB": 2**30, "MB": 1e6, "GB": 1e9}


def check(case: Case) -> list[CheckResult]:
    """One result per device with both counters, one per arm and control with prefill rates."""
    return [*_by_counters(case), *_by_prefill(case)]


def _by_counters(case: Case) -> Iterator[CheckResult]:
    reads = {_spot(c): c for c in case.channels("utilization-memory")}
    for busy in case.channels("utilization"):
        memory = reads.get(_spot(busy))
        if memory is not None and busy.at.get("phase") != "prefill":
            yield _judge(case, busy, memory)


def _spot(channel: Channel) -> tuple[object, ...]:
    return (channel.arm, channel.device, *sorted(channel.at.items()))


def _judge(case: Case, busy: Channel, memory: Channel) -> CheckResult:
    full = _full(case, busy)
    idle = busy.middle.low >= limit("placement.busy") and memory.middle.high < limit(
        "placement.reading"
    )
    filled = full is not None and full.mid >= limit("placement.full")
    text = f"busy {show(busy.middle)} %, its memory {show(memory.middle)} % of the time"
    text += f", {show(100 * full, 3)} % of it used" if full is not None else ""
    at = {**busy.at, "device": busy.device}
    return Line(NAME, busy.arm, {k: v for k, v in at.items() if v is not None}).judged(
        ("spilled" if filled else "starved") if idle else "on-device",
        text,
        memory.middle,
        "%",
        inputs=[busy.as_input(), memory.as_input()],
        caveats=_fullness(idle, full, filled),
    )


def _fullness(idle: bool, full: Interval | None, filled: bool) -> list[str]:
    if idle and full is None:
        return ["how full its memory is, is not known: it may have spilled"]
    return ["its memory is full: a little more and it spills"] if filled and not idle else []


def _full(case: Case, busy: Channel) -> Interval | None:
    devices = {d.id: d for d in case.setup(busy.arm or "").devices}
    device = devices.get(busy.device or "")
    used = [
        c
        for c in case.channels("memory-used")
        if (c.arm, c.device) == (busy.arm, busy.device) and c.unit in _MIB
    ]
    if device is None or device.memory is None or not used:
        return None
    return used[0].middle * _MIB[used[0].unit] / Interval.of(device.memory)


def _by_prefill(case: Case) -> Iterator[CheckResult]:
    for place in case.places:
        for control in case.controls(place.arm):
            mine, theirs = case.setup(place.arm), case.setup(control)
            other = Place(**{**place.__dict__, "arm": control})
            rates = [_prefill(case, p) for p in (place, other)]
            same = mine.model == theirs.model and mine.devices == theirs.devices
            if same and rates[0] and rates[1] and min(rates[0], rates[1]) > 0:
                result = _compare(place, control, rates[0], rates[1])
                if result.reading != "fell-back" or _kernels_alone(case, place.arm, control):
                    yield result


def _kernels_alone(case: Case, arm: str, control: str) -> bool:
    """Whether two arms differ in nothing but what chooses a kernel."""
    return axes_between(case, arm, control).keys() <= _KERNELS


def _prefill(case: Case, place: Place) -> float | None:
    read = metrics.METRICS["prefill_tok_s"].whole
    values = [v.mid for s in case.sound(place) if (v := read(s)) is not None]
    return median(values) if values else None


def _compare(place: Place, control: str, ours: float, theirs: float) -> CheckResult:
    ratio = theirs / ours
    slow = ratio >= limit("placement.fallback")
    return Line(NAME, place.arm, {**place.at, "against": control}).judged(
        "fell-back" if slow else "on-device",
        f"prefill of {control} {show(theirs)} / {show(ours)} tok/s = {show(ratio)}",
        ratio,
        "ratio",
        inputs=[
            Input(name=f"prefill, {control}", value=theirs, unit="tok/s"),
            Input(name="prefill", value=ours, unit="tok/s"),
        ],
    )
