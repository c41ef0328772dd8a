"""How a value may be written where it is not simply of its type; see `benchspec.spec.node.Form`."""

from __future__ import annotations

from typing import Any

from pydantic_core import PydanticCustomError, core_schema


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
