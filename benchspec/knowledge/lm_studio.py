"""LM Studio 0.4: `lms load` and `lms server start`; most settings live in the app."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchspec.knowledge import arguments, table
from benchspec.knowledge.model import EngineKnowledge, Origin, Reading

_SETTINGS = table.load("lm-studio")
_DIALECT = arguments.Dialect(
    "lm-studio", _SETTINGS, positional=("model",), abbreviations=False, version="0.4"
)


def parse_args(program: str, argv: Sequence[str], origin: Origin = "command") -> Reading:
    """The settings of `lms load MODEL ...` and `lms server start ...`."""
    return arguments.parse(_DIALECT, arguments.after(argv, "load", "server", "start"), origin)


def parse_env(env: Mapping[str, str]) -> Reading:
    """Settings from variables, by exact name."""
    return arguments.parse_env(_SETTINGS, env)


KNOWLEDGE = EngineKnowledge(
    kind="lm-studio",
    settings=_SETTINGS,
    parse_args=parse_args,
    parse_env=parse_env,
    program="lms",
    default_slots=4,
    config_files=("the settings of the app",),
    version=_DIALECT.version,
)
