"""The shapes of engine knowledge: a setting, what a command line states, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

Value = bool | int | float | str | list[Any] | dict[str, Any] | None

# How a value is written. `joined` accumulates over repeats into one comma list, `list` takes several
# words after one flag, `many` any number of them, `optional` none or one, `sweep` and `ints` a comma
# list that the program runs through; `preset` is a bare flag that sets other settings, `exit` ends
# the program.
Kind = Literal[
    "switch", "bool", "int", "float", "word", "choice", "text", "optional", "joined", "list",
    "many", "json", "size", "layers", "pair", "sweep", "ints", "preset", "exit",
]  # fmt: skip

# What a setting can change in a measurement.
AFFECTS = (
    "slots", "context", "kv", "batching", "placement", "threads", "compute", "model",
    "speculation", "sampling", "output", "prompt-cache", "fit", "logging", "server", "none",
)  # fmt: skip

MAX_COMMAND_CHARS = 65_536  # a longer text is no command line that anyone typed

Origin = Literal["flag", "command", "env", "config"]

ProblemKind = Literal[
    "unknown-flag", "removed-flag", "ambiguous-flag", "equals-form", "value-missing",
    "value-invalid", "value-truncated", "value-unexpected", "not-negatable", "stray-argument",
    "duplicate-flag", "deprecated-flag", "flag-and-env", "env-ignored", "preset-flag", "exits",
    "config-file", "unquoted-json", "unbalanced-quote", "not-expanded", "control-character",
    "too-long", "unknown-executable", "other-engine", "not-a-server", "not-a-flag", "abridged",
    "typographic",
]  # fmt: skip


# An engine that meets one of these does not start; after the others it does, with other settings
# than the line seems to say.
STOPPING: frozenset[ProblemKind] = frozenset({
    "unknown-flag", "removed-flag", "ambiguous-flag", "equals-form", "value-missing",
    "value-invalid", "value-unexpected", "not-negatable", "stray-argument", "exits",
})  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """One thing an engine can be told, by flag, environment variable, or both.

    `flags` and `negatives` are spellings as typed, the preferred one first; `default` is the
    engine's own words; `dead` lists choices that parse and then fail or do nothing; `affects` is
    drawn from AFFECTS; `read_back` says where the live server or its log shows the effective value.
    `known` is False where nobody has worked out what the setting does to a measurement.
    """

    name: str
    flags: tuple[str, ...] = ()
    negatives: tuple[str, ...] = ()
    env: str | None = None
    kind: Kind = "text"
    default: str | None = None
    choices: tuple[str, ...] = ()
    dead: tuple[str, ...] = ()
    affects: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    read_back: str | None = None
    since: str | None = None
    until: str | None = None
    note: str | None = None
    known: bool = True

    @property
    def negatable(self) -> bool:
        return bool(self.negatives)

    @property
    def takes_value(self) -> bool:
        return self.kind not in ("switch", "bool", "preset", "exit")

    @property
    def aliases(self) -> tuple[str, ...]:
        """Every other bare name of the same meaning, negative forms not among them."""
        return tuple(bare for flag in self.flags if (bare := flag.lstrip("-")) != self.name)


@dataclass(frozen=True)
class Removed:
    """A spelling that this version no longer has; `successor` is what to write instead.

    `means` is (setting, value) where an old spelling has one exact equivalent; a value of None
    stands for the value that follows the flag. `takes_value` tells whether one followed, `many`
    whether several did. `gone_in` is the first version that is known to be without it, `seen_in`
    the last one that is known to have it.
    """

    names: tuple[str, ...]
    successor: str | None = None
    takes_value: bool = False
    many: bool = False
    means: tuple[str, str | None] | None = None
    gone_in: str | None = None
    seen_in: str | None = None
    note: str | None = None


@dataclass(frozen=True)
class Problem:
    """Something in a command line that does not do what it says; `text` is a whole sentence."""

    kind: ProblemKind
    text: str
    flag: str | None = None

    @property
    def stops(self) -> bool:
        return self.kind in STOPPING


@dataclass(frozen=True)
class SettingUse:
    """One stated setting: `value` is what the engine makes of `raw`, `spelled` as it was typed."""

    name: str
    value: Value
    origin: Origin
    spelled: str
    raw: str | None = None


@dataclass
class Reading:
    """What one source (an argument list, an environment, a file) states."""

    settings: dict[str, SettingUse] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def complain(self, kind: ProblemKind, text: str, flag: str | None = None) -> None:
        self.problems.append(Problem(kind, text, flag))


@dataclass(frozen=True)
class Invocation:
    """An engine's program found in a command line, with its own arguments and environment."""

    engine: str | None
    executable: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class ParsedCommand:
    """A whole command line, understood: which engine, its arguments, and the settings they state."""

    engine: str | None
    executable: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    settings: Mapping[str, SettingUse]
    problems: Sequence[Problem]


@dataclass(frozen=True)
class EngineKnowledge:
    """All that is known of one engine kind.

    `parse_args` takes a program, its arguments and where they come from; `parse_env` takes only the
    variables that were stated. `default_slots` is how many sequences are served at once when
    nothing is said, None where that depends on the device or the model. `config_files` are read by
    the engine on its own. `version` is the one the table describes. `parse_text` reads the engine's
    own kind of file (a Modelfile, a preset); it gives None for a text that is no such file.
    `words_since` are flags that older versions had without a value, and the version that wants one.
    `clients` are the program's commands that ask a server, whose variables they do not set.
    """

    kind: str
    settings: Mapping[str, Setting]
    parse_args: Callable[[str, Sequence[str], Origin], Reading]
    parse_env: Callable[[Mapping[str, str]], Reading]
    program: str | None = None
    removed: tuple[Removed, ...] = ()
    default_slots: int | None = None
    config_files: tuple[str, ...] = ()
    version: str | None = None
    parse_text: Callable[[str], Reading | None] | None = None
    words_since: Mapping[str, str] = field(default_factory=dict)
    clients: tuple[str, ...] = ()

    @cached_property
    def names(self) -> Mapping[str, Setting]:
        """Every bare spelling, negative forms and environment variables included."""
        index: dict[str, Setting] = {}
        for setting in self.settings.values():
            for spelled in (*setting.flags, *setting.negatives, setting.env or setting.name):
                index.setdefault(spelled.lstrip("-"), setting)
        return index | dict(self.settings)

    def find(self, spelled: str) -> Setting | None:
        """The setting meant by a name, a flag as typed, or an environment variable."""
        bare = spelled.lstrip("-")
        return self.names.get(bare) or self.names.get(bare.replace("_", "-"))
