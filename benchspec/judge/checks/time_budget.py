"""time-budget: do the parts add up to the whole, and what could each give?

Needs: a total time and named parts of it, in ms.

Division: sum of the parts / total; for each part the bound on removing it, total / (total - part);
where a part's time after a change is given, total / (total - part + part after).

Readings
  accounted     at most 10 % of the total is not listed
  unexplained   more is not listed

Silent when: there are no parts; the parts exceed the total by more than 10 %.

Value: the share accounted for. Source: Amdahl (1967). A bound holds for the machine it was measured
on: carried to other hardware it is invalid.
"""

from __future__ import annotations

from benchspec.judge.case import Case
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, attempt, invalid, lacking
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Budget

NAME = "time-budget"
READINGS = ("accounted", "unexplained")
NEEDS = "a total time and named parts of it"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per budget."""
    return [_judge(budget) for budget in case.observations.budgets]


def _judge(budget: Budget) -> CheckResult:
    line = Line(NAME, budget.arm, {"name": budget.name})
    return attempt(line, lambda: _divide(line, budget), budget)


def _divide(line: Line, budget: Budget) -> CheckResult:
    total = Interval.of(budget.total_ms)
    parts = {name: Interval.of(ms) for name, ms in budget.parts.items()}
    if not parts or total.low <= 0:
        raise lacking("a total above zero and its parts")
    listed = sum(parts.values(), Interval(0.0, 0.0))
    share = listed / total
    left = 1 - share.mid
    if left < -limit("unfinished.remainder"):
        raise invalid(f"the parts exceed the total by {show(-100 * left, 2)} %")
    each = " + ".join(f"{name} {show(ms)}" for name, ms in parts.items())
    return line.judged(
        "accounted" if left <= limit("unfinished.remainder") else "unexplained",
        f"{each} = {show(listed)} of {show(total)} ms = {show(100 * share, 3)} %, "
        f"{show(total - listed, 3)} ms not listed; {_bounds(budget, total, parts)}",
        share,
        "ratio",
        inputs=[
            Input(name=name, value=ms.number, unit="ms", provenance=budget.provenance)
            for name, ms in {"total": total, **parts}.items()
        ],
        caveats=["the bounds hold on this machine only"],
    ).model_copy(update={"remainder": left})


def _bounds(budget: Budget, total: Interval, parts: dict[str, Interval]) -> str:
    """What removing each part, or changing it, gives at most."""
    words = []
    for name, ms in parts.items():
        after = budget.after.get(name)
        rest = total - ms + (Interval.of(after) if after is not None else 0.0)
        if rest.low <= 0:
            continue
        verb = f"without {name} at most" if after is None else f"{name} at {show(after)} ms gives"
        words.append(f"{verb} {show(total / rest, 3)} x")
    return ", ".join(words)
