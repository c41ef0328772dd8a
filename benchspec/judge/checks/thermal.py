"""thermal: did the devices keep their clocks?

Needs: clock (MHz) over the measured window, or throttle reasons; or the seconds of many
equal jobs in order.

Division: mean clock of the rest of the window / of its first tenth (of few samples, the first one);
mean clock / that of the fastest device of the same model; clock / the most that the device's driver
says it can do, which is shown and gives no reading (no card holds its highest boost under load);
seconds of the last third of the jobs / of the first third, and beside them those of the first job,
which a cold device did.

Readings
  throttled      clock < 0.95 of its own beginning or < 0.93 of a peer, or a thermal reason was set
  power-capped   the reason was a power cap, no thermal one; where the memory's clock is known and
                 keeps up (0.95 of its maximum, or of its own beginning where none is known),
                 decoding, which memory bounds, hardly feels it
  ramping        the clock rose above 1.05 of its own beginning: the device stood idle before, and the
                 first requests paid for it
  not-steady     no clock is known and the jobs slow down (or speed up) by more than 3 %
  steady         none of these

Silent when: neither clocks, reasons nor six jobs are known; one clock with nothing beside it.

Value: the smaller of the ratios to its own beginning and to a peer. Source: NVML clock event reasons
(0x20, 0x40 thermal; 0x4, 0x80 power); this project's case studies (a pair runs at the pace of its hot card).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from benchspec.judge import figures
from benchspec.judge.case import Case
from benchspec.judge.channels import (
    Channel,
    by_place,
    counter_of,
    finite,
    place_of,
    series_mean,
)
from benchspec.judge.hardware import as_input, found_number
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, lacking
from benchspec.judge.place import Place
from benchspec.judge.result import CheckResult
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Series, Step
from benchspec.observations.quantiles import median

NAME = "thermal"
READINGS = ("steady", "throttled", "power-capped", "ramping", "not-steady")
NEEDS = "clocks over the measured window, or the seconds of six equal jobs"
RATE = False

_BITS = {"thermal": 0x20 | 0x40, "power": 0x4 | 0x80}
_REASONS = {"power-cap": "power", "power-brake": "power", "time-power": "power"}
"""Counters of the share of time a reason was set; the others are thermal."""

_REASON_COUNTERS = (
    "throttle",
    "throttle-power-cap",
    "throttle-power-brake",
    "throttle-time-power",
    "throttle-thermal",
    "throttle-hw-slowdown",
    "throttle-time-thermal",
)

_MOST = {"clock": "clocks_sm_max_mhz", "clocks-memory": "memory_clock_mhz"}
"""Fact of a device that is the most its clock can do, by the clock's counter."""

_JOBS = 6
"""Two jobs per third."""


def check(case: Case) -> list[CheckResult]:
    """One result per device and place with a clock, one per place with many repeats."""
    groups = by_place(case.channels("clock")).values()
    by_clock = [_judge(case, c, group) for group in groups for c in group]
    known = {(r.arm, r.at.get("device")) for r in by_clock}
    by_reason = [r for r in _by_reason(case) if (r.arm, r.at.get("device")) not in known]
    return [*by_clock, *by_reason, *_jobs(case, {r.arm for r in [*by_clock, *by_reason]})]


def _by_reason(case: Case) -> Iterator[CheckResult]:
    """Devices of which the reasons are known and no clock is."""
    spots = {
        (c.arm, c.device, tuple(sorted(c.at.items()))): c for c in case.channels(*_REASON_COUNTERS)
    }
    for channel in spots.values():
        at = {**channel.at, "device": channel.device}
        reason = _reasons(case, channel)
        yield Line(NAME, channel.arm, {k: v for k, v in at.items() if v is not None}).judged(
            "power-capped" if reason == "power" else "throttled" if reason else "steady",
            f"{reason or 'no'} reason set",
            inputs=[channel.as_input()],
        )


def _judge(case: Case, channel: Channel, group: Sequence[Channel]) -> CheckResult:
    at = {**channel.at, "device": channel.device}
    line = Line(NAME, channel.arm, {k: v for k, v in at.items() if v is not None})
    own, peer = _own(channel), _peer(case, channel, group)
    reason = _reasons(case, channel)
    ratios = [r for r in (own, peer) if r is not None]
    if not ratios and reason is None and not _reasons_known(case, channel):
        return line.silent(lacking("an earlier clock, that of a like device, or throttle reasons"))
    slow = _below(own, limit("thermal.own")) or _below(peer, limit("thermal.peer"))
    reading = "ramping" if own is not None and own.mid > limit("thermal.ramp") else "steady"
    if reason == "power":
        reading = "power-capped"
    elif slow or reason == "thermal":
        reading = "throttled"
    words = [f"clock {show(channel.middle)} MHz"]
    if own is not None:
        words.append(f"/ first tenth = {show(own, 3)}")
    if peer is not None:
        words.append(f"/ fastest peer = {show(peer, 3)}")
    if (most := clock_limit(case, channel)) is not None:
        words.append(f"/ at most {show(most)} MHz = {show(channel.middle / most, 3)}")
    return line.judged(
        reading,
        ", ".join(words) + (f", {reason} reason set" if reason else ""),
        min(ratios, key=lambda r: r.mid) if ratios else None,
        "ratio",
        inputs=[channel.as_input()],
        caveats=[
            *(["the set runs at the pace of its slowest device"] if slow else []),
            *(["few samples: the first against the rest"] if own and channel.windows < 10 else []),
            *_memory_clock(case, channel),
        ],
    )


