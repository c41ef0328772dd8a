"""What the model rejects, in plain sentences: what is there, what is wanted, what to write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic_core import ErrorDetails

from benchspec.spec.problems import FormProblem, Path, dotted, shown
from benchspec.spec.quantity import QuantityError
from benchspec.spec.scalars import reading_1_1

_WANTED = {
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "number_or_text_type": "a number, or text such as '265..315 GB/s',",
    "scalar_type": "text, a number, true or false",
    "list_type": "a list",
    "dict_type": "a map of keys and values",
    "model_type": "a map of keys and values",
}
_BOUNDS = {
    "greater_than": ("above", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("below", "lt"),
    "less_than_equal": ("at most", "le"),
}
_PATTERNS = {
    "sha256": "64 lower-case hexadecimal digits",
    "attach": "http://HOST:PORT or https://HOST/PATH, without user, password or query",
    "api_key_env": "the NAME of an environment variable, which holds the key",
    "id": "a letter or digit, then letters, digits, `.`, `_`, `-`",
}


def problem_of(error: ErrorDetails, prefix: Path, plain: Callable[[Path], bool]) -> FormProblem:
    """A validation error of what stands at `prefix` as a FormProblem.

    `plain` says whether the scalar at a path was written without quotes.
    """
    path: Path = (*prefix, *error["loc"])
    kind = error["type"]
    value = error["input"]
    if kind == "missing":
        where = dotted(path[:-1])
        return FormProblem("missing-key", path, f"`{path[-1]}` is missing in {where}", "add it")
    if kind in ("bool_type", "int_type", "float_type") and isinstance(value, str):
        return _text_for_scalar(path, kind, value, plain(path))
    if kind in _WANTED:
        return _wrong_type(path, kind, value)
    return _wrong_value(path, error)


def _text_for_scalar(path: Path, kind: str, value: str, plain: bool) -> FormProblem:
    other = reading_1_1(value) if plain else None
    if other:
        message = f"{dotted(path)} is `{shown(value)}`: text in YAML 1.2, {other} in YAML 1.1"
        return FormProblem("ambiguous-scalar", path, message, f"write {_unambiguous(kind, value)}")
    return _wrong_type(path, kind, value, "without quotes" if not plain else "")


def _unambiguous(kind: str, value: str) -> str:
    other = reading_1_1(value)
    if kind == "bool_type" and other in ("true", "false"):
        return other
    digits = value.replace("_", "")
    return digits if digits.replace(".", "").isdigit() else _WANTED[kind]


def _wrong_type(path: Path, kind: str, value: object, how: str = "") -> FormProblem:
    wanted = _WANTED[kind]
    message = f"{dotted(path)} is {_what(value)}; {wanted} is wanted"
    fix = f"write {wanted} {how}".rstrip()
    if kind == "string_type" and isinstance(value, bool):
        fix = f"quote it, if the text '{str(value).lower()}' is meant"
    elif kind == "list_type":
        fix = "write a list: [a, b], or one `- item` a line"
    elif path[-1] == "itl_ms" and isinstance(value, int | float | str):
        fix = f"say what it is: {{p50: {shown(value)}}} or {{mean: {shown(value)}}}"
    elif value is None:
        fix = f"write {wanted}, or delete the key"
    return FormProblem("wrong-type", path, message, fix)


def _wrong_value(path: Path, error: ErrorDetails) -> FormProblem:
    kind, value, context = error["type"], error["input"], error.get("ctx", {})
    where, given = dotted(path), _what(value)
    cause = context.get("error")
    if isinstance(cause, QuantityError):
        return FormProblem(cause.kind, path, f"{where}: {cause}", cause.fix)
    if path == ("benchspec",):
        message = f"benchspec is {given}; this program reads version 1 of the language"
        return FormProblem("wrong-value", path, message, "write `benchspec: 1`")
    if kind == "literal_error":
        wanted = str(context["expected"]).replace("'", "")
        if path[-2:] == ("engine", "kind"):
            wanted += f" (of another engine `kind: command`, or openai, and `name: {shown(value)}`)"
        return FormProblem("wrong-value", path, f"{where} is {given}", f"write {wanted}")
    if kind in _BOUNDS:
        word, key = _BOUNDS[kind]
        message = f"{where} is {given}; it must be {word} {context[key]:,}"
        return FormProblem("wrong-value", path, message, "correct the number")
    if kind in ("too_short", "too_long"):
        few = kind == "too_short"
        count = context["min_length" if few else "max_length"]
        message = f"{where} has {'fewer' if few else 'more'} than {count} items"
        return FormProblem(
            "wrong-value", path, message, f"write at {'least' if few else 'most'} {count}"
        )
    if kind == "string_too_short":
        return FormProblem("wrong-value", path, f"{where} is empty", "write some text")
    if kind == "string_too_long":
        message = f"{where} is longer than {context['max_length']} characters"
        return FormProblem("wrong-value", path, message, "shorten it")
    form = _PATTERNS.get(str(path[-1]), _PATTERNS["id"])
    return FormProblem("wrong-value", path, f"{where} is {given}", f"write {form}")


def _what(value: Any) -> str:
    """What stands there, in words."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a map"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return f"the text '{shown(value)}'" if value else "an empty text"
    return f"the number {shown(getattr(value, 'raw', value))}"
