"""Numbers as a reader wants them: four significant digits, a unit, no trailing noise."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchspec.observations.node import Bounds

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
    decimals = max(0, 3 - _magnitude(abs(value)))
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
    if isinstance(value, Bounds):
        value, unit = _scaled(value, unit)
        return with_unit(_interval(value), unit)
    shown, unit = _scaled(Bounds(low=value, high=value), unit)
    return with_unit(number(shown.low), _SINGULAR.get(unit or "", unit) if value == 1 else unit)


_SINGULAR = {"slots": "slot", "tokens": "token", "requests": "request", "axes": "axis"}
_LARGE = {"B", "B/s", "FLOP/s", "Hz"}
_PREFIXES = ((1e13, 1e12, "T"), (1e9, 1e9, "G"), (1e6, 1e6, "M"))
"""(from this size, factor, prefix): bandwidths are said in GB/s beyond a thousand of them."""


def _scaled(value: Bounds, unit: str | None) -> tuple[Bounds, str | None]:
    """Base units as one says them: 1.555e12 B/s is 1,555 GB/s, 4.03e-5 s is 40.3 us."""
    size = max(abs(value.low), abs(value.high))
    if unit in _LARGE and size >= 1e6:
        factor, prefix = next((f, p) for least, f, p in _PREFIXES if size >= least)
    elif unit == "s" and 0 < size < 0.01:
        factor, prefix = (1e-3, "m") if size >= 1e-3 else (1e-6, "u")
    else:
        return value, unit
    return Bounds(low=value.low / factor, high=value.high / factor), f"{prefix}{unit}"


def with_unit(text: str, unit: str | None) -> str:
    """`text` and `unit` with a no-break space; a ratio's x stands directly behind its number."""
    if not unit or unit in {"1", "ratio"}:
        return text
    return f"{text}{unit}" if unit in {"x", "×"} else f"{text}\u00a0{unit}"


def percent(fraction: float, *, signed: bool = False) -> str:
    """A fraction as a percentage: `+4.2 %`."""
    text = number(round(fraction * 100, 1))
    return f"{'+' if signed and fraction > 0 else ''}{text}\u00a0%"


def setting(value: Figure) -> str:
    """A setting as one would write it: `1024`, `3.2e+11`, `off`; no separators."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:g}" if isinstance(value, float) else str(value)
    return figure(value)


def column(values: Sequence[float | None]) -> list[str]:
    """The numbers of one column with one count of decimals, so that their points line up.

    The largest has four significant digits, the smallest at least two, at most four decimals.
    """
    present = [abs(v) for v in values if v is not None and math.isfinite(v) and v != 0]
    if all(float(v).is_integer() for v in present):
        decimals = 0
    else:
        wanted = (3 - _magnitude(max(present)), 1 - _magnitude(min(present)))
        decimals = min(4, max(0, *wanted))
    return [ABSENT if v is None else f"{v:,.{decimals}f}" for v in values]


def _magnitude(value: float) -> int:
    return math.floor(math.log10(value))


def count(n: int, singular: str, plural: str | None = None) -> str:
    """`1 repeat`, `3 repeats`."""
    return f"{n:,} {singular if n == 1 else plural or singular + 's'}"


def _interval(value: Bounds) -> str:
    low, high = number(value.low), number(value.high)
    return low if low == high else f"{low} to {high}"
