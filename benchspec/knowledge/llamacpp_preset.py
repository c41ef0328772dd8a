"""llama.cpp's INI files: `--models-preset` of the router, and config.ini read before anything else.

One section a model, `[*]` or no section for all; keys are long or short flags without dashes, or
variable names; a value ends at the first `;` or `#`, even inside JSON. From common/preset.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from benchspec.knowledge.cvalues import read_value
from benchspec.knowledge.model import Reading, Removed, Setting
from benchspec.knowledge.reading import FALSE_WORDS, TRUE_WORDS, Collector, did_you_mean

_HEADER = re.compile(r"\[\s*([^\]\"']+?)\s*\]\s*(?:[;#].*)?")
_PAIR = re.compile(r"([A-Za-z_][\w.-]*)\s*=\s*([^;#]*?)\s*(?:[;#].*)?")
_ROUTER_KEYS = ("version", "load-on-startup", "stop-timeout", "dedup-cache-models")
EVERY_MODEL = "*"
_MAX_PROBLEMS = 100  # a file with more of them is not one of llama.cpp


def parse_preset(
    text: str, settings: Mapping[str, Setting], removed: Mapping[str, Removed]
) -> dict[str, Reading] | None:
    """The settings of each section, `*` for those outside any; None for a text that is no INI file."""
    gone = {flag.lstrip("-"): entry for flag, entry in removed.items()}
    keys = _keys(settings)
    lines = [line.strip() for line in text.splitlines()]
    if len(lines) < 2 and not text.lstrip().startswith("["):
        return None  # `X=1 llama-server` looks like a pair
    sections: dict[str, Collector] = {}
    current = EVERY_MODEL
    for stripped in lines:
        header, pair = _HEADER.fullmatch(stripped), _PAIR.fullmatch(stripped)
        if header:
            current = header[1]
            sections[current] = Collector("config")
        elif pair:
            out = sections.setdefault(current, Collector("config"))
            if len(out.reading.problems) > _MAX_PROBLEMS:
                return None  # each costs a search for what was meant
            _put(out, keys, gone, pair[1], pair[2])
        elif stripped and stripped[0] not in ";#":
            return None
    return {name: out.reading for name, out in sections.items()} or None


def _keys(settings: Mapping[str, Setting]) -> dict[str, tuple[Setting, bool]]:
    keys: dict[str, tuple[Setting, bool]] = {}
    for setting in settings.values():
        if setting.flags:
            keys.update((flag.lstrip("-"), (setting, True)) for flag in setting.flags)
            keys.update((flag.lstrip("-"), (setting, False)) for flag in setting.negatives)
            if setting.env:
                keys[setting.env] = (setting, True)
    return keys


Keys = Mapping[str, tuple[Setting, bool]]


def _put(out: Collector, keys: Keys, gone: Mapping[str, Removed], key: str, raw: str) -> None:
    if key in _ROUTER_KEYS:
        return
    if key in gone:
        out.removed(gone[key], key)
        return
    hit = keys.get(key)
    if hit is None:
        said = (
            f"{key} is not an option of llama.cpp{did_you_mean(key, keys)}, and the file is refused"
        )
        out.reading.complain("unknown-flag", said, key)
        return
    setting, positive = hit
    if not setting.takes_value:
        if raw not in FALSE_WORDS or setting.kind == "bool":
            out.put(setting, (raw in TRUE_WORDS) is positive, key, raw)
        return
    value, complaint = read_value(setting, raw, key)
    if complaint:
        out.reading.complain(*complaint, key)
    if value is not None:
        out.put(setting, value, key, raw)
