"""How a value may be written where it is not simply of its type; see `benchspec.spec.node.Form`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic_core import PydanticCustomError, core_schema

from benchspec.spec.node import key

LARGEST = 10**15  # larger counts are typing errors, and would not survive a float


class AsText:
    """Text as written: `1.10` and a digits-only digest stay text where text is wanted."""

    def core(self, inner: Any) -> Any:
        """Numbers are replaced by what was written for them."""
        return core_schema.no_info_before_validator_function(_written, inner)

    def json(self, inner: dict[str, Any]) -> dict[str, Any]:
        """Text, or a number that editors must not underline."""
        return inner | {"type": ["string", "number"]}


class WholeFloat:
    """A whole number, of which `1e3` is one."""

    def core(self, inner: Any) -> Any:
        """Floats without a fraction become ints."""
        return core_schema.no_info_before_validator_function(_whole, inner)

    def json(self, inner: dict[str, Any]) -> dict[str, Any]:
        """JSON Schema's integers include 1000.0."""
        return inner


class OneIsList:
    """A list, or one item of it: `concurrency: 4`."""

    def core(self, inner: Any) -> Any:
        """One item becomes a list of one."""
        return core_schema.no_info_before_validator_function(_listed, inner)

    def json(self, inner: dict[str, Any]) -> dict[str, Any]:
        """An item or the list."""
        return {"anyOf": [inner["items"], inner]}


class NumberOrText:
    """A number or text, kept as written: `1.2`, or `265..315 GB/s`."""

    def core(self, _inner: Any) -> Any:
        """One check instead of a union, which would report each of its members."""
        return core_schema.no_info_plain_validator_function(_number_or_text)

    def json(self, _inner: dict[str, Any]) -> dict[str, Any]:
        """A number or text."""
        return {"type": ["number", "string"]}


class AnyScalar:
    """Text, a number or a boolean, as a server or a command line says it."""

    def core(self, _inner: Any) -> Any:
        """See NumberOrText."""
        return core_schema.no_info_plain_validator_function(_scalar)

    def json(self, _inner: dict[str, Any]) -> dict[str, Any]:
        """Anything but a list, a map or null."""
        return {"type": ["string", "number", "boolean"]}


class NotAvailable:
    """A number, or null or N/A where a counter had none; both are kept as None."""

    def core(self, inner: Any) -> Any:
        """See NumberOrText."""
        return core_schema.no_info_before_validator_function(
            _available, core_schema.nullable_schema(inner)
        )

    def json(self, inner: dict[str, Any]) -> dict[str, Any]:
        """A number, null, or the words."""
        return {"anyOf": [inner, {"enum": ["N/A", "n/a", None]}]}


Text = Annotated[str, AsText()]
Texts = Annotated[list[Text], OneIsList()]
Threshold = Annotated[float | str, NumberOrText()]
Whole = Annotated[int, key(ge=-LARGEST, le=LARGEST), WholeFloat()]
PositiveInt = Annotated[int, key(gt=0, le=LARGEST), WholeFloat()]
Name = Annotated[Text, key(min_length=1, max_length=200)]
Id = Annotated[Text, key(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9._'’-]*$")]
Setting = Annotated[str | int | float | bool, AnyScalar()]


def _written(value: object) -> object:
    raw = getattr(value, "raw", None)
    return raw if isinstance(raw, str) else value


def _whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _listed(value: object) -> object:
    return value if isinstance(value, list | dict) else [value]


def _number_or_text(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise PydanticCustomError("number_or_text_type", "a number or text is wanted")
    return value


def _scalar(value: object) -> object:
    if not isinstance(value, int | float | str):
        raise PydanticCustomError("scalar_type", "text, a number or a boolean is wanted")
    return value


def _available(value: object) -> object:
    return None if value in ("N/A", "n/a") else value
