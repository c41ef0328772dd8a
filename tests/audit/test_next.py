"""`benchspec next`: for each open line the change that would decide it, and both outcomes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from benchspec.cli.next import command
from benchspec.spec.loader import load, read

ROOT = Path(__file__).parents[2]
CASEBOOK = ROOT / "specs" / "casebook"
THREE_CARDS = CASEBOOK / "three-cards.yaml"

HEAD = "benchspec: 1\nstudy: {title: A study}\n"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def steps(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run(path, "--json").stdout)["steps"]
    return found


def spec(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "spec.yaml"
    path.write_text(HEAD + text, "utf-8")
    return path


def test_a_plateau_at_the_slots_is_decided_by_twice_the_slots() -> None:
    first = steps(THREE_CARDS)[0]
    assert first["do"] == "run 8 slots at C=8"
    assert first["outcomes"] == [
        "about 31 s: the hardware is full at 49 tok/s",
        "under 28 s: it was the slots, and the plateau says nothing about the hardware",
    ]
    assert {"kind": "put", "path": "engine.flags", "key": "parallel", "value": "8"} in first[
        "changes"
    ]


def test_a_sweep_within_the_slots_goes_on(tmp_path: Path) -> None:
    path = spec(
        tmp_path,
        "engine: {kind: vllm, flags: {max-num-seqs: 4}}\n"
        "observations: {steps: [{concurrency: 1, wall_s: 5}, {concurrency: 4, wall_s: 10}]}\n",
    )
    first = steps(path)[0]
    assert first["do"] == "run C=8 as well"
    assert first["outcomes"][0] == "about 20 s: the requests wait for one of 4 slots"
    assert first["outcomes"][1].startswith("under 18 s: more than 4 run at once")


@pytest.mark.parametrize("path", sorted(CASEBOOK.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_open_line_of_the_casebook_has_a_step_with_two_outcomes(path: Path) -> None:
    found = steps(path)
    assert found
    for step in found:
        assert step["why"]
        assert step["do"]
        assert len(step["outcomes"]) == 2
    assert len({step["do"] for step in found}) == len(found)
    changing = [bool(step["changes"]) for step in found]
    assert changing == sorted(changing, reverse=True)


def test_the_written_spec_keeps_comments_and_can_be_run(tmp_path: Path) -> None:
    target = tmp_path / "next.yaml"
    done = run(THREE_CARDS, "--write", target)
    assert done.exit_code == 0
    before, after = THREE_CARDS.read_text("utf-8"), target.read_text("utf-8")
    comments = [line for line in before.splitlines() if line.startswith("#")]
    assert comments == [line for line in after.splitlines() if line.startswith("#")]
    assert "observations:" not in after
    loaded = load(read(target)).spec
    assert loaded is not None
    assert loaded.load.concurrency == [1, 2, 4, 8, 16]
    assert (loaded.load.mode, loaded.repeats) == ("burst", 3)
    assert loaded.engine is not None
    assert loaded.engine.flags["parallel"] == 8
    assert loaded.observations is None


def test_only_the_lines_of_the_change_differ(tmp_path: Path) -> None:
    path = spec(
        tmp_path,
        "engine:   # one machine\n"
        "  kind: llama.cpp\n"
        "  flags: {np: 4, ctx-size: 8192, fit: 'off'}   # as started\n"
        "load: {concurrency: [4, 8]}\n"
        "observations:\n"
        "  steps:\n"
        "    - {concurrency: 4, wall_s: 15.6, aggregate_tok_s: 49.14}\n"
        "    - {concurrency: 8, wall_s: 31.3, aggregate_tok_s: 49.0}\n"
        "repeats: 3\n",
    )
    target = tmp_path / "next.yaml"
    run(path, "--write", target)
    after = target.read_text("utf-8").splitlines()
    assert after[2:5] == [
        "engine:   # one machine",
        "  kind: llama.cpp",
        "  flags: {np: 8, ctx-size: 16384, fit: 'off'}   # as started",
    ]
    assert after[5].startswith("load: {concurrency: [1, 4, 8, 16]")
    assert "repeats: 3" in after


def test_a_command_line_gets_words_at_its_end(tmp_path: Path) -> None:
    path = spec(
        tmp_path,
        "engine: {kind: llama.cpp, command: llama-server -m x.gguf -np 4}\n"
        "observations: {steps: [{concurrency: 4, wall_s: 15}, {concurrency: 8, wall_s: 30}]}\n",
    )
    target = tmp_path / "next.yaml"
    run(path, "--write", target)
    assert "-np 4 --parallel 8" in target.read_text("utf-8")


def test_an_attached_server_declares_more_slots(tmp_path: Path) -> None:
    path = spec(
        tmp_path,
        "engine: {kind: openai, attach: 'http://127.0.0.1:1', slots: 4}\n"
        "observations: {steps: [{concurrency: 4, wall_s: 15}, {concurrency: 8, wall_s: 30}]}\n",
    )
    assert steps(path)[0]["changes"][0] == {
        "kind": "put",
        "path": "engine",
        "key": "slots",
        "value": "8",
    }


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    target = tmp_path / "there.yaml"
    target.write_text("mine")
    done = run(THREE_CARDS, "--write", target)
    assert done.exit_code != 0
    assert target.read_text() == "mine"


def test_a_spec_that_was_not_run_says_to_run_it() -> None:
    (only,) = steps(ROOT / "specs" / "quickstart" / "spec.yaml")
    assert only["do"] == "run what is missing: benchspec run, or resume"


def test_a_broken_form_is_refused(tmp_path: Path) -> None:
    done = run(spec(tmp_path, "observations: {steps: [{wall_s: 3 GB}]}\n"))
    assert done.exit_code == 1
    assert "benchspec lint" in done.stderr


def test_a_bundle_of_a_run_is_judged_from_its_own_journal(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.exit_code != 0
    assert "not a bundle" in str(done.exception)


def test_nothing_open_is_said(tmp_path: Path) -> None:
    path = spec(tmp_path, "repeats: 3\n")
    assert "Nothing is open." in run(path).stdout
