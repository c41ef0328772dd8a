"""llama-swap v250: a proxy; its limits live in config.yaml, the engine behind it has its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchspec.knowledge import arguments, table
from benchspec.knowledge.model import EngineKnowledge, Origin, Reading

_SETTINGS = table.load("llama-swap")
_DIALECT = arguments.Dialect(
    "llama-swap",
    _SETTINGS,
    abbreviations=False,
    one_dash_long=True,
    switch_values=True,
    config_flag="config",
)


def parse_args(program: str, argv: Sequence[str], origin: Origin = "command") -> Reading:
    """The settings of `llama-swap ...`, in Go's spelling: one dash or two."""
    return arguments.parse(_DIALECT, arguments.after(argv), origin)


def parse_env(env: Mapping[str, str]) -> Reading:
    """Settings from variables, by exact name."""
    return arguments.parse_env(_SETTINGS, env)


KNOWLEDGE = EngineKnowledge(
    kind="llama-swap",
    settings=_SETTINGS,
    parse_args=parse_args,
    parse_env=parse_env,
    program="llama-swap",
    default_slots=10,
    config_files=("config.yaml",),
    version="v250",
)
