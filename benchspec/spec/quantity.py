"""Numbers with a unit, as an interval: `1.627 GB/s`, `64 KiB`, `39.2 ms`, `265..315 GB/s`.

A quantity is kept in the base unit of its dimension (bytes, seconds, bytes per second, ...) as
`low..high`; a plain number is the interval of width zero. Decimal and binary prefixes are never
confused: GB is 1e9 bytes, GiB is 2^30 bytes (IEC 80000-13). A comma in a number is refused, since
half the world reads 1,627 as 1.627.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic_core import core_schema

_DECIMAL = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}
_BYTES = {f"{p}B": f for p, f in (_DECIMAL | _BINARY).items()}
_BITS_PER_SECOND = {f"{p}bit/s": f / 8 for p, f in _DECIMAL.items()}
_SECONDS = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,  # U+00B5 MICRO SIGN
    "μs": 1e-6,  # U+03BC GREEK SMALL LETTER MU
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}
_FLOPS = {f"{p}{unit}": f for unit in ("FLOP/s", "FLOPS") for p, f in _DECIMAL.items()}

DIMENSIONS: dict[str, tuple[str, dict[str, float]]] = {
    "size": ("B", _BYTES),
    "bandwidth": ("B/s", {f"{u}/s": f for u, f in _BYTES.items()} | _BITS_PER_SECOND),
    "duration": ("s", _SECONDS),
    "frequency": ("Hz", {f"{p}Hz": f for p, f in _DECIMAL.items()}),
    "power": ("W", {"mW": 1e-3, "W": 1.0, "kW": 1e3}),
    "energy": ("J", {"J": 1.0, "kJ": 1e3, "Wh": 3600.0, "kWh": 3.6e6}),
    "token rate": ("tok/s", {"tok/s": 1.0, "tokens/s": 1.0, "t/s": 1.0}),
    "compute": ("FLOP/s", _FLOPS),
    "ratio": ("1", {"": 1.0, "%": 0.01, "x": 1.0}),
    "temperature": ("°C", {"C": 1.0, "°C": 1.0}),
    "count": ("1", {"": 1.0, "tok": 1.0, "tokens": 1.0}),
}
"""Dimension name -> (base unit, {accepted unit: factor to the base unit})."""

_LONGEST = 200  # characters; longer text is no quantity
_NUMBER = r"[+-]?(?:\d+(?:_\d+)*(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?"
_UNIT = r"[^\d\s.,–_+-][^\s–]*?"
_QUANTITY = re.compile(
    rf"\s*({_NUMBER})\s*(?:({_UNIT})?\s*(?:\.\.|–|\bto\b)\s*({_NUMBER})\s*)?({_UNIT})?\s*\Z", re.A
)


_BARE = re.compile(rf"{_NUMBER}(?:\s*(?:\.\.|–|\bto\b)\s*{_NUMBER})?\Z", re.A)


class QuantityError(ValueError):
    """A text that is not a quantity of the wanted dimension; `fix` says what would be."""

    def __init__(
        self, message: str, fix: str, kind: Literal["wrong-unit", "wrong-value"] = "wrong-unit"
    ) -> None:
        super().__init__(message)
        self.fix = fix
        self.kind = kind


@dataclass(frozen=True)
class Quantity:
    """`low..high` in the base unit `unit`; `text` is what the author wrote."""

    low: float
    high: float
    unit: str
    text: str

    @property
    def mid(self) -> float:
        """The middle of the interval, in the base unit."""
        return (self.low + self.high) / 2

    @property
    def exact(self) -> bool:
        """True when the interval has no width."""
        return self.low == self.high

    def __str__(self) -> str:
        return self.text


def units_of(dimension: str) -> list[str]:
    """The units that `dimension` accepts, for messages."""
    return [unit for unit in DIMENSIONS[dimension][1] if unit]


def parse_quantity(value: object, dimension: str) -> Quantity:
    """`value` (text, or a bare number for a ratio) as a quantity of `dimension`.

    Raises QuantityError with the accepted units when the unit is missing, unknown or of another
    dimension, when the interval is reversed, or when a number is not finite.
    """
    base = DIMENSIONS[dimension][0]
    if isinstance(value, Quantity) and value.unit == base:
        return value
    text = str(getattr(value, "raw", value)).strip()
    match = _QUANTITY.match(text) if _is_scalar(value) and len(text) <= _LONGEST else None
    if match is None:
        raise _form_error(text, dimension)
    first, unit_of_first, second, unit = match[1], match[2], match[3], match[4] or ""
    low = _number(first, unit_of_first or unit, text, dimension)
    high = _number(second, unit, text, dimension) if second else low
    if not (math.isfinite(low) and math.isfinite(high)):
        raise QuantityError(f"{text[:60]!r} is not finite", "write a smaller number", "wrong-value")
    if high < low:
        message = f"{text[:60]!r} runs backwards"
        raise QuantityError(message, "write the smaller number first", "wrong-value")
    return Quantity(low, high, base, text)


def _is_scalar(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _number(text: str, unit: str, whole: str, dimension: str) -> float:
    factor = DIMENSIONS[dimension][1].get(unit)
    if factor is None:
        raise _unit_error(whole, unit, dimension)
    return float(text) * factor


_EXAMPLES = {
    "size": ("64 KiB",),
    "bandwidth": ("1555 GB/s", "265..315 GB/s"),
    "duration": ("39.2 ms",),
    "frequency": ("1107 MHz",),
    "power": ("250 W",),
    "energy": ("12 J",),
    "token rate": ("125 tok/s",),
    "compute": ("312 TFLOP/s",),
    "ratio": ("0.33", "33 %"),
    "temperature": ("81 °C",),
    "count": ("512",),
}


def _example(dimension: str) -> str:
    return " or ".join(f"'{example}'" for example in _EXAMPLES[dimension])


def _form_error(text: str, dimension: str) -> QuantityError:
    if re.match(r"\s*[+-]?\d+,\d", text):
        message = f"{text[:60]!r} has a comma: a decimal point, or thousands?"
        return QuantityError(message, "write the number without a comma", "wrong-value")
    spread = _SPREAD.match(text[:_LONGEST])
    if spread:
        middle, half = float(spread[1]), float(spread[2])
        ends = f"{_short(middle - half)}..{_short(middle + half)}{spread[3] or ''}"
        return QuantityError(
            f"{text[:60]!r} is a figure and its spread", f"write its ends: '{ends}'"
        )
    return QuantityError(f"{text[:60]!r} is not a {dimension}", f"write {_example(dimension)}")


_SPREAD = re.compile(rf"\s*({_NUMBER})\s*(?:±|\+/-|\+-)\s*({_NUMBER})(\s*{_UNIT})?\s*\Z", re.A)


def _short(value: float) -> str:
    return f"{value:.12g}"


def _unit_error(text: str, unit: str, dimension: str) -> QuantityError:
    accepted = units_of(dimension)
    fix = f"a {dimension} is written in {', '.join(accepted)}"
    if dimension == "count":
        fix = "write the bare number; where there is a key `unit`, the unit goes there"
    if not unit:
        return QuantityError(f"{text[:60]!r} has no unit", fix)
    near = [known for known in accepted if known.replace("bit", "b").lower() == unit.lower()]
    if near:
        fix = f"did you mean {' or '.join(near)}?"
    owner = next((name for name, (_, units) in DIMENSIONS.items() if unit in units), None)
    what = f"a unit of {owner}" if owner else "not a unit known here"
    return QuantityError(f"{unit[:20]!r} is {what}", fix)


class _Dimension:
    """Makes `Annotated[Quantity, _Dimension(name)]` the type of a key: text in, Quantity out."""

    def __init__(self, name: str, *, positive: bool = True, most: float = math.inf) -> None:
        self.name = name
        self.positive = positive
        self.most = most

    def core(self, _inner: Any) -> Any:
        """See benchspec.spec.node.Form; in JSON a quantity is its text."""
        as_text = core_schema.to_string_ser_schema(when_used="json")
        return core_schema.no_info_plain_validator_function(self._parse, serialization=as_text)

    def json(self, _inner: dict[str, Any]) -> dict[str, Any]:
        """See benchspec.spec.node.Form."""
        kinds = ["string", "number"] if self.name == "ratio" else ["string"]
        return {"type": kinds, "examples": list(_EXAMPLES[self.name])}

    def _parse(self, value: object) -> Quantity:
        quantity = parse_quantity(value, self.name)
        if quantity.low < 0 or (self.positive and quantity.low == 0):
            wanted = "above zero" if self.positive else "zero or more"
            message = f"{quantity.text[:60]!r} must be {wanted}"
            raise QuantityError(message, "correct the number", "wrong-value")
        if quantity.high > self.most:
            message = f"{quantity.text[:60]!r} is too large"
            raise QuantityError(message, "correct the number", "wrong-value")
        return quantity


class _Figure:
    """A figure in the unit that its key names: `39.2`, `0.0392 s`, `38..40`, `38..40 ms`.

    The Quantity is in that unit, not in the base unit. An `exact` one becomes a float. What a
    figure may be (negative, zero) is not decided here: someone printed it; but a `part` of a whole
    that is above 1 and has no % is a percentage that lost its sign.
    """

    def __init__(
        self, dimension: str, unit: str, *, exact: bool = False, part: bool = False
    ) -> None:
        self.dimension = dimension
        self.unit = unit
        self.exact = exact
        self.part = part

    def core(self, _inner: Any) -> Any:
        """See benchspec.spec.node.Form."""
        return core_schema.no_info_plain_validator_function(self._parse)

    def json(self, _inner: dict[str, Any]) -> dict[str, Any]:
        """See benchspec.spec.node.Form."""
        return {"type": ["number", "string"]}

    def _parse(self, value: object) -> float | Quantity:
        if isinstance(value, Quantity) and value.unit == self.unit:
            return value
        found = parse_quantity(self._with_unit(value), self.dimension)
        factor = DIMENSIONS[self.dimension][1][self.unit]
        if self.part and found.high > 1 and "%" not in found.text:
            message = f"{found.text[:60]!r} is more than the whole"
            raise QuantityError(message, _as_percent(found), "wrong-value")
        if not self.exact:
            text = str(getattr(value, "raw", value))
            low, high = _unscaled(found.low, factor), _unscaled(found.high, factor)
            return Quantity(low, high, self.unit, text)
        if not found.exact:
            message = f"{found.text[:60]!r} is an interval"
            raise QuantityError(message, "write one number", "wrong-value")
        return _unscaled(found.low, factor)

    def _with_unit(self, value: object) -> object:
        """A bare number, or an interval of them, with the unit of the key behind it."""
        text = str(getattr(value, "raw", value)).strip()
        bare = _is_scalar(value) and _BARE.match(text)
        return f"{text} {self.unit}" if bare else value


def _as_percent(found: Quantity) -> str:
    """What was probably meant: a percentage without its sign."""
    if found.high > 100:
        return "correct the number"
    ends = _short(found.low) if found.exact else f"{_short(found.low)}..{_short(found.high)}"
    return f"write '{ends} %', if percent is meant"


def _unscaled(value: float, factor: float) -> float:
    """Without the noise of the conversion to the base unit: 39.2 ms stays 39.2."""
    return float(f"{value / factor:.15g}")


_YEAR_S = 366 * 86400.0

Size = Annotated[Quantity, _Dimension("size", positive=False)]
Bandwidth = Annotated[Quantity, _Dimension("bandwidth")]
Duration = Annotated[Quantity, _Dimension("duration", most=_YEAR_S)]
Pause = Annotated[Quantity, _Dimension("duration", positive=False, most=_YEAR_S)]
Frequency = Annotated[Quantity, _Dimension("frequency")]
Power = Annotated[Quantity, _Dimension("power")]
Compute = Annotated[Quantity, _Dimension("compute")]
Ratio = Annotated[Quantity, _Dimension("ratio", positive=False)]

Bytes = Annotated[Quantity, _Figure("size", "B")]
Count = Annotated[Quantity, _Figure("count", "")]
Joules = Annotated[Quantity, _Figure("energy", "J")]
Milliseconds = Annotated[Quantity, _Figure("duration", "ms")]
Seconds = Annotated[Quantity, _Figure("duration", "s")]
Part = Annotated[Quantity, _Figure("ratio", "", part=True)]
TokensPerSecond = Annotated[Quantity, _Figure("token rate", "tok/s")]
"""Figures that may be intervals."""

OneByte = Annotated[float, _Figure("size", "B", exact=True)]
OneCount = Annotated[float, _Figure("count", "", exact=True)]
OneMillisecond = Annotated[float, _Figure("duration", "ms", exact=True)]
OneSecond = Annotated[float, _Figure("duration", "s", exact=True)]
OnePart = Annotated[float, _Figure("ratio", "", exact=True, part=True)]
OneShare = Annotated[float, _Figure("ratio", "", exact=True)]
OneTokenPerSecond = Annotated[float, _Figure("token rate", "tok/s", exact=True)]
"""Figures of one number."""
