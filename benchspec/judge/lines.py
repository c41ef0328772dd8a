"""How a check speaks: one line per place, divided within a repeat, then merged over repeats."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from benchspec.judge.figures import unsound
from benchspec.judge.interval import Interval, show
from benchspec.judge.result import Bound, CheckResult, Input, Quotable, State
from benchspec.judge.thresholds import limit
from benchspec.observations.node import Bounds
from benchspec.observations.quantiles import median

_QUOTABLE_AS: Mapping[Bound | None, Quotable] = {
    None: "yes",
    "at-least": "bound",
    "at-most": "bound",
    "both": "order-of-magnitude",
}
_QUOTABLE: tuple[Quotable, ...] = ("yes", "bound", "order-of-magnitude", "no")
_FIGURES = re.compile(r"\d+(?:\.\d+)?")
_SILENT: tuple[State, ...] = ("invalid", "insufficient", "not-applicable")


class Withheld(Exception):
    """A check must stay silent here: `state`, a sentence, and the names of what is missing."""

    def __init__(self, state: State, reason: str, missing: Sequence[str] = ()) -> None:
        super().__init__(reason)
        self.state, self.reason, self.missing = state, reason, list(missing)


def lacking(*missing: str) -> Withheld:
    """The silence for want of inputs, named as a reader would ask for them."""
    return Withheld("insufficient", f"needs {' and '.join(missing)}", missing)


def not_applicable(reason: str) -> Withheld:
    """The silence where the question does not arise."""
    return Withheld("not-applicable", reason)


def invalid(reason: str) -> Withheld:
    """The silence where the inputs cannot be right, or the conditions spoil them."""
    return Withheld("invalid", reason)


@dataclass(frozen=True)
class Line:
    """The place of one result: which check, which arm, which other coordinates."""

    check: str
    arm: str | None = None
    at: dict[str, Any] = field(default_factory=dict)

    def judged(
        self,
        reading: str | None,
        arithmetic: str,
        value: Interval | float | None = None,
        unit: str | None = None,
        *,
        inputs: Sequence[Input] = (),
        quotable: Quotable | None = None,
        bound: Bound | None = None,
        caveats: Sequence[str] = (),
    ) -> CheckResult:
        """A result with its division; `invalid` when that gives no figure of this world. What a
        `bound` says of the figure is how it may be quoted, unless `quotable` does."""
        if value is not None and unsound(value.number if isinstance(value, Interval) else value):
            return self.silent(invalid(f"the division gives no figure: {arithmetic}"))
        return CheckResult(
            check=self.check,
            arm=self.arm,
            at=self.at,
            state="judged",
            reading=reading,
            arithmetic=arithmetic,
            value=value.number if isinstance(value, Interval) else value,
            unit=unit,
            inputs=list(inputs),
            quotable=quotable or _QUOTABLE_AS[bound],
            bound=bound,
            caveats=list(caveats),
        )

    def silent(self, why: Withheld) -> CheckResult:
        """A result without one, and why."""
        return CheckResult(
            check=self.check,
            arm=self.arm,
            at=self.at,
            state=why.state,
            reason=why.reason,
            missing=why.missing,
        )


def attempt(line: Line, divide: Callable[[], CheckResult], *nodes: BaseModel) -> CheckResult:
    """The result of `divide`, or the silence that it raises; `nodes` are what it divides, which
    must be finite."""
    try:
        for node in nodes:
            if why := unsound(node):
                raise invalid(why)
        return divide()
    except Withheld as why_not:
        return line.silent(why_not)
    except ZeroDivisionError:
        return line.silent(invalid("a figure that is divided by may be zero"))


def over_repeats(
    results: Sequence[CheckResult], *, rate: bool = False, worst: str | None = None
) -> CheckResult:
    """One result for one place from those of its repeats (at least one), in repeat order.

    The value is the median of the quotients, with range and n; the arithmetic is that of the repeat
    nearest to it. Repeats that read differently read `unresolved`, except that the reading `worst`
    in any repeat is the reading of all. A `rate` from fewer than three repeats is not quotable.
    """
    judged = [r for r in results if r.state == "judged"]
    if not judged:
        return min(results, key=lambda r: _SILENT.index(r.state))
    caveats = _once_each(c for r in judged for c in r.caveats)
    left_out = [f"left out: {r.reason}" for r in results if r.state != "judged"]
    reading, disagreement = _common_reading(judged, worst)
    chosen, value, spread = _middle(judged)
    arithmetic = chosen.arithmetic
    if len(judged) > 1 and spread is not None and arithmetic:
        middle, ends = show(Interval.of(value)) if value is not None else "none", show(spread)
        many = f"median of {len(judged)} repeats {middle} ({ends})"
        arithmetic += f"; {many}" if ends != middle else f"; the same in {len(judged)} repeats"
    return chosen.model_copy(
        update={
            "reading": reading,
            "arithmetic": arithmetic,
            "value": value,
            "range": spread,
            "n": sum(r.n or 1 for r in judged),
            "quotable": _quotable(judged, value, spread, rate),
            "caveats": [*caveats, *disagreement, *_once_each(left_out)],
        }
    )


def _once_each(caveats: Iterable[str]) -> list[str]:
    """Each caveat once; of those that differ in their figures only, the first, and how many more."""
    kinds: dict[str, list[str]] = {}
    for caveat in caveats:
        head, _, rest = caveat.partition(": ")
        kinds.setdefault(_FIGURES.sub("#", caveat) if rest else head, []).append(caveat)
    return [
        every[0] + (f" (so in {len(every)} repeats)" if len(set(every)) > 1 else "")
        for every in kinds.values()
    ]


def _common_reading(
    judged: Sequence[CheckResult], worst: str | None
) -> tuple[str | None, list[str]]:
    readings = [r.reading for r in judged]
    different = list(dict.fromkeys(readings))
    if len(different) == 1:
        return different[0], []
    counts = ", ".join(f"{readings.count(r)} {r}" for r in different)
    caveat = f"the {len(judged)} repeats read differently: {counts}"
    return (worst if worst in readings else "unresolved"), [caveat]


def _middle(
    judged: Sequence[CheckResult],
) -> tuple[CheckResult, float | Bounds | None, Bounds | None]:
    """The repeat nearest to the median, the median, and the range over repeats."""
    valued = [(Interval.of(r.value), r) for r in judged if r.value is not None]
    if not valued:
        return judged[0], None, None
    intervals = [interval for interval, _ in valued]
    middle = Interval(median([i.low for i in intervals]), median([i.high for i in intervals]))
    nearest = min(valued, key=lambda pair: abs(pair[0].mid - middle.mid))[1]
    if len(valued) == 1:
        return nearest, nearest.value, None
    hull = Interval.hull(intervals)
    return nearest, middle.number, Bounds(low=hull.low, high=hull.high)


def _quotable(
    judged: Sequence[CheckResult], value: object, spread: Bounds | None, rate: bool
) -> Quotable:
    """The worst of the repeats', and what their number and spread allow."""
    words = [r.quotable for r in judged]
    n = sum(r.n or 1 for r in judged)
    if rate and n < limit("repeats.verdict"):
        words.append("order-of-magnitude" if n > 1 else "no")
    if rate and spread is not None and isinstance(value, int | float):
        words.append(by_spread(spread.high - spread.low, value))
    return max(words, key=_QUOTABLE.index)


def by_spread(spread: float, middle: float) -> Quotable:
    """What a range over repeats allows: up to 15 % of the median yes, up to 50 % the order."""
    if middle == 0:
        return "yes" if spread == 0 else "no"
    share = spread / abs(middle)
    if share <= limit("repeats.noisy"):
        return "yes"
    return "order-of-magnitude" if share <= limit("repeats.magnitude") else "no"
