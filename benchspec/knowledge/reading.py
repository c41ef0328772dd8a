"""What every engine's parser shares: noting a setting once, and finding the nearest known name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from benchspec.knowledge.model import (
    Origin,
    ProblemKind,
    Reading,
    Removed,
    Setting,
    SettingUse,
    Value,
)

TRUE_WORDS = ("on", "enabled", "true", "1")
FALSE_WORDS = ("off", "disabled", "false", "0")


_PLACEHOLDER = re.compile(r"\$\{?\w|\$\(|`|%[A-Za-z_]\w*%|![A-Z_]+!|<[A-Za-z][^<>]*>|\{\{|FILL IN")
DASHES = ("‐", "‑", "‒", "–", "—", "―", "−")  # what web pages make of a hyphen
_PRINTED = str.maketrans(dict.fromkeys(DASHES, "-"))


def unknown_yet(raw: str) -> bool:
    """True for a value that stands for another: `$PORT`, `%PORT%`, `<path>`."""
    return _PLACEHOLDER.search(raw) is not None


def unfilled(raw: str, flag: str) -> tuple[str, tuple[ProblemKind, str] | None]:
    """Such a value as it is written: what it stands for may well be one that the engine takes.

    A variable is a problem where it is found; a `<placeholder>` inside quotes is found only here.
    """
    if "<" not in raw:
        return raw, None
    return raw, ("not-expanded", f"{flag} {raw[:120]} is still to be filled in")


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known spelling closest to an unknown one, or None where nothing is close.

    One that has the word as its ending (`--eagle-topk`) comes before one that looks like it; short
    words look like everything, so for them nothing is offered.
    """
    import difflib

    bare = word[:80].lstrip("-").replace("_", "-")
    if len(bare) < 4:
        return None
    names = list(known)
    longer = [name for name in names if name.replace("_", "-").endswith(f"-{bare}")]
    close = difflib.get_close_matches(word[:80], names, n=1, cutoff=0.75)
    return next(iter([*longer, *close]), None)


def straightened(word: str, flags: Iterable[str]) -> str:
    """`–tp` as `--tp`: a flag whose dashes a web page has replaced, as one of `flags` spells it."""
    if word[:1] not in DASHES:
        return word
    name, equals, value = word.partition("=")
    plain = name.translate(_PRINTED).lstrip("-")
    bare = plain.partition(".")[0].replace("_", "-")
    known = {flag.replace("_", "-") for flag in flags}
    dashes = "-" if f"--{bare}" not in known and f"-{bare}" in known else "--"
    return f"{dashes}{plain}{equals}{value}" if plain[:1].isalpha() else word


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; the nearest known is X`, or nothing."""
    close = nearest(word, known)
    return f"; the nearest known one is {close}" if close else ""


class Collector:
    """Fills a Reading in the order of the arguments: the last value of a setting wins."""

    def __init__(self, origin: Origin) -> None:
        self.reading = Reading()
        self.origin = origin

    def put(self, setting: Setting, value: Value, spelled: str, raw: str | None) -> None:
        """Notes a use; a setting stated before is a problem, except where repeats accumulate."""
        before = self.reading.settings.get(setting.name)
        if before is not None and setting.kind == "joined":
            value = f"{before.value},{value}"
        elif before is not None and before.value != value:
            self._duplicate(before, spelled, value)
        self.set(setting, value, spelled, raw)

    def set(self, setting: Setting, value: Value, spelled: str, raw: str | None) -> None:
        """Notes a use in place of any before it."""
        use = SettingUse(setting.name, value, self.origin, spelled, raw)
        self.reading.settings[setting.name] = use

    def _duplicate(self, before: SettingUse, spelled: str, value: Value) -> None:
        twice = spelled if before.spelled == spelled else f"{before.spelled} and {spelled}"
        said = (
            f"{twice} set {before.name} twice ({before.value}, then {value}); the last one wins"
            if twice != spelled
            else f"{spelled} is given twice ({before.value}, then {value}); the last one wins"
        )
        self.reading.complain("duplicate-flag", said, spelled)

    def removed(self, entry: Removed, spelled: str, version: str | None = None) -> None:
        """A spelling that `version` no longer has, with what to write instead."""
        instead = f"; write {entry.successor}" if entry.successor else ""
        since = f" as of {version}" if version else ""
        since = f" since {entry.gone_in}" if entry.gone_in else since
        note = f" ({entry.note})" if entry.note else ""
        said = f"{spelled} no longer exists{since}{instead}{note}"
        self.reading.complain("removed-flag", said, spelled)


def removed_index(removed: Sequence[Removed]) -> dict[str, Removed]:
    """Removed entries by each of their spellings."""
    return {name: entry for entry in removed for name in entry.names}
