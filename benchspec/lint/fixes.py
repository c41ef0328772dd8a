"""What a safe fix is: a change to the data of a spec that the linter can write for the author."""

from __future__ import annotations

from dataclasses import dataclass

from benchspec.spec.problems import Path


@dataclass(frozen=True)
class Put:
    """The map at `path` gets `key: value`; `value` is YAML as it will be written."""

    path: Path
    key: str
    value: str


@dataclass(frozen=True)
class Extend:
    """The list of numbers at `path` gets `items`, and stays in order."""

    path: Path
    items: tuple[int, ...]


Fix = Put | Extend
