"""TensorRT-LLM: `trtllm-serve`, whose flags are spelled with underscores; its YAML file wins over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchspec.knowledge import arguments, table
from benchspec.knowledge.model import EngineKnowledge, Origin, Reading

_SETTINGS = table.load("tensorrt-llm")
_DIALECT = arguments.Dialect(
    "tensorrt-llm", _SETTINGS, positional=("model",), abbreviations=False, config_flag="config"
)


def parse_args(program: str, argv: Sequence[str], origin: Origin = "command") -> Reading:
    """The settings of `trtllm-serve MODEL ...` and `trtllm-serve serve MODEL ...`."""
    return arguments.parse(_DIALECT, arguments.after(argv, "serve"), origin)


def parse_env(env: Mapping[str, str]) -> Reading:
    """Settings from variables, by exact name."""
    return arguments.parse_env(_SETTINGS, env)


KNOWLEDGE = EngineKnowledge(
    kind="tensorrt-llm",
    settings=_SETTINGS,
    parse_args=parse_args,
    parse_env=parse_env,
    program="trtllm-serve",
    default_slots=2048,
    config_files=("the YAML file given with --config or --extra_llm_api_options",),
)
