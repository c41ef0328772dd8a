"""What every engine's parser shares: noting a setting once, and finding the nearest known name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchspec.knowledge.model import Origin, Reading, Removed, Setting, SettingUse, Value

TRUE_WORDS = ("on", "enabled", "true", "1")
FALSE_WORDS = ("off", "disabled", "false", "0")


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known spelling closest to an unknown one, or None where nothing is close."""
    import difflib

    close = difflib.get_close_matches(word[:80], list(known), n=1, cutoff=0.6)
    return close[0] if close else None


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
        elif before is not None and (before.value != value or before.spelled == spelled):
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

    def removed(self, entry: Removed, spelled: str) -> None:
        """A spelling this version no longer has, with what to write instead."""
        instead = f"; write {entry.successor}" if entry.successor else ""
        since = f" since {entry.gone_in}" if entry.gone_in else ""
        note = f" ({entry.note})" if entry.note else ""
        said = f"{spelled} no longer exists{since}{instead}{note}"
        self.reading.complain("removed-flag", said, spelled)


def removed_index(removed: Sequence[Removed]) -> dict[str, Removed]:
    """Removed entries by each of their spellings."""
    return {name: entry for entry in removed for name in entry.names}