def _memory_clock(case: Case, channel: Channel) -> list[str]:
    """Whether the clock that decoding needs kept up: with the most that the device can do where that
    is known, else with its own beginning."""
    here = (channel.arm, channel.device)
    memory = [c for c in case.channels("clocks-memory") if (c.arm, c.device) == here]
    other = next((c for c in memory if c.at == channel.at), memory[0] if memory else None)
    if other is None:
        return []
    most, own, least = clock_limit(case, other), _own(other), limit("thermal.own")
    if most is not None:
        steady = (other.middle / most).mid >= least
    elif own is not None:
        steady = own.mid >= least
    else:
        steady = other.range.low >= least * other.range.high
    kept = "keeps" if steady else "does not keep"
    of = f" of at most {show(most)}" if most is not None else ""
    return [f"the memory {kept} its clock ({show(other.middle)}{of} MHz), which bounds decoding"]


def memory_clock(case: Case, step: Step, device: str) -> Channel | None:
    """The memory clock of a device while `step` was measured, of decoding where that is told apart."""
    here = [
        channel
        for channel in case.channels("clocks-memory")
        if (channel.arm, channel.device) == (step.arm, device)
        and channel.at.get("phase") != "prefill"
        and all(getattr(step, k) == v for k, v in channel.at.items() if k != "phase")
    ]
    return max(here, key=lambda channel: len(channel.at), default=None)


def clock_limit(case: Case, channel: Channel) -> float | None:
    """MHz that the device of a clock can do at most, as its driver says."""
    name = _MOST.get(channel.counter)
    identity = case.setup(channel.arm or "").observed.identity
    return found_number(channel.device or "", name, identity) if name else None


def _below(ratio: Interval | None, least: float) -> bool:
    return ratio is not None and ratio.mid < least


def _own(channel: Channel) -> Interval | None:
    """Mean clock after the first tenth / mean of the first tenth."""
    values = [v for s in channel.raw for v in finite(s)]
    if len(values) < 2:
        return None
    tenth = max(1, len(values) // 10)
    start = math.fsum(values[:tenth]) / tenth
    rest = math.fsum(values[tenth:]) / (len(values) - tenth)
    return Interval.of(rest / start) if start > 0 else None


def _peer(case: Case, channel: Channel, group: Sequence[Channel]) -> Interval | None:
    """Mean clock / that of the fastest other device of the same name."""
    names = {d.id: d.name for d in case.setup(channel.arm or "").devices}
    peers = [
        c.middle.high
        for c in group
        if c.device != channel.device
        and names.get(c.device or "") == names.get(channel.device or "")
    ]
    fastest = max(peers, default=0.0)
    return channel.middle / fastest if fastest > 0 else None


def _reasons(case: Case, channel: Channel) -> str | None:
    """`thermal` or `power`, whichever slowed the device during the window; thermal first."""
    seen = set()
    for series in case.observations.series:
        name = counter_of(series)
        if not name.startswith("throttle") or not _same_place(series, channel):
            continue
        if name == "throttle":
            bits = [int(v) for v in finite(series)]
            seen |= {word for word, mask in _BITS.items() if any(b & mask for b in bits)}
        elif (mean := series_mean(series)) is not None and mean.high > limit("thermal.reason"):
            seen.add(_REASONS.get(name.removeprefix("throttle-"), "thermal"))
    return next((word for word in ("thermal", "power") if word in seen), None)


def _reasons_known(case: Case, channel: Channel) -> bool:
    """Whether somebody looked for reasons, and found none set."""
    every = case.observations.series
    return any(counter_of(s).startswith("throttle") and _same_place(s, channel) for s in every)


def _same_place(series: Series, channel: Channel) -> bool:
    """The same device and arm, and no coordinate of the series that is another one."""
    here = channel.at
    return (series.arm, series.device) == (channel.arm, channel.device) and all(
        here.get(name, value) == value for name, value in place_of(series).items()
    )


def _jobs(case: Case, known: set[str | None]) -> Iterator[CheckResult]:
    """Drift of the seconds of equal jobs, where no clock tells."""
    for place in case.places:
        times = [t.mid for s in case.steps(place) if (t := figures.wall_s(s)) is not None]
        if place.arm in known or len(times) < _JOBS or min(times) <= 0:
            continue
        third = len(times) // 3
        yield _drift(place, times[0], median(times[:third]), median(times[-third:]), len(times))


def _drift(place: Place, first: float, early: float, late: float, count: int) -> CheckResult:
    """The first job, which a cold device did, is shown beside the steady ones."""
    drift = late / early
    steady = abs(drift - 1) <= limit("thermal.drift")
    times = {"first job": first, "first third": early, "last third": late}
    both = f"quote both: {show(first)} s cold, {show(late)} s later"
    return Line(NAME, place.arm, place.at).judged(
        "steady" if steady else "not-steady",
        f"{count} jobs, the first {show(first)} s; last third {show(late)} s / first third "
        f"{show(early)} s = {show(drift)}",
        drift,
        "ratio",
        inputs=[
            as_input(name, Interval.of(time), "s", "measured", str(place))
            for name, time in times.items()
        ],
        caveats=[] if steady else [both],
    )
