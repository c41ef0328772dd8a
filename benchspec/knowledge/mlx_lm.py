"""mlx_lm.server 0.32.2: plain argparse; the effective decode concurrency is max(decode, prompt)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchspec.knowledge import arguments, table
from benchspec.knowledge.model import EngineKnowledge, Origin, Reading

_SETTINGS = table.load("mlx-lm")
_DIALECT = arguments.Dialect("mlx-lm", _SETTINGS, version="0.32.2")


def parse_args(program: str, argv: Sequence[str], origin: Origin = "command") -> Reading:
    """The settings of `mlx_lm.server ...`, `mlx_lm server ...` and `python -m mlx_lm server ...`."""
    return arguments.parse(_DIALECT, arguments.after(argv, "server"), origin)


def parse_env(env: Mapping[str, str]) -> Reading:
    """Settings from variables, by exact name."""
    return arguments.parse_env(_SETTINGS, env)


KNOWLEDGE = EngineKnowledge(
    kind="mlx-lm",
    settings=_SETTINGS,
    parse_args=parse_args,
    parse_env=parse_env,
    program="mlx_lm.server",
    default_slots=32,
    version=_DIALECT.version,
)
