"""llama-bench, build 11434: not a server, with a parser of its own in which a comma list is a sweep."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchspec.knowledge import table
from benchspec.knowledge.cvalues import read_value
from benchspec.knowledge.model import Origin, Reading, Removed, Setting, SettingUse, Value
from benchspec.knowledge.reading import Collector, did_you_mean, removed_index

_REMOVED = removed_index(
    (
        Removed(("-mmp", "--mmap"), "--load-mode mmap or none", takes_value=True),
        Removed(("-dio", "--direct-io"), "--load-mode dio", takes_value=True),
    )
)
_RANGE = re.compile(r"(-?\d+)(?:-(\d+)(?:([+*])(\d+))?)?")
_MAX_SWEEP = 10_000


def parse_args(argv: Sequence[str], origin: Origin) -> Reading:
    """The settings of a llama-bench command; a sweep's value is the list of what it runs through."""
    spellings = table.spellings(table.load("llamacpp-bench"))
    out = Collector(origin)
    out.reading.complain("not-a-server", "llama-bench is no server: requests cannot be sent to it")
    words = list(argv)[::-1]
    while words:
        word = words.pop()
        flag = word.replace("_", "-") if word.startswith("--") else word
        hit = spellings.get(flag)
        if hit:
            _known(out, hit[0], flag, words)
        elif flag in _REMOVED:
            out.removed(_REMOVED[flag], flag)
            del words[-1:]
        else:
            near = did_you_mean(flag, spellings)
            said = f"{word[:80]} is not a flag of llama-bench{near}"
            out.reading.complain("unknown-flag", said, word[:80])
            if words and not words[-1].startswith("-"):
                words.pop()
    return out.reading


def _known(out: Collector, setting: Setting, flag: str, words: list[str]) -> None:
    if setting.kind == "exit":
        out.reading.complain("exits", f"{flag} prints and exits", flag)
    elif not setting.takes_value:
        out.put(setting, True, flag, None)
    elif not words:
        out.reading.complain("value-missing", f"{flag} needs a value", flag)
    elif setting.kind in ("sweep", "ints", "pair"):
        _sweep(out, setting, flag, words.pop())
    else:
        raw = words.pop()
        value, complaint = read_value(setting, raw, flag)
        if complaint:
            out.reading.complain(*complaint, flag)
        if value is not None:
            out.put(setting, value, flag, raw)


def _sweep(out: Collector, setting: Setting, flag: str, raw: str) -> None:
    """Adds to what earlier repeats gave; `-pg` takes one pair a time."""
    parts: list[Value] = [raw] if setting.kind == "pair" else _expand(setting, raw)
    unknown = [part for part in parts if setting.choices and part not in setting.choices]
    if unknown or not parts:
        said = f"{flag} {raw[:80]}: not a list that llama-bench can read, so it stops"
        out.reading.complain("value-invalid", said, flag)
        return
    before = out.reading.settings.get(setting.name)
    earlier = before.value if before and isinstance(before.value, list) else []
    use = SettingUse(setting.name, [*earlier, *parts], out.origin, flag, raw)
    out.reading.settings[setting.name] = use


def _expand(setting: Setting, raw: str) -> list[Value]:
    """`1,2` and, for whole numbers, `first-last`, `first-last+step`, `first-last*factor`."""
    if setting.kind != "ints":
        return [part for part in raw.split(",") if part]
    values: list[Value] = []
    for part in raw.split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            return []
        value, last = int(match[1]), int(match[2] or match[1])
        step = int(match[4] or 1)
        while value <= last and len(values) < _MAX_SWEEP:
            values.append(value)
            following = value * step if match[3] == "*" else value + step
            if following <= value:
                break
            value = following
    return values
