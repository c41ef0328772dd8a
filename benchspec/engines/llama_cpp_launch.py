"""How a llama.cpp server is called: argv and environment (pure, but for finding the binary)."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import benchspec
from benchspec.engines.base import Launch
from benchspec.errors import EnvironmentFailure, UsageError

LOOPBACK = "127.0.0.1"
LOG_VERBOSITY = 4  # below it llama.cpp does not print what it changed: fit, offload, KV size
_VERBOSITY_FLAGS = frozenset({"-lv", "--verbosity", "--log-verbosity", "-v", "--verbose"})


def embedded_argv(launch: Launch) -> list[str]:
    """The embedded server with this interpreter; it chooses its own free port.

    `-P` keeps the current folder, which may hold a stranger's spec, off the import path.
    """
    module = [sys.executable, "-P", "-m", "benchspec.engines.llama_cpp_embedded"]
    return module + _server_flags(launch, port=0)


def binary_argv(launch: Launch, port: int) -> list[str]:
    """A llama-server binary on `port`. Raises EnvironmentFailure when there is no such program."""
    return [_executable(launch.binary or "llama-server"), *_server_flags(launch, port)]


def _server_flags(launch: Launch, port: int) -> list[str]:
    """The spec's flags, then ours: of two spellings of a flag llama-server takes the last one."""
    if launch.model_path is None:
        raise UsageError(
            "llama.cpp cannot be started without a model file.",
            hint="Give model.source in the spec, or attach to a server that runs.",
        )
    flags = list(launch.argv)
    if not _VERBOSITY_FLAGS.intersection(flags):
        flags += ["-lv", str(LOG_VERBOSITY)]
    if "--metrics" not in flags:
        flags += ["--metrics"]  # the count of waiting requests, at no cost until it is asked for
    return [*flags, "-m", str(launch.model_path), "--host", LOOPBACK, "--port", str(port)]


def _executable(binary: str) -> str:
    found = shutil.which(binary)
    if found is None:
        raise EnvironmentFailure(
            f"The engine binary {binary} is not an executable program on this machine.",
            hint="Give its path, put it on PATH, or use `binary: embedded`.",
        )
    return str(Path(found).absolute())


def environment(launch: Launch, inherited: Mapping[str, str]) -> dict[str, str]:
    """The server's environment: this shell's, without llama.cpp's own variables, then the spec's.

    A LLAMA_ARG_ variable left over in a shell would change the measurement without being in the
    spec. Variables of the hardware (CUDA_VISIBLE_DEVICES, GGML_...) stay: they say which device.
    """
    env = {name: value for name, value in inherited.items() if not _is_setting(name)}
    root = str(Path(benchspec.__file__).parent.parent)
    env["PYTHONPATH"] = os.pathsep.join(filter(None, (root, env.get("PYTHONPATH"))))
    return env | dict(launch.env)


def dropped_variables(launch: Launch, inherited: Mapping[str, str]) -> list[str]:
    """Names of the inherited variables that `environment` leaves out."""
    return sorted(name for name in inherited if _is_setting(name) and name not in launch.env)


def _is_setting(name: str) -> bool:
    return name.startswith("LLAMA_ARG_") or name == "LLAMA_API_KEY"
