"""Reads the tables of settings under `data/`: tab-separated, one setting a row, `#` for remarks."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from benchspec.knowledge.model import Kind, Setting

DATA = Path(__file__).parent / "data"

Spellings = dict[str, tuple[Setting, bool]]


def load(name: str) -> dict[str, Setting]:
    """The settings of `data/NAME.tsv` by canonical name, in the order of the file.

    Columns: name, flags (`!` before a negative form), env, kind, default, choices (`!` before a
    dead one), affects, conflicts, read_back, note (`?` alone: meaning unknown), and
    where known the versions since and until which it exists.
    """
    lines = (DATA / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return {row[0]: _setting(row) for row in rows[1:]}


def _setting(row: list[str]) -> Setting:
    name, flags, env, kind, default, choices, affects, conflicts, read_back, note = row[:10]
    since, until = (*row[10:], "", "")[:2]
    spelled = flags.split()
    values = choices.split(",") if choices else []
    return Setting(
        name=name,
        flags=tuple(flag for flag in spelled if flag[0] != "!"),
        negatives=tuple(flag[1:] for flag in spelled if flag[0] == "!"),
        env=env or None,
        kind=cast(Kind, kind),
        default=default or None,
        choices=tuple(value.lstrip("!") for value in values),
        dead=tuple(value[1:] for value in values if value[:1] == "!"),
        affects=tuple(affects.split(",")) if affects else (),
        conflicts=tuple(conflicts.split()),
        read_back=read_back or None,
        since=since or None,
        until=until or None,
        note=note if note not in ("", "?") else None,
        known=note != "?",
    )


def spellings(settings: dict[str, Setting]) -> Spellings:
    """Each flag as typed, with its setting and whether it is the positive form."""
    table: Spellings = {}
    for setting in settings.values():
        table.update((flag, (setting, True)) for flag in setting.flags)
        table.update((flag, (setting, False)) for flag in setting.negatives)
    return table
