"""What a safe fix is: a change to the data of a spec that the linter can write for the author."""

from typing import NamedTuple

from benchspec.spec.problems import Path


class Put(NamedTuple):
    """The map at `path` gets `key: value`; `value` is YAML as it will be written."""

    path: Path
    key: str
    value: str


class Extend(NamedTuple):
    """The list of numbers at `path` gets `items`, and stays in order."""

    path: Path
    items: tuple[int, ...]


Fix = Put | Extend
