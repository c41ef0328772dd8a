"""koboldcpp 1.115: plain argparse; one request at a time unless `--parallelrequests` is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchspec.knowledge import arguments, table
from benchspec.knowledge.model import EngineKnowledge, Origin, Reading

_SETTINGS = table.load("koboldcpp")
_DIALECT = arguments.Dialect(
    "koboldcpp",
    _SETTINGS,
    positional=("model-param", "port"),
    config_flag="config",
    version="1.115",
)


def parse_args(program: str, argv: Sequence[str], origin: Origin = "command") -> Reading:
    """The settings of `koboldcpp ...`."""
    return arguments.parse(_DIALECT, arguments.after(argv), origin)


def parse_env(env: Mapping[str, str]) -> Reading:
    """Settings from variables, by exact name."""
    return arguments.parse_env(_SETTINGS, env)


KNOWLEDGE = EngineKnowledge(
    kind="koboldcpp",
    settings=_SETTINGS,
    parse_args=parse_args,
    parse_env=parse_env,
    program="koboldcpp",
    default_slots=1,
    config_files=("the .kcpps file given with --config",),
    version=_DIALECT.version,
)
