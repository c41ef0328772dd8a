"""What an unquoted YAML scalar means: the YAML 1.2 core schema, and where YAML 1.1 differs.

`off`, `yes` and `12:30` are text, `017` is 17, `0o17` is 15, `1e3` is a number
(https://yaml.org/spec/1.2.2/#103-core-schema). Numbers remember how they were written.
"""

from __future__ import annotations

import re

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL = dict.fromkeys(("true", "True", "TRUE"), True) | dict.fromkeys(
    ("false", "False", "FALSE"), False
)
_INT = re.compile(r"[-+]?[0-9]+\Z|0o[0-7]+\Z|0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z")
_LONGEST_NUMBER = 400  # longer digit strings are text; float64 ends at 309 digits

# The YAML 1.1 readings that differ: https://yaml.org/type/bool.html, .../int.html
_WORDS_1_1 = frozenset(
    form
    for word in ("y", "yes", "on", "n", "no", "off")
    for form in (word, word.capitalize(), word.upper())
)
_ZERO_LED = re.compile(r"[-+]?0[0-9_]*[0-9]\Z")
_SEXAGESIMAL = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?\Z")
_UNDERSCORED = re.compile(r"[-+]?[0-9][0-9_]*_[0-9_]*(?:\.[0-9_]*)?\Z")


class Int(int):
    """An integer and `raw`, the text that it was written as."""

    raw: str

    def __new__(cls, value: int, raw: str = "") -> Int:
        number = super().__new__(cls, value)
        number.raw = raw or str(value)
        return number


class Float(float):
    """A floating-point number and `raw`, the text that it was written as."""

    raw: str

    def __new__(cls, value: float, raw: str = "") -> Float:
        number = super().__new__(cls, value)
        number.raw = raw or str(value)
        return number


Scalar = None | bool | int | float | str


def resolve(text: str) -> Scalar:
    """The value of an unquoted scalar: None, a bool, an Int, a Float or the text itself."""
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if len(text) > _LONGEST_NUMBER:
        return text
    if _INT.match(text):
        base = {"0o": 8, "0x": 16}.get(text[:2], 10)
        return Int(int(text[2:] if base != 10 else text, base), text)
    if _FLOAT.match(text):
        return Float(float(text), text)
    if _NOT_FINITE.match(text):
        return Float(float(text.replace(".", "")), text)
    return text


def reading_1_1(text: str) -> str | None:
    """How a YAML 1.1 parser may read the unquoted `text` otherwise than here, or None."""
    if len(text) > _LONGEST_NUMBER:
        return None
    if text in _WORDS_1_1:
        return "true" if text.lower() in ("y", "yes", "on") else "false"
    if _ZERO_LED.match(text):
        return "an octal number"
    if text.startswith("0o"):
        return "text"
    if _SEXAGESIMAL.match(text):
        return "a number in base 60"
    if _UNDERSCORED.match(text):
        return "a number"
    if re.match(r"[-+]?0b[01_]+\Z", text):
        return "a binary number"
    return None
