"""Command lines of engines whose parser is Python's argparse or of its family (click, clap, Go flag).

`--flag value` and `--flag=value`; with argparse also every unique beginning of a long flag, several
values after one flag, and values that look like negative numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchspec.knowledge import pyvalues, table
from benchspec.knowledge.model import Origin, Reading, Removed, Setting, Value
from benchspec.knowledge.reading import Collector, did_you_mean, removed_index

_NEGATIVE_NUMBER = re.compile(r"-\d+|-\d*\.\d+")


@dataclass(frozen=True)
class Dialect:
    """How one program reads its arguments.

    `positional` names the settings that words without a flag fill, in order; `abbreviations` allows
    unique beginnings; `underscores` reads `_` as `-` in long flags; `one_dash_long` and
    `switch_values` (`--x=false`) are Go's way; `config_flag` names the setting whose value is a file
    of more settings; `deprecated` says of a setting that still works what to know; `version` is the
    one that the table describes.
    """

    engine: str
    settings: Mapping[str, Setting]
    removed: Sequence[Removed] = ()
    positional: tuple[str, ...] = ()
    abbreviations: bool = True
    underscores: bool = False
    one_dash_long: bool = False
    switch_values: bool = False
    config_flag: str | None = None
    deprecated: Mapping[str, str] = field(default_factory=dict)
    version: str | None = None
    spellings: table.Spellings = field(init=False)
    gone: Mapping[str, Removed] = field(init=False)

    def __post_init__(self) -> None:
        spelled = table.spellings(dict(self.settings))
        if self.one_dash_long:
            spelled |= {flag[1:]: hit for flag, hit in spelled.items() if flag[:2] == "--"}
        object.__setattr__(self, "spellings", spelled)
        object.__setattr__(self, "gone", removed_index(self.removed))

    @property
    def called(self) -> str:
        """The engine with the version of the table."""
        return f"{self.engine} {self.version}" if self.version else self.engine

    def normal(self, flag: str) -> str:
        """A flag as the table spells it."""
        return flag.replace("_", "-") if self.underscores and flag.startswith("--") else flag


def parse(dialect: Dialect, argv: Sequence[str], origin: Origin) -> Reading:
    """The settings of an argument list; goes on after what would stop the engine."""
    parser = _Parser(dialect, origin)
    parser.run(argv)
    reading = parser.out.reading
    for name, use in reading.settings.items():
        if name == dialect.config_flag:
            said = f"more settings come from {use.value}, which is not read here"
            reading.complain("config-file", said, use.spelled)
        if name in dialect.deprecated:
            said = f"{use.spelled} is deprecated: {dialect.deprecated[name]}"
            reading.complain("deprecated-flag", said, use.spelled)
    return reading


def after(argv: Sequence[str], *subcommands: str) -> list[str]:
    """The arguments behind the sub-commands that open the list, as far as they do."""
    rest = list(argv)
    for word in subcommands:
        if rest[:1] == [word]:
            rest.pop(0)
    return rest


def parse_env(settings: Mapping[str, Setting], env: Mapping[str, str]) -> Reading:
    """The settings that variables state, for engines that read them by exact name."""
    out = Collector("env")
    for setting in settings.values():
        if setting.env is None or setting.env not in env:
            continue
        raw = env[setting.env]
        value, complaint = pyvalues.read_value(setting, raw, setting.env)
        if complaint:
            out.reading.complain(*complaint, setting.env)
        else:
            out.put(setting, value, setting.env, raw)
    return out.reading


class _Parser:
    def __init__(self, dialect: Dialect, origin: Origin) -> None:
        self.dialect = dialect
        self.out = Collector(origin)
        self.words: list[str] = []
        self.positions = list(dialect.positional)
        self.bare = ""  # a flag without a value that stands just before

    def run(self, argv: Sequence[str]) -> None:
        self.words = list(argv)[::-1]
        while self.words:
            word = self.words.pop()
            bare, self.bare = self.bare, ""
            if word == "--":
                for rest in self.words[::-1]:
                    self._positional(rest)
                return
            if self._looks_like_flag(word):
                self._flag(word)
            else:
                self._positional(word, bare)

    def _looks_like_flag(self, word: str) -> bool:
        """argparse's rule: a dash first, no space inside, and not a negative number."""
        if len(word) < 2 or word[0] != "-" or _NEGATIVE_NUMBER.fullmatch(word):
            return False
        return " " not in word.partition("=")[0]

    def _positional(self, word: str, bare: str = "") -> None:
        if self.positions and not (bare and word.lower() in ("true", "false")):
            setting = self.dialect.settings[self.positions.pop(0)]
            self._store(setting, setting.name, word)
            return
        said = f"{word[:80]!r} belongs to no flag; {self.dialect.engine} takes no such argument"
        if bare:
            said = f"{word[:80]!r} follows {bare}, which takes no value: leave it out"
        self.out.reading.complain("stray-argument", said, word[:80])

    def _flag(self, word: str) -> None:
        spelled, equals, attached = word.partition("=")
        flag = self.dialect.normal(spelled)
        hit = self.dialect.spellings.get(flag)
        if hit is None and flag in self.dialect.gone:
            self._removed(self.dialect.gone[flag], flag, attached if equals else None)
            return
        if hit is None and (joined := self._joined_short(word)):
            flag, attached, equals = joined[0], joined[1], "="
            hit = self.dialect.spellings[flag]
        if hit is None and self.dialect.abbreviations:
            flag, hit = self._abbreviated(flag)
        if hit is None:
            self._unknown(spelled, flag, bool(equals))
        else:
            self._known(*hit, flag, attached if equals else None)

    def _joined_short(self, word: str) -> tuple[str, str] | None:
        """`-n2`: a one-letter flag with its value attached."""
        short = word[:2]
        hit = self.dialect.spellings.get(short)
        if hit and hit[0].takes_value and len(word) > 2 and word[:2] != "--":
            return short, word[2:].removeprefix("=")
        return None

    def _abbreviated(self, flag: str) -> tuple[str, tuple[Setting, bool] | None]:
        found = [full for full in self.dialect.spellings if full.startswith(flag)]
        hits = {id(self.dialect.spellings[full][0]): full for full in found}
        if len(hits) > 1 and flag != "-":
            said = f"{flag} could be {', '.join(found[:6])}: the engine stops"
            self.out.reading.complain("ambiguous-flag", said, flag)
        if len(hits) != 1 or len(flag) < 3:
            return flag, None
        full = found[0]
        return full, self.dialect.spellings[full]

    def _known(self, setting: Setting, positive: bool, flag: str, attached: str | None) -> None:
        if setting.kind == "exit":
            said = f"{flag} prints and exits: no server starts"
            self.out.reading.complain("exits", said, flag)
        elif not setting.takes_value:
            self._bare(setting, positive, flag, attached)
        elif setting.kind in ("list", "many"):
            self._list(setting, flag, attached)
        elif attached is not None:
            self._store(setting, flag, attached)
        elif self.words and not self._looks_like_flag(self.words[-1]):
            self._store(setting, flag, self.words.pop())
        elif setting.kind == "optional":
            self.out.put(setting, True, flag, None)
        else:
            follows = f"; {self.words[-1][:60]} is a flag" if self.words else ""
            wants = ", ".join(setting.choices) or setting.kind
            said = f"{flag} needs a value ({wants}){follows}, and the engine stops"
            self.out.reading.complain("value-missing", said, flag)

    def _bare(self, setting: Setting, positive: bool, flag: str, attached: str | None) -> None:
        value: Value = positive
        if attached is not None and self.dialect.switch_values:
            stated, complaint = pyvalues.read_value(setting, attached, flag)
            value = attached if complaint else stated is positive
        elif attached is not None:
            instead = f"for false: {setting.negatives[0]}" if setting.negatives else "leave it out"
            said = (
                f"{flag}={attached[:40]}: {flag} takes no value, and the engine stops ({instead})"
            )
            self.out.reading.complain("value-unexpected", said, flag)
            stated, complaint = pyvalues.read_value(setting, attached, flag)
            value = value if complaint else stated is positive
        else:
            self.bare = flag
        self.out.put(setting, value, flag, attached)

    def _list(self, setting: Setting, flag: str, attached: str | None) -> None:
        items = [attached] if attached is not None else []
        while attached is None and self.words and not self._looks_like_flag(self.words[-1]):
            items.append(self.words.pop())
        if not items and setting.kind == "list":
            said = f"{flag} needs one or more values, and the engine stops"
            self.out.reading.complain("value-missing", said, flag)
            return
        self.out.put(setting, list(items), flag, " ".join(items))

    def _store(self, setting: Setting, flag: str, raw: str) -> None:
        value, complaint = pyvalues.read_value(setting, raw, flag)
        if complaint:
            self.out.reading.complain(*complaint, flag)
        if not complaint or value is not None:
            self.out.put(setting, value, flag, raw)

    def _unknown(self, spelled: str, flag: str, attached: bool) -> None:
        problems = self.out.reading.problems
        if not (problems and problems[-1].kind == "ambiguous-flag" and problems[-1].flag == flag):
            near = did_you_mean(flag, self.dialect.spellings)
            said = f"{spelled[:80]} is not a flag of {self.dialect.called}{near}"
            self.out.reading.complain("unknown-flag", said, spelled[:80])
        if not attached and self.words and not self._looks_like_flag(self.words[-1]):
            self.words.pop()

    def _removed(self, entry: Removed, flag: str, attached: str | None) -> None:
        self.out.removed(entry, flag, self.dialect.called)
        raw = attached
        if raw is None and entry.takes_value and self.words:
            raw = self.words.pop()
        while entry.many and self.words and not self._looks_like_flag(self.words[-1]):
            raw = f"{raw} {self.words.pop()}"
        if entry.means is None:
            return
        name, constant = entry.means
        text = constant if constant is not None else raw
        setting = self.dialect.settings[name]
        if entry.many and text is not None:
            self.out.set(setting, list(text.split()), flag, raw)
            return
        if text is not None:
            value, complaint = pyvalues.read_value(setting, text, flag)
            if complaint is None:
                self.out.set(setting, value, flag, raw)
