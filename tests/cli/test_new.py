"""`benchspec new` writes a spec that lints clean, or says what a person must fill in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from benchspec.cli.new import command
from benchspec.lint.linter import lint
from benchspec.spec.loader import load
from benchspec.spec.source import parse


def new(*arguments: str) -> Result:
    return CliRunner().invoke(command, list(arguments), catch_exceptions=False)


@pytest.mark.parametrize("kind", ["llama.cpp", "vllm", "sglang", "ollama", "mlx-lm", "openai"])
def test_the_starter_of_every_engine_lints_clean(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "spec.yaml"
    assert new(str(path), "--engine", kind).exit_code == 0
    found = {f.name for f in lint(parse(path.read_bytes(), "spec.yaml")).findings}
    # Which file a running server has loaded is not ours to say.
    assert found <= {"served-model-unverified", "placeholder-left"}


def test_a_pasted_command_becomes_flags_and_what_it_left_open_is_added(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    line = "CUDA_VISIBLE_DEVICES=1 llama-server -m x.gguf -c 8192 -fa on --port 9000"
    assert new(str(path), "--from-command", line).exit_code == 0
    spec = load(parse(path.read_bytes(), "spec.yaml")).spec
    assert spec is not None and spec.engine is not None
    flags = {name: str(value) for name, value in spec.engine.flags.items()}
    assert flags == {"ctx-size": "8192", "flash-attn": "on", "parallel": "4", "fit": "off"}
    assert spec.model.source == "file:x.gguf"


def test_what_the_command_line_does_not_do_is_told(tmp_path: Path) -> None:
    told = new(
        str(tmp_path / "s.yaml"), "--from-command", "llama-server -m x.gguf -c 32k", "--json"
    )
    assert any("read as 32" in item for item in json.loads(told.stdout)["to_do"])


@pytest.mark.parametrize("slots", [1, 3, 4, 8, 100])
def test_the_context_is_one_that_llama_cpp_does_not_round(tmp_path: Path, slots: int) -> None:
    path = tmp_path / "spec.yaml"
    new(str(path), "--from-command", f"llama-server -m x.gguf -np {slots}")
    spec = load(parse(path.read_bytes(), "spec.yaml")).spec
    assert spec is not None and spec.engine is not None
    assert int(str(spec.engine.flags["ctx-size"])) % (256 * slots) == 0


@pytest.mark.parametrize(
    ("line", "cards"),
    [
        ("llama-server -m x.gguf", 1),
        ("llama-server -m x.gguf -sm layer -ts 3,1", 2),
        ("CUDA_VISIBLE_DEVICES=0,1,2 llama-server -m x.gguf", 3),
        ("llama-server -m x.gguf -ts " + "1," * 5000, 16),
    ],
)
def test_every_card_of_the_line_is_a_device_whose_counters_are_read(
    tmp_path: Path, line: str, cards: int
) -> None:
    path = tmp_path / "spec.yaml"
    new(str(path), "--from-command", line)
    spec = load(parse(path.read_bytes(), "spec.yaml")).spec
    assert spec is not None
    assert [device.id for device in spec.hardware.devices] == [f"gpu{n}" for n in range(cards)]
    assert "nvml" in spec.telemetry.sources
    assert "utilization" in spec.telemetry.counters


def test_a_guess_is_told(tmp_path: Path) -> None:
    told = new(str(tmp_path / "s.yaml"), "--engine", "ollama", "--json")
    guess = "how many requests it was started to serve at once"
    assert any(guess in item for item in json.loads(told.stdout)["to_do"])


def test_an_existing_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text("mine", "utf-8")
    with pytest.raises(Exception, match="exists"):
        new(str(path))
    assert path.read_text("utf-8") == "mine"


@pytest.mark.parametrize(
    "line", ["", "'", "llama-server --model", "rm -rf x; \x00", "vllm " * 9000]
)
def test_any_text_as_a_command_gives_a_spec_that_loads(tmp_path: Path, line: str) -> None:
    path = tmp_path / "spec.yaml"
    assert new(str(path), "--from-command", line).exit_code == 0
    assert load(parse(path.read_bytes(), "spec.yaml")).spec is not None
