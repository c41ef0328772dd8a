"""Interval arithmetic: a figure known only between two ends stays so through every division.

Rules: R. E. Moore, Interval Analysis (1966). What is printed is rounded outward.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from benchspec.observations.node import Bounds
from benchspec.spec.quantity import Quantity

_NOISE = 1e-12
"""What arithmetic leaves of a zero; no figure that is printed is that small."""


@dataclass(frozen=True)
class Interval:
    """`low..high`; a plain number is an interval without width."""

    low: float
    high: float

    @classmethod
    def of(cls, value: Figure) -> Interval:
        """The interval of a number, of Bounds, or of a Quantity (in its base unit)."""
        if isinstance(value, int | float):
            return cls(float(value), float(value))
        return cls(value.low, value.high)

    @classmethod
    def hull(cls, values: list[Interval]) -> Interval:
        """The smallest interval that holds all of `values` (at least one)."""
        return cls(min(v.low for v in values), max(v.high for v in values))

    @property
    def mid(self) -> float:
        """The middle."""
        return (self.low + self.high) / 2

    @property
    def exact(self) -> bool:
        """True without width."""
        return self.low == self.high

    @property
    def number(self) -> float | Bounds:
        """For a result: the number, or its bounds."""
        return self.low if self.exact else Bounds(low=self.low, high=self.high)

    def __add__(self, other: Figure) -> Interval:
        o = Interval.of(other)
        return Interval(self.low + o.low, self.high + o.high)

    __radd__ = __add__

    def __sub__(self, other: Figure) -> Interval:
        o = Interval.of(other)
        return Interval(self.low - o.high, self.high - o.low)

    def __rsub__(self, other: Figure) -> Interval:
        return Interval.of(other) - self

    def __mul__(self, other: Figure) -> Interval:
        o = Interval.of(other)
        products = [a * b for a in (self.low, self.high) for b in (o.low, o.high)]
        return Interval(min(products), max(products))

    __rmul__ = __mul__

    def __truediv__(self, other: Figure) -> Interval:
        """Raises ZeroDivisionError when `other` may be zero."""
        o = Interval.of(other)
        if o.low <= 0 <= o.high:
            raise ZeroDivisionError("the divisor may be zero")
        return self * Interval(1 / o.high, 1 / o.low)

    def __rtruediv__(self, other: Figure) -> Interval:
        return Interval.of(other) / self


Figure = int | float | Bounds | Quantity | Interval


def show(value: Figure, digits: int = 4) -> str:
    """`value` with `digits` significant digits, never in powers of ten; `low..high` for bounds,
    rounded outward."""
    if isinstance(value, int | float):
        return _rounded(float(value), digits, round)
    if value.low == value.high:
        return _rounded(value.low, digits, round)
    low, high = _rounded(value.low, digits, math.floor), _rounded(value.high, digits, math.ceil)
    return low if low == high else f"{low}..{high}"


def counted(n: int, noun: str) -> str:
    """`1 slot`, `4 slots`."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _rounded(value: float, digits: int, rounding: object) -> str:
    if not math.isfinite(value):
        return str(value)
    if abs(value) < _NOISE:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    if rounding is not round:
        scaled = round(value * 10**places, 6)  # 0.1 + 0.2 is not 0.3: do not round that outward
        whole = math.floor(scaled) if rounding is math.floor else math.ceil(scaled)
        value = whole / 10**places
    text = f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
