"""A figure against a registered threshold: with intervals there are three answers."""

from __future__ import annotations

from collections.abc import Sequence

from benchspec.judge.interval import Interval
from benchspec.spec.models import Relation
from benchspec.spec.quantity import QuantityError, parse_quantity

_DIMENSIONS = {
    "tok/s": ("token rate", 1.0),
    "ms": ("duration", 1e3),
    "s": ("duration", 1.0),
    "J": ("energy", 1.0),
    "MB/s": ("bandwidth", 1e-6),
    "GB/s": ("bandwidth", 1e-9),
    "%": ("ratio", 100.0),
}
"""Unit of a figure -> the dimension a threshold may be written in, and base unit -> that unit."""


def registered(value: float | str, unit: str | None) -> Interval:
    """A number or text of the spec (`1.2`, `40 ms`, `265..315 GB/s`) in `unit`.

    A bare number is in that unit already. Raises QuantityError when the text is no number and no
    quantity of the unit's dimension.
    """
    if isinstance(value, int | float):
        return Interval.of(value)
    try:
        plain = parse_quantity(value, "ratio")
    except QuantityError:
        dimension, factor = _DIMENSIONS.get(unit or "", ("ratio", 1.0))
        return Interval.of(parse_quantity(value, dimension)) * factor
    percent = 100.0 if unit == "%" and "%" in value else 1.0
    return Interval.of(plain) * percent


def holds(
    value: Interval, relation: Relation, target: Interval, margin: float = 0.0
) -> bool | None:
    """Whether `value relation target` is certain (True), impossible (False), or neither (None).

    `==` means within `margin` of the target.
    """
    low, high = value.low, value.high
    if relation == ">=":
        return _certain(low >= target.high, high < target.low)
    if relation == ">":
        return _certain(low > target.high, high <= target.low)
    if relation == "<=":
        return _certain(high <= target.low, low > target.high)
    if relation == "<":
        return _certain(high < target.low, low >= target.high)
    inside = target.low - margin <= low and high <= target.high + margin
    return _certain(inside, high < target.low - margin or low > target.high + margin)


def _certain(yes: bool, no: bool) -> bool | None:
    return True if yes else False if no else None


def all_hold(answers: Sequence[bool | None]) -> bool | None:
    """True when every answer is True, False when every one is False, else None."""
    different = set(answers)
    return next(iter(different)) if len(different) == 1 else None


def margin_of(margin: float | str | None, target: Interval, unit: str | None) -> float:
    """The margin in `unit`; a percentage is of the target. Raises QuantityError."""
    if margin is None:
        return 0.0
    if isinstance(margin, str) and margin.strip().endswith("%") and unit != "%":
        return registered(margin, None).high * abs(target.mid)
    return registered(margin, unit).high
