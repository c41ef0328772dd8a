"""Text Generation Inference 3.3: its launcher reads flags, and variables of the same names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchspec.knowledge import arguments, table
from benchspec.knowledge.model import EngineKnowledge, Origin, Reading

_SETTINGS = table.load("tgi")
_DIALECT = arguments.Dialect("tgi", _SETTINGS, abbreviations=False, version="3.3")


def parse_args(program: str, argv: Sequence[str], origin: Origin = "command") -> Reading:
    """The settings of `text-generation-launcher ...`."""
    return arguments.parse(_DIALECT, arguments.after(argv), origin)


def parse_env(env: Mapping[str, str]) -> Reading:
    """Settings from variables, by exact name."""
    return arguments.parse_env(_SETTINGS, env)


KNOWLEDGE = EngineKnowledge(
    kind="tgi",
    settings=_SETTINGS,
    parse_args=parse_args,
    parse_env=parse_env,
    program="text-generation-launcher",
    default_slots=128,
    version=_DIALECT.version,
)
