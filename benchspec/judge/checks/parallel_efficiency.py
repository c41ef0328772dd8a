"""parallel-efficiency: what part of n devices' worth do n devices give?

Needs: the same thing on one device and on n, as a rate or as a time; per part, where parts are timed.

Division: rate: measured / (n x single); time: single / (n x measured).

Readings
  fraction     of n times one device
  impossible   above 1.02: the two were not the same thing

Silent when: nothing was measured on one device and on several.

Value: the efficiency. Source: definition of parallel efficiency. A part that halves to less than
half its speed shows where bandwidth is lost.
"""

from __future__ import annotations

from benchspec.judge.case import Case
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, attempt, invalid
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Scaled

NAME = "parallel-efficiency"
READINGS = ("fraction", "impossible")
NEEDS = "the same thing on one device and on several"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per thing that was measured on one device and on n."""
    return [_judge(scaled) for scaled in case.observations.scaled]


def _judge(scaled: Scaled) -> CheckResult:
    line = Line(NAME, scaled.arm, {"name": scaled.name})
    return attempt(line, lambda: _divide(line, scaled), scaled)


def _divide(line: Line, scaled: Scaled) -> CheckResult:
    single, several = Interval.of(scaled.single), Interval.of(scaled.measured)
    if single.low <= 0 or several.low <= 0 or scaled.n < 1:
        raise invalid("a figure or the number of devices is not above zero")
    n, unit = scaled.n, scaled.unit
    if unit.endswith("/s"):
        ideal = single * n
        share = several / ideal
        text = f"{show(several)} / ({n} x {show(single)} = {show(ideal)}) {unit}"
    else:
        share = single / (several * n)
        text = (
            f"{show(several)} / {show(single)} {unit} = {show(several / single, 2)} of the time, "
            f"ideal {show(1 / n, 3)}"
        )
    return line.judged(
        "impossible" if share.low > limit("ceiling.impossible") else "fraction",
        f"{text}: {show(100 * share, 3)} %",
        share,
        "ratio",
        inputs=[
            Input(name="on one device", value=single.number, unit=unit),
            Input(name=f"on {n}", value=several.number, unit=unit),
        ],
    ).model_copy(update={"remainder": 1 - share.mid})
