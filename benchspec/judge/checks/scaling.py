"""scaling: what more requests in flight bring, and where they stop bringing anything.

Needs: X(1) and X(C) of the same repeat; S, to place a plateau.

Division: X(C) / X(1); for a plateau X(C) / X(C/2), the load having doubled.

Readings
  flat                  |X(c)/X(1) - 1| <= 5 % for every c up to C (C up to the declared slots), and
                        the change is inside the spread of the repeats: the engine serialises
  scales                X still grows
  falls                 X(C) < 0.9 X(1): worse than a queue, which would keep X; work on one request
                        hinders the others (drafting that does not batch, recomputing)
  plateau-at-slots      X(C)/X(C/2) < 1.05 from S on: says nothing about the hardware, the slots are
                        full; raise the slots and measure again
  plateau-below-slots   X(C)/X(C/2) < 1.05 with both inside the slots: the hardware stops giving

Silent when: C is 1; X(1) was not measured; there is a plateau and S is not known; the step was
disturbed. Where C lies above S and C/2 below, a burst is no multiple of S and neither plateau shows.

Value: X(C) / X(1). Source: definition of speed-up; 5 % is the spread that reads stable.
"""

from __future__ import annotations

from dataclasses import replace

from benchspec.judge import figures
from benchspec.judge.case import Case, measured, need
from benchspec.judge.conditions import unfit
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, invalid, lacking, not_applicable
from benchspec.judge.place import Place
from benchspec.judge.result import CheckResult
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Step

NAME = "scaling"
READINGS = ("flat", "scales", "falls", "plateau-at-slots", "plateau-below-slots")
NEEDS = "throughput at one request in flight and at several"
RATE = True


def check(case: Case) -> list[CheckResult]:
    """One result per arm and step of a closed loop."""

    def divide(line: Line, step: Step) -> CheckResult:
        count = step.concurrency
        if count is None or count == 1:
            raise not_applicable("needs several requests in flight")
        curve = _curve(case, step)
        if 1 not in curve:
            single = case.single(step) is not None
            raise lacking("the throughput at C = 1" if single else "X(1) of the same repeat")
        here = need(curve.get(count), f"X({count})")
        ratio = here / curve[1]
        reading, plateau = _read(case, step, curve)
        text = f"X({count}) / X(1) = {show(here)} / {show(curve[1])} = {show(ratio)}"
        return line.judged(
            reading,
            text + plateau + _flatness(curve, count),
            ratio,
            "ratio",
            inputs=[
                measured(f"X({count})", here, "tok/s", step),
                measured("X(1)", curve[1], "tok/s", case.single(step) or step),
            ],
            caveats=_caveats(case, step, reading, curve),
        )

    return case.per_repeat(NAME, divide, rate=RATE)


def _curve(case: Case, step: Step) -> dict[int, Interval]:
    """C -> X of the arm in this repeat, up to this step; disturbed steps make it invalid."""
    curve = {}
    for sibling in case.siblings(step):
        count, rate = sibling.concurrency or 0, figures.aggregate_tok_s(sibling)
        if count > (step.concurrency or 0) or rate is None or rate.low <= 0:
            continue
        if why := unfit(sibling):
            raise invalid(f"X({count}) is {why}")
        curve[count] = rate
    return curve


def _read(case: Case, step: Step, curve: dict[int, Interval]) -> tuple[str, str]:
    count = step.concurrency or 0
    declared = case.setup(step.arm).declared_slots() or case.slots(step.arm)
    inside = [c for c in curve if declared is None or c <= declared.count]
    change = max((abs((curve[c] / curve[1]).mid - 1) for c in inside), default=0.0)
    level = change <= limit("scaling.flat") and count in inside
    if level and not _separated(case, step):
        return "flat", ""
    if (curve[count] / curve[1]).high < limit("scaling.falls"):
        return "falls", ""
    half = max((c for c in curve if 2 * c <= count), default=1)
    growth = curve[count] / curve[half]
    text = f"; X({count}) / X({half}) = {show(growth)}" if half > 1 else ""
    if growth.mid >= limit("scaling.plateau"):
        return "scales", text
    slots = case.slots(step.arm)
    if slots is None:
        raise lacking("S, the number of server slots, to say whose plateau it is")
    if half >= slots.count:
        return "plateau-at-slots", text
    return ("plateau-below-slots" if count <= slots.count else "scales"), text


def _separated(case: Case, step: Step) -> bool:
    """Whether the change from C = 1 to this step is outside the spread of three repeats."""
    here = Place.of(step)
    one, many = _rates(case, replace(here, concurrency=1)), _rates(case, here)
    if min(len(one), len(many)) < limit("repeats.verdict"):
        return False
    return max(one) < min(many) or max(many) < min(one)


def _rates(case: Case, place: Place) -> list[float]:
    rates = [figures.aggregate_tok_s(s) for s in case.sound(place)]
    return [rate.mid for rate in rates if rate is not None]


def _flatness(curve: dict[int, Interval], count: int) -> str:
    rates = [x.mid for x in curve.values()]
    if len(rates) < 3:
        return ""
    spread = (max(rates) - min(rates)) / (sum(rates) / len(rates))
    steps = ", ".join(str(c) for c in curve if c <= count)
    return f"; over C = {steps} (max - min) / mean = {show(100 * spread, 2)} %"


def _caveats(case: Case, step: Step, reading: str, curve: dict[int, Interval]) -> list[str]:
    slots = case.slots(step.arm)
    if reading == "plateau-at-slots":
        return ["a plateau at or above the slots says nothing about the hardware"]
    inside = sum(1 for c in curve if slots and c <= slots.count)
    if reading == "plateau-below-slots" and inside < 3:
        return ["fewer than three steps at or below the slots: a second slot count would tell"]
    if reading == "flat" and slots and slots.count == 1:
        return ["one slot: what the hardware could do with several is not seen"]
    return []
