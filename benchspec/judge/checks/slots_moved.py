"""slots-moved: does the plateau move when the slots do?

Needs: two arms with the same engine and model, one with at least twice the slots of the other, both
measured at the larger number of requests in flight.

Division: X(C) with 2S slots / X(C) with S slots [tok/s over tok/s], at C = 2S, within a repeat.

Readings
  slots      X is at least 1.05 times as large: the plateau was the slots
  hardware   it is not: the hardware gives no more, however many slots there are

Silent when: no two arms differ in slots by two; a step was disturbed.

Value: the ratio. Source: the one missing run of many a published plateau is the same load with
twice the slots.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchspec.judge import figures
from benchspec.judge.case import Case, measured, need
from benchspec.judge.conditions import unfit
from benchspec.judge.interval import counted, show
from benchspec.judge.lines import Line, attempt, invalid, over_repeats
from benchspec.judge.result import CheckResult
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Step

NAME = "slots-moved"
READINGS = ("slots", "hardware")
NEEDS = "two arms that differ in slots by a factor of two, at the same load"
RATE = True


def check(case: Case) -> list[CheckResult]:
    """One result per pair of arms, placed at the one with more slots."""
    return [_judge(case, few, many) for few, many in _pairs(case)]


def _pairs(case: Case) -> Iterator[tuple[str, str]]:
    """Of arms that are alike, each against the one with the next larger number of slots."""
    counts = {arm: s.count for arm in case.arm_ids if (s := case.slots(arm))}
    for few, low in counts.items():
        alike = [a for a in counts if case.setup(a).alike(case.setup(few))]
        wider = sorted((counts[a], a) for a in alike if counts[a] >= 2 * low)
        reached = [a for n, a in wider if {few, a} <= _arms_at(case, n)]
        if reached:
            yield few, reached[0]


def _arms_at(case: Case, count: int) -> set[str]:
    return {place.arm for place in case.places if place.concurrency == count}


def _judge(case: Case, few: str, many: str) -> CheckResult:
    slots = case.slots(many)
    count = slots.count if slots else 0
    line = Line(NAME, many, {"concurrency": count, "against": few})
    steps = [
        s for p in case.places if p.arm == many and p.concurrency == count for s in case.steps(p)
    ]
    divide = partial(_divide, case, line, few)
    return over_repeats([attempt(line, partial(divide, step)) for step in steps], rate=RATE)


def _divide(case: Case, line: Line, few: str, step: Step) -> CheckResult:
    other = case.partner(step, f"X({step.concurrency}) of arm {few}", arm=few)
    if why := figures.defect(step) or unfit(step) or unfit(other):
        raise invalid(why)
    wide = need(figures.aggregate_tok_s(step), "X")
    narrow = need(figures.aggregate_tok_s(other), "X")
    ratio = wide / narrow
    fewer = case.slots(few)
    many = counted(step.concurrency or 0, "slot")
    return line.judged(
        "slots" if ratio.mid >= limit("slots.moved") else "hardware",
        f"X({step.concurrency}) with {many} / with {fewer.count if fewer else '?'} = "
        f"{show(wide)} / {show(narrow)} = {show(ratio)}",
        ratio,
        "ratio",
        inputs=[measured("X", wide, "tok/s", step), measured("X", narrow, "tok/s", other)],
    )
