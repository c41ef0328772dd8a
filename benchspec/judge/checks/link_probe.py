"""link-probe: is the direct way between two devices what the driver says it is?

Needs: how long a message takes directly and through the host's memory, by its size: from `benchspec
probe`, which later runs on the machine remember, or stated as `observations.link_probes`. Of one
path alone, the median and the least of many.

Division: directly [s] / through the host [s], of the medians. Of one path alone the skew: median -
least [us], which is time spent waiting for the other device, x the crossings of a forward pass.

Readings
  sound           directly takes no longer
  no-gain         longer, up to 5 times: the path works and brings nothing at this size
  broken-direct   more than 5 times: whatever reports the path as working, it is not used so
  even            the median is at most 10 % above the least
  waits           more: the devices do not arrive together, and no faster link gives that back

Silent when: neither both paths nor two figures of one are known.

Value: the ratio; of one path alone the skew in us. Source: definition. A large copy says nothing of
small messages, and a status says nothing of either.
"""

from __future__ import annotations

from benchspec.judge.case import Case
from benchspec.judge.hardware import as_input
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, attempt, invalid, lacking
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.thresholds import limit
from benchspec.observations.model import LinkProbe
from benchspec.observations.node import Number

NAME = "link-probe"
READINGS = ("sound", "no-gain", "broken-direct", "even", "waits")
NEEDS = "the time of a message directly and through the host, or the median and the least of one"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per link and size of message."""
    return [_judge(probe) for probe in case.observations.link_probes]


def _judge(probe: LinkProbe) -> CheckResult:
    line = Line(NAME, probe.arm, {"link": probe.name, "size": _size(probe)})
    return attempt(line, lambda: _divide(line, probe), probe)


def _divide(line: Line, probe: LinkProbe) -> CheckResult:
    direct, host = _us(probe.direct_s), _us(probe.host_s)
    if direct is not None and host is not None:
        return _paths(line, probe, direct, host)
    one = direct if direct is not None else host
    least = _us(probe.direct_least_s if direct is not None else probe.host_least_s)
    if one is None:
        raise lacking("the time of a message")
    if least is None:
        other = "through the host's memory" if direct is not None else "directly"
        raise lacking(f"the time of the same message {other}")
    return _skew(line, probe, one, least)


def _paths(line: Line, probe: LinkProbe, direct: Interval, host: Interval) -> CheckResult:
    ratio, least = direct / host, _us(probe.direct_least_s)
    skew = f"; median - least {show(_skew_us(direct, least), 3)} us directly" if least else ""
    return line.judged(
        _read(ratio.mid),
        f"{_size(probe)}: {show(direct)} us directly / {show(host)} us through the host = "
        f"{show(ratio, 3)}{skew}",
        ratio,
        "ratio",
        inputs=[_input("directly", direct, probe), _input("through the host", host, probe)],
    )


def _read(ratio: float) -> str:
    if ratio > limit("link.broken"):
        return "broken-direct"
    return "no-gain" if ratio > 1 else "sound"


def _skew(line: Line, probe: LinkProbe, median: Interval, least: Interval) -> CheckResult:
    skew, count = _skew_us(median, least), probe.crossings
    each = f" x {count} = {show(skew * count / 1e3, 3)} ms of a forward pass" if count else ""
    return line.judged(
        "waits" if (skew / median).mid > limit("link.skew") else "even",
        f"{_size(probe)}: median {show(median)} us - least {show(least)} us = "
        f"{show(skew, 3)} us{each}",
        skew,
        "us",
        inputs=[_input("median", median, probe), _input("least", least, probe)],
    )


def _skew_us(median: Interval, least: Interval) -> Interval:
    """What a message waits beyond the least that it takes, us. Raises Withheld when that is above."""
    if least.low > median.high:
        raise invalid(f"the least ({show(least)} us) is above the median ({show(median)} us)")
    return median - least


def _us(value: Number | None) -> Interval | None:
    if value is None:
        return None
    time = Interval.of(value) * 1e6
    if time.low <= 0:
        raise invalid("a message that takes no time")
    return time


def _size(probe: LinkProbe) -> str:
    return f"{show(probe.bytes / 1024)} KiB"


def _input(name: str, value: Interval, probe: LinkProbe) -> Input:
    return as_input(name, value, "us", probe.provenance, probe.source or probe.name)
