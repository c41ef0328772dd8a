"""what-if: what would make it faster, and by how much at most?

Needs: what bandwidth-ceiling, compute-ceiling, link-share, speculation, thermal or queueing found.

Division: a part that takes the share f of the time and becomes m times as fast gains
1 / (1 - f (1 - 1/m)). Link: f is the share of transfers, m = 2; latency: its share, gone. Memory
bandwidth (m = 1.2) and compute (m = 1.23, prefill): from the fraction f of the ceiling, which is the
part that surely waits for it, up to m, if the rest scales too; a kernel far from the ceiling often
does. Drafts: (1 + k (a + 0.1)) / (1 + k a). Clocks: 1 / the smallest clock ratio. Slots: the number of
batches in which the requests were served.

Readings
  gain      1.02 times or more is possible: worth a look
  no-gain   less: whatever it costs, it brings nothing here

Silent when: none of those checks has a figure.

Value: the gain that is possible, by lever and phase, the largest first. Source: Amdahl (1967); each is
a bound on one change alone, on this machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from benchspec.judge import figures
from benchspec.judge.case import Case
from benchspec.judge.checks import (
    bandwidth_ceiling,
    compute_ceiling,
    link_share,
    queueing,
    thermal,
)
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line
from benchspec.judge.place import Place
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Step

NAME = "what-if"
READINGS = ("gain", "no-gain")
NEEDS = "a fraction of a ceiling, a share of a link, drafts, clocks or slots"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per arm, place and lever, the largest bound first within an arm."""
    found = [
        *_of_memory(case),
        *_of_compute(case),
        *_of_links(case),
        *_of_latency(case),
        *_of_drafts(case),
        *_of_clocks(case),
        *_of_slots(case),
    ]
    arms = case.arm_ids
    return sorted(found, key=lambda r: (_rank(arms, r.arm), -_bound(r)))


def _rank(arms: list[str], arm: str | None) -> int:
    return arms.index(arm) if arm in arms else len(arms)


def _bound(result: CheckResult) -> float:
    return Interval.of(result.value).high if result.value is not None else 1.0


def faster(share: float, times: float) -> float:
    """Largest gain when a part with this share of the time becomes `times` as fast."""
    return 1 / (1 - min(max(share, 0.0), 1.0) * (1 - 1 / times))


def _result(
    arm: str | None, at: dict[str, Any], lever: str, gain: Interval, division: str, source: str
) -> CheckResult:
    reading = "gain" if gain.high >= 1 + limit("speculation.even") else "no-gain"
    return Line(NAME, arm, {**at, "lever": lever}).judged(
        reading,
        f"{lever}: {division} = at most {show(gain.high, 3)} x",
        gain,
        "ratio",
        inputs=[Input(name="read off", value=source, provenance="derived")],
        quotable="bound",
    )


def _of_share(result: CheckResult, lever: str, times: float) -> CheckResult:
    """The bound from a share of the time that another check found."""
    share = _value(result).high
    division = f"1 / (1 - {show(share, 3)} (1 - 1/{show(times)}))"
    gain = Interval.of(faster(share, times))
    return _result(result.arm, result.at, lever, gain, division, result.key)


def _of_fraction(result: CheckResult, lever: str, times: float) -> CheckResult:
    """From the part that surely waits for the resource up to everything."""
    share = min(1.0, _value(result).low)
    least = faster(share, times)
    division = (
        f"1 / (1 - {show(share, 3)} (1 - 1/{show(times)})) = {show(least, 3)} x if only that part "
        "scales; all of it"
    )
    gain = Interval(min(least, times), times)
    return _result(result.arm, result.at, lever, gain, division, result.key)


def _value(result: CheckResult) -> Interval:
    return Interval.of(result.value) if result.value is not None else Interval.of(0.0)


def _of_memory(case: Case) -> Iterator[CheckResult]:
    times = limit("what-if.memory")
    for result in bandwidth_ceiling.check(case):
        if result.reading in ("fraction", "at-least") and result.arm and _alone(result):
            yield _of_fraction(result, f"memory bandwidth x {show(times)}", times)


def _of_compute(case: Case) -> Iterator[CheckResult]:
    times = limit("what-if.compute")
    for result in compute_ceiling.check(case):
        if result.reading in ("fraction", "at-least"):
            placed = result.model_copy(update={"at": {**result.at, "phase": "prefill"}})
            yield _of_fraction(placed, f"compute x {show(times)}", times)


def _of_links(case: Case) -> Iterator[CheckResult]:
    times = limit("what-if.link")
    for result in link_share.check(case):
        if result.state == "judged" and result.reading != "hidden" and _alone(result):
            yield _of_share(result, f"link bandwidth x {show(times)}", times)


def _of_latency(case: Case) -> Iterator[CheckResult]:
    for place, step in _singles(case):
        transfer = link_share.transfer_of(case, place.arm)
        time = figures.step_ms(step, case.setup(place.arm).drafts(step))
        if transfer is None or time is None or time.low <= 0:
            continue
        latency = link_share.latency_of(case.setup(place.arm), transfer)
        if latency is None or latency.high <= 0:
            continue
        share = min(0.99, 1e3 * latency.high * transfer.crossings / time.mid)
        division = f"1 / (1 - {show(share, 3)})"
        gain = Interval.of(1 / (1 - share))
        yield _result(place.arm, place.at, "link latency 0", gain, division, "link-share")


def _of_drafts(case: Case) -> Iterator[CheckResult]:
    more = limit("what-if.acceptance")
    for place, step in _singles(case):
        acceptance, k = figures.overall_acceptance(step), case.setup(place.arm).drafts(step)
        if acceptance is None or not k:
            continue
        a = acceptance.mid
        gain = Interval.of((1 + k * min(1.0, a + more)) / (1 + k * a))
        division = f"(1 + {k} x {show(min(1.0, a + more))}) / (1 + {k} x {show(a)})"
        yield _result(place.arm, place.at, "acceptance + 10 points", gain, division, "acceptance")


def _of_clocks(case: Case) -> Iterator[CheckResult]:
    for result in thermal.check(case):
        if result.reading == "throttled" and result.value is not None:
            ratio = Interval.of(result.value)
            if 0 < ratio.low < 1:
                division = f"1 / {show(ratio.low, 3)}"
                gain = Interval.of(1 / ratio.low)
                yield _result(result.arm, result.at, "clocks kept", gain, division, result.key)


def _of_slots(case: Case) -> Iterator[CheckResult]:
    """At the most requests of each arm that queued."""
    queued = {r.arm: r for r in queueing.check(case) if r.reading == "queued"}
    for arm, result in queued.items():
        slots, count = case.slots(arm or ""), result.at.get("concurrency")
        if slots and count:
            waves = math.ceil(count / slots.count)
            text = f"{count} requests in batches of {slots.count}"
            lever = "as many slots as requests"
            yield _result(arm, result.at, lever, Interval.of(waves), text, result.key)


def _alone(result: CheckResult) -> bool:
    """Whether the result is of one stream: what a lever gives there is asked first."""
    return result.at.get("concurrency") in (None, 1)


def _singles(case: Case) -> Iterator[tuple[Place, Step]]:
    """Places of one stream, with their first sound step."""
    for place in case.places:
        sound = case.sound(place)
        if place.concurrency in (None, 1) and sound:
            yield place, sound[0]
