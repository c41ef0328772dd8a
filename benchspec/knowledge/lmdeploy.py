"""LMDeploy 0.18.0: `lmdeploy serve api_server`; argparse with `_` for `-` and dotted JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchspec.knowledge import arguments, dotted, table
from benchspec.knowledge.model import EngineKnowledge, Origin, Reading

_SETTINGS = table.load("lmdeploy")
_DIALECT = arguments.Dialect(
    "lmdeploy", _SETTINGS, positional=("model",), underscores=True, version="0.18.0"
)
_OTHERS = ("lite", "chat", "convert", "check_env", "list")
_PROXY = ("serve", "proxy")


def parse_args(program: str, argv: Sequence[str], origin: Origin = "command") -> Reading:
    """The settings of `lmdeploy serve api_server MODEL ...`."""
    others = (argv[:1] and argv[0] in _OTHERS) or tuple(argv[:2]) == _PROXY
    if origin == "command" and others:
        reading = Reading()
        said = (
            f"lmdeploy {' '.join(argv[:2])[:40]} serves no model; `lmdeploy serve api_server` does"
        )
        reading.complain("not-a-server", said, program)
        return reading
    words = arguments.after(argv, "serve", "api_server")
    plain, nested, broken = dotted.split(words, _DIALECT)
    reading = arguments.parse(_DIALECT, plain, origin)
    reading.problems += broken.problems
    dotted.put(reading, nested, _DIALECT, origin)
    return reading


def parse_env(env: Mapping[str, str]) -> Reading:
    """Settings from variables, by exact name."""
    return arguments.parse_env(_SETTINGS, env)


KNOWLEDGE = EngineKnowledge(
    kind="lmdeploy",
    settings=_SETTINGS,
    parse_args=parse_args,
    parse_env=parse_env,
    program="lmdeploy",
    default_slots=None,
    version=_DIALECT.version,
)
