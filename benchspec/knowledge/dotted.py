"""Dotted flags: `--x.a.b v` builds the JSON of `--x`, `--x.a+ v,w` appends to a list inside it.

The rule of vLLM's argument parser (vllm/utils/argparse_utils.py), which LMDeploy shares: values are
JSON where they parse as JSON, the same key twice keeps the last, the built JSON replaces `--x JSON`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from benchspec.knowledge import pyvalues
from benchspec.knowledge.arguments import Dialect
from benchspec.knowledge.model import Origin, Reading, SettingUse, Value
from benchspec.knowledge.reading import did_you_mean

_DOTTED = re.compile(r"--?[A-Za-z][\w-]*\.[^=\s]+(?:=.*)?", re.DOTALL)
_MAX_DEPTH = 16

Dotted = dict[str, dict[str, Value]]


def split(words: Sequence[str], dialect: Dialect) -> tuple[list[str], Dotted, Reading]:
    """Words without the dotted flags, and the nested values that those build, by flag."""
    plain: list[str] = []
    nested: Dotted = {}
    broken = Reading()
    rest = list(words)[::-1]
    while rest:
        word = rest.pop()
        flag, equals, text = word.partition("=")
        if not _DOTTED.fullmatch(word) or "." not in flag:
            plain.append(word)
            continue
        if not equals:
            if not rest:
                broken.complain("value-missing", f"{flag} needs a value", flag)
                continue
            text = rest.pop()
        head, *path = flag.removesuffix("+").split(".")
        value = _dotted_value(text, appends=flag.endswith("+"))
        _merge(nested.setdefault(dialect.normal(head), {}), path[:_MAX_DEPTH], value, flag, broken)
    return plain, nested, broken


def _dotted_value(text: str, *, appends: bool) -> Value:
    if appends:
        return list(text.split(","))
    try:
        value: Value = json.loads(text)
        return value
    except (ValueError, RecursionError):
        pass
    try:
        return pyvalues.human_size(text)
    except ValueError:
        return text


def _merge(
    into: dict[str, Value], path: Sequence[str], value: Value, flag: str, broken: Reading
) -> None:
    *parents, last = path
    for key in parents:
        below = into.get(key)
        if not isinstance(below, dict):
            below = {}
            into[key] = below
        into = below
    before = into.get(last)
    if isinstance(before, list) and isinstance(value, list):
        into[last] = [*before, *value]
        return
    if last in into:
        said = f"{flag} is given twice ({before}, then {value}); the last one wins"
        broken.complain("duplicate-flag", said, flag)
    into[last] = value


def put(reading: Reading, dotted: Dotted, dialect: Dialect, origin: Origin) -> None:
    """Notes the built values; they come last, so they replace what `--x JSON` said."""
    for flag, value in dotted.items():
        hit = dialect.spellings.get(flag)
        if hit is None or hit[0].kind != "json":
            near = did_you_mean(flag, dialect.spellings)
            reading.complain(
                "unknown-flag", f"{flag}.… is not a flag of {dialect.engine}{near}", flag
            )
            continue
        setting = hit[0]
        if setting.name in reading.settings:
            said = f"{flag} as JSON and {flag}.… together: only the dotted values count"
            reading.complain("duplicate-flag", said, flag)
        raw = json.dumps(value, ensure_ascii=False)
        reading.settings[setting.name] = SettingUse(setting.name, value, origin, flag, raw)
