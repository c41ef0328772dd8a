"""How a llama.cpp server is called."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchspec.engines.base import Launch
from benchspec.engines.llama_cpp_launch import (
    binary_argv,
    dropped_variables,
    embedded_argv,
    environment,
)
from benchspec.errors import EnvironmentFailure


@pytest.fixture
def with_model(launch: Launch) -> Launch:
    return replace(launch, argv=["-np", "4"], model_path=Path("/m.gguf"))


def test_the_specs_flags_come_first_and_ours_win(with_model: Launch) -> None:
    argv = embedded_argv(with_model)
    assert argv[:4] == [sys.executable, "-P", "-m", "benchspec.engines.llama_cpp_embedded"]
    assert argv[4:] == ["-np", "4", "-lv", "4", "--metrics", "-m", "/m.gguf",
                        "--host", "127.0.0.1", "--port", "0"]  # fmt: skip


def test_a_verbosity_of_the_spec_is_kept(with_model: Launch) -> None:
    argv = embedded_argv(replace(with_model, argv=["--verbosity", "5", "--metrics"]))
    assert "-lv" not in argv and argv.count("--metrics") == 1


def test_a_binary_is_found_on_the_path(
    with_model: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "llama-server"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    argv = binary_argv(replace(with_model, binary="llama-server"), port=4321)
    assert argv[0] == str(program) and argv[-1] == "4321"


def test_a_file_that_is_no_program_is_not_started(with_model: Launch, tmp_path: Path) -> None:
    (tmp_path / "llama-server").write_text("text")
    with pytest.raises(EnvironmentFailure, match="not an executable program"):
        binary_argv(replace(with_model, binary=str(tmp_path / "llama-server")), port=1)


def test_settings_left_over_in_a_shell_do_not_reach_the_server(launch: Launch) -> None:
    inherited = {"LLAMA_ARG_CTX_SIZE": "1", "LLAMA_API_KEY": "k", "CUDA_VISIBLE_DEVICES": "0"}
    asked = replace(launch, env={"LLAMA_ARG_FIT": "off"})
    env = environment(asked, inherited | {"PYTHONPATH": "/x"})
    root, _, rest = env.pop("PYTHONPATH").partition(os.pathsep)
    assert env == {"CUDA_VISIBLE_DEVICES": "0", "LLAMA_ARG_FIT": "off"}
    assert (Path(root) / "benchspec" / "engines").is_dir() and rest == "/x"
    assert dropped_variables(asked, inherited) == ["LLAMA_API_KEY", "LLAMA_ARG_CTX_SIZE"]
