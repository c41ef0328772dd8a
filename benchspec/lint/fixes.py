"""What a safe fix is: a change to the data of a spec that the linter can write for its author."""

from typing import NamedTuple

from benchspec.spec.problems import Path


class Put(NamedTuple):
    """The map at `path` gets `key: value`; `value` is YAML as it will be written."""

    path: Path
    key: str
    value: str


class Extend(NamedTuple):
    """The list of numbers at `path` gets `item`, and stays in order."""

    path: Path
    item: int


class Append(NamedTuple):
    """The one-line text at `path`, a command line, gets `words` at its end."""

    path: Path
    words: str


Fix = Put | Extend | Append
