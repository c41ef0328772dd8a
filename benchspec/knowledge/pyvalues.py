"""Values as Python's argument parsers convert them: a number must be a number to its last character."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from benchspec.knowledge.model import ProblemKind, Setting, Value
from benchspec.knowledge.reading import FALSE_WORDS, TRUE_WORDS, unfilled, unknown_yet

Complaint = tuple[ProblemKind, str]
Read = tuple[Value, Complaint | None]

_SIZE = re.compile(r"(\d+(?:\.\d+)?)([kKmMgGtT])")
_DECIMAL = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_MAX_DIGITS = 30


def human_size(text: str) -> int:
    """`1k` is 1000, `1K` is 1024, `25.6k` is 25600; raises ValueError for anything else.

    The rule of vLLM (vllm/utils/argparse_utils.py, human_readable_int) and of SGLang after it:
    small letters are decimal and take fractions, capitals are binary and do not.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        return _whole(text)
    number, suffix = match[1][:_MAX_DIGITS], match[2]
    if suffix in _DECIMAL:
        return int(float(number) * _DECIMAL[suffix])
    return int(number) * _BINARY[suffix]


def _whole(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        raise ValueError(text)
    return int(text)


def read_value(setting: Setting, raw: str, flag: str) -> Read:
    """What a Python engine makes of one value; (None, complaint) where it stops."""
    if raw in ("", "None") and setting.kind != "text":
        return raw or None, None
    reader = _READERS.get(setting.kind)
    if reader is None:
        return raw, None
    try:
        return reader(setting, raw), None
    except (ValueError, RecursionError):
        if unknown_yet(raw):
            return unfilled(raw, flag)
        wants = _WANTS[setting.kind]
        if setting.name.endswith("-config"):
            wants = "a JSON object"
        if setting.choices:
            wants = f"one of {', '.join(setting.choices)}"
        return None, ("value-invalid", f"{flag} {raw[:80]}: not {wants}, and the engine stops")


def _read_size(setting: Setting, raw: str) -> Value:
    if setting.name == "max-model-len" and raw.strip().lower() in ("-1", "auto"):
        return -1
    return human_size(raw)


def _read_choice(setting: Setting, raw: str) -> Value:
    if raw not in setting.choices:
        raise ValueError(raw)
    return raw


def _read_bool(setting: Setting, raw: str) -> Value:
    word = raw.lower()
    if word not in TRUE_WORDS + FALSE_WORDS:
        raise ValueError(raw)
    return word in TRUE_WORDS


def _read_json(setting: Setting, raw: str) -> Value:
    value: Value = json.loads(raw)
    if setting.name.endswith("-config") and not isinstance(value, dict):
        raise ValueError(raw)
    return value


_READERS: dict[str, Callable[[Setting, str], Value]] = {
    "int": lambda _, raw: _whole(raw),
    "float": lambda _, raw: float(raw),
    "size": _read_size,
    "choice": _read_choice,
    "bool": _read_bool,
    "switch": _read_bool,
    "json": _read_json,
}
_WANTS = {
    "int": "a whole number",
    "float": "a number",
    "size": "a whole number, or one like 25.6k (x 1000) or 8K (x 1024)",
    "choice": "a choice of it",
    "bool": "a boolean word",
    "switch": "a boolean word",
    "json": "valid JSON",
}
