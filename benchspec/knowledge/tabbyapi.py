"""TabbyAPI: arguments of its start script, which are the keys of config.yml with dashes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchspec.knowledge import arguments, table
from benchspec.knowledge.model import EngineKnowledge, Origin, Reading

_SETTINGS = table.load("tabbyapi")
_DIALECT = arguments.Dialect("tabbyapi", _SETTINGS, config_flag="config", underscores=True)


def parse_args(program: str, argv: Sequence[str], origin: Origin = "command") -> Reading:
    """The settings of TabbyAPI's `main.py` or `start.py`."""
    return arguments.parse(_DIALECT, arguments.after(argv), origin)


def parse_env(env: Mapping[str, str]) -> Reading:
    """Settings from variables, by exact name."""
    return arguments.parse_env(_SETTINGS, env)


KNOWLEDGE = EngineKnowledge(
    kind="tabbyapi",
    settings=_SETTINGS,
    parse_args=parse_args,
    parse_env=parse_env,
    program="tabbyapi",
    config_files=("config.yml",),
)
