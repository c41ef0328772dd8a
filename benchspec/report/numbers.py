"""Numbers as a reader wants them: four significant digits, a unit, no trailing noise."""

from __future__ import annotations

import math

from benchspec.observations.model import Bounds

ABSENT = "–"
Figure = float | int | Bounds | str | bool | None


def number(value: float) -> str:
    """Four significant digits without an exponent between 1e-4 and 1e7: `101,600`, `0.0043`."""
    if not math.isfinite(value):
        return "not finite"
    if float(value).is_integer() and abs(value) < 1e7:
        return f"{int(value):,}"
    if abs(value) >= 1e7 or abs(value) < 1e-4:
        return f"{value:.3e}"
    decimals = max(0, 3 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def figure(value: Figure, unit: str | None = None) -> str:
    """A value of any kind with its unit; an interval as `57 to 68 %`; absent as a dash."""
    if value is None:
        return ABSENT
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    text = _interval(value) if isinstance(value, Bounds) else number(value)
    return with_unit(text, unit)


def with_unit(text: str, unit: str | None) -> str:
    """`text` and `unit` with a no-break space; a ratio's x stands directly behind its number."""
    if not unit or unit in {"1", "ratio"}:
        return text
    return f"{text}{unit}" if unit in {"x", "×"} else f"{text}\u00a0{unit}"


def percent(fraction: float, *, signed: bool = False) -> str:
    """A fraction as a percentage: `+4.2 %`."""
    text = number(round(fraction * 100, 1))
    return f"{'+' if signed and fraction > 0 else ''}{text}\u00a0%"


def seconds(value: float | None) -> str:
    """Seconds to the millisecond below ten, else four digits."""
    return ABSENT if value is None else with_unit(number(round(value, 3)), "s")


def count(n: int, singular: str, plural: str | None = None) -> str:
    """`1 repeat`, `3 repeats`."""
    return f"{n:,} {singular if n == 1 else plural or singular + 's'}"


def _interval(value: Bounds) -> str:
    low, high = number(value.low), number(value.high)
    return low if low == high else f"{low} to {high}"
