"""Figures of a spec as intervals, in the unit of what they are compared with."""

import math
from typing import NamedTuple

from benchspec.spec.models import Relation
from benchspec.spec.quantity import Quantity, QuantityError, parse_quantity


class Interval(NamedTuple):
    """From low to high, both included; of one number both are equal."""

    low: float
    high: float

    def __str__(self) -> str:
        low, high = shown(self.low), shown(self.high)
        return low if low == high else f"{low}-{high}"


def registered(value: float | str | None, uses: str) -> Interval | None:
    """A threshold or prediction in the unit of the metric `uses` (tok/s, ms, s, J, or a ratio).

    A bare number is in that unit already. None where nothing is stated or it is no figure.
    """
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return Interval(value, value) if math.isfinite(value) else None
    dimension, factor = _unit(uses)
    for name, times in (("ratio", 1.0), (dimension, factor)):
        try:
            quantity = parse_quantity(value, name)
        except QuantityError:
            continue
        return Interval(quantity.low * times, quantity.high * times)
    return None


def _unit(uses: str) -> tuple[str, float]:
    if uses.endswith("tok_s"):
        return "token rate", 1.0
    if uses.endswith("_ms"):
        return "duration", 1e3
    if uses.endswith(("_s", "seconds")):
        return "duration", 1.0
    return ("energy", 1.0) if uses.startswith("joules") else ("ratio", 1.0)


def of(quantity: Quantity) -> Interval:
    """A quantity as an interval in its base unit."""
    return Interval(quantity.low, quantity.high)


def possible(value: Interval, relation: Relation, target: Interval) -> bool:
    """True when some figure in `value` can satisfy `relation` with some figure in `target`."""
    if relation in (">=", "=="):
        above = value.high >= target.low
        return above and (relation == ">=" or value.low <= target.high)
    if relation == ">":
        return value.high > target.low
    return value.low <= target.high if relation == "<=" else value.low < target.high


def shown(number: float) -> str:
    """Three significant digits, without an exponent where a reader would not expect one."""
    if number == 0 or not math.isfinite(number):
        return f"{number:g}"
    digits = max(0, 2 - math.floor(math.log10(abs(number))))
    return f"{number:.{min(digits, 6)}f}".rstrip("0").rstrip(".") if digits else f"{number:.0f}"
