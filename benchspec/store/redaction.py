"""What nobody should publish by accident, taken out before anything is written.

API keys, the home folder, the folders of this run, the host's and the user's name. Ids and keys
are never touched, so that a host called `main` cannot rename an arm.
"""

from __future__ import annotations

import contextlib
import getpass
import re
import socket
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from benchspec.store.records import CellRecord, EngineRecord, Record, RunEnded, TroubleRecord

_GENERIC = frozenset({"root", "user", "admin", "nobody", "ubuntu", "debian", "localhost"})
"""Names that say nothing about a person or a machine; nor does one of two letters."""

_DIGESTS = {"output_sha256", "output_prefixes", "prompt_sha256"}
_IDENTIFIERS = frozenset({"id", "name", "arm", "kind", "effect", "setting"} | _DIGESTS)
"""Keys whose values join records to each other."""

AnyRecord = TypeVar("AnyRecord", bound=Record)


class Redactor:
    """Replaces private strings: `paths` by `~`, `folders` by the name that each is given, hosts and
    users (whole words) and `keys` by a tag."""

    def __init__(
        self,
        *,
        keys: Iterable[str] = (),
        paths: Iterable[str] = (),
        hosts: Iterable[str] = (),
        users: Iterable[str] = (),
        folders: Mapping[str, str] | None = None,
    ) -> None:
        named = sorted((folders or {}).items(), key=lambda item: (-len(item[0]), item[0]))
        self._rules = [
            *_rules(keys, re.escape, "[key]"),
            *(rule for path, name in named for rule in _rules([path], _whole_path, name)),
            *_rules(paths, _whole_path, "~"),
            *_rules(hosts, _word, "[host]"),
            *_rules(users, _word, "[user]"),
        ]

    def text(self, text: str) -> str:
        for pattern, replacement in self._rules:
            text = pattern.sub(replacement, text)
        return text

    def data(self, value: object) -> object:
        """The same for every string inside lists, tuples and maps; their keys stay."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {
                key: item if key in _IDENTIFIERS else self.data(item) for key, item in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.data(item) for item in value]
        return value

    def record(self, record: AnyRecord) -> AnyRecord:
        """The record with its free text redacted."""
        names = _FREE_TEXT.get(type(record))
        if names is None:
            return record
        plain = record.model_dump(mode="json")
        return type(record).model_validate(
            {**plain, **{name: self.data(plain[name]) for name in names}}
        )


_FREE_TEXT: dict[type[Record], tuple[str, ...]] = {
    TroubleRecord: ("findings",),
    EngineRecord: ("argv", "env", "build", "model", "settings", "findings", "facts"),
    CellRecord: ("reason", "requests", "quiet"),
    RunEnded: ("reason",),
}


def _rules(
    texts: Iterable[str], pattern: Callable[[str], str], replacement: str
) -> list[tuple[re.Pattern[str], str]]:
    longest_first = sorted({text for text in texts if text}, key=lambda text: (-len(text), text))
    return [(re.compile(pattern(text), re.IGNORECASE), replacement) for text in longest_first]


def _whole_path(text: str) -> str:
    return rf"{re.escape(text)}(?![A-Za-z0-9_.-])"


def _word(text: str) -> str:
    return rf"(?<![A-Za-z0-9]){re.escape(text)}(?![A-Za-z0-9])"


def of_this_machine(
    environ: Mapping[str, str], key_names: Iterable[str] = (), *, folder: Path | None = None
) -> Redactor:
    """A redactor for this user on this machine; `key_names` are environment variables with keys,
    `folder` is the spec's: paths below it, and below Python's own, are written from there on."""
    home = environ.get("HOME", "")
    homes = [home, str(Path(home).resolve()) if home else "", _account_home()]
    host = socket.gethostname()
    users = {environ.get("USER", ""), environ.get("LOGNAME", ""), _account_name()}
    return Redactor(
        keys=[environ.get(name, "") for name in key_names],
        paths=[path for path in homes if len(path) > 1],
        hosts=_personal([host, host.partition(".")[0]]),
        users=_personal(users),
        folders={
            path: name
            for place, name in ((folder, "."), (Path(sys.prefix), "[python]"))
            if place is not None
            for path in (str(place.absolute()), str(place.resolve()))
            if len(path) > 1
        },
    )


def _personal(names: Iterable[str]) -> list[str]:
    return [name for name in names if len(name) > 2 and name.lower() not in _GENERIC]


def _account_home() -> str:
    with contextlib.suppress(RuntimeError, KeyError):
        return str(Path("~").expanduser())
    return ""


def _account_name() -> str:
    with contextlib.suppress(OSError, KeyError):
        return getpass.getuser()
    return ""
