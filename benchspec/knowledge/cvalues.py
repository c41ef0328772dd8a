"""Values as llama.cpp's C++ reads them: `stoi` and `stof` stop at the first foreign character."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from benchspec.knowledge.model import ProblemKind, Setting, Value
from benchspec.knowledge.reading import FALSE_WORDS, TRUE_WORDS, unfilled, unknown_yet

CONTEXT_STEP_TOKENS = 256  # src/llama-context.cpp pads the context up to a multiple of this

_INTEGER = re.compile(r"\s*[+-]?\d+")
_FLOAT = re.compile(r"\s*[+-]?(?:\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|inf|nan)", re.I)
_INT32_MAX = 2**31 - 1
_UINT32_MAX = 2**32 - 1  # the seed is read with stoul


def pad(tokens: int) -> int:
    """A context size as llama.cpp rounds it: up to a multiple of 256 tokens."""
    return -(-tokens // CONTEXT_STEP_TOKENS) * CONTEXT_STEP_TOKENS


Complaint = tuple[ProblemKind, str]
Read = tuple[Value, Complaint | None]


def read_value(setting: Setting, raw: str, flag: str) -> Read:
    """What llama.cpp makes of the text of one value; (None, complaint) where it would stop."""
    reader = _READERS.get(setting.kind)
    if reader is None:
        return raw, None
    value, complaint = reader(setting, raw, flag)
    if complaint and unknown_yet(raw):
        return unfilled(raw, flag)
    return value, complaint


def _invalid(setting: Setting, raw: str, flag: str, wants: str) -> tuple[None, Complaint]:
    return None, ("value-invalid", f"{flag} {raw[:80]}: not {wants}, and the server stops")


def _read_int(setting: Setting, raw: str, flag: str) -> Read:
    match = _INTEGER.match(raw)
    if match is None:
        return _invalid(setting, raw, flag, "a whole number")
    value = int(match.group()) if len(match.group()) < 20 else _UINT32_MAX + 1
    highest = _UINT32_MAX if setting.name == "seed" else _INT32_MAX
    if not -_INT32_MAX - 1 <= value <= highest:
        return _invalid(setting, raw, flag, "within 32 bits")
    if setting.name == "parallel" and value == 0:
        return _invalid(setting, raw, flag, "a number of slots (0 is refused; -1 is auto)")
    if match.end() == len(raw):
        return value, None
    said = f"{flag} {raw[:80]} is read as {value}: llama.cpp ignores all that follows the digits"
    if setting.name == "ctx-size" and value % CONTEXT_STEP_TOKENS:
        said += f", then pads it to {pad(value)} tokens"
    return value, ("value-truncated", said)


def _read_float(setting: Setting, raw: str, flag: str) -> Read:
    match = _FLOAT.match(raw)
    if match is None:
        return _invalid(setting, raw, flag, "a number")
    value = float(match.group())
    if match.end() == len(raw):
        return value, None
    said = f"{flag} {raw[:80]} is read as {value}: llama.cpp ignores all that follows the number"
    return value, ("value-truncated", said)


def _read_layers(setting: Setting, raw: str, flag: str) -> Read:
    if raw in ("auto", "all"):
        return raw, None
    value, complaint = _read_int(setting, raw, flag)
    if complaint and complaint[0] == "value-invalid":
        return _invalid(setting, raw, flag, "a number of layers, auto, or all")
    return {-1: "auto", -2: "all"}.get(value, value) if isinstance(value, int) else value, complaint


def _read_word(setting: Setting, raw: str, flag: str) -> Read:
    if raw in TRUE_WORDS:
        return "on", None
    if raw in FALSE_WORDS:
        return "off", None
    if raw in ("auto", "-1") and "auto" in setting.choices:
        return "auto", None
    return _invalid(setting, raw, flag, " or ".join(setting.choices))


def _read_choice(setting: Setting, raw: str, flag: str) -> Read:
    if raw in setting.choices:
        return raw, None
    return _invalid(setting, raw, flag, _choices(setting, raw))


def _choices(setting: Setting, word: str) -> str:
    """All choices, and the one that ends like the word: `mtp` is `draft-mtp` now."""
    meant = [each for each in setting.choices if word and each.endswith(f"-{word}")]
    perhaps = f" (perhaps {meant[0]})" if len(meant) == 1 else ""
    return f"one of {', '.join(setting.choices)}{perhaps}"


def _read_bool(setting: Setting, raw: str, flag: str) -> Read:
    if raw in TRUE_WORDS + FALSE_WORDS:
        return raw in TRUE_WORDS, None
    return _invalid(setting, raw, flag, "on, off, true, false, 1 or 0")


def _read_json(setting: Setting, raw: str, flag: str) -> Read:
    try:
        value: Value = json.loads(raw)
    except (ValueError, RecursionError):
        return _invalid(setting, raw, flag, "valid JSON")
    return value, None


def _read_joined(setting: Setting, raw: str, flag: str) -> Read:
    unknown = [part for part in raw.split(",") if setting.choices and part not in setting.choices]
    if unknown:
        return _invalid(setting, unknown[0], flag, _choices(setting, unknown[0]))
    # common_speculative_types_from_names: `none` in a list stands for the whole list
    return ("none" if setting.choices and "none" in raw.split(",") else raw), None


_READERS: dict[str, Callable[[Setting, str, str], Read]] = {
    "int": _read_int,
    "float": _read_float,
    "layers": _read_layers,
    "word": _read_word,
    "choice": _read_choice,
    "bool": _read_bool,
    "switch": _read_bool,
    "joined": _read_joined,
    "json": _read_json,
}
