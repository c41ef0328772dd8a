"""What is refused before anything is started: in order, with the place, and nothing on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Cli

QUICKSTART = Path(__file__).parent.parent.parent / "specs" / "quickstart" / "spec.yaml"


def refused(cli: Cli, *args: object, exit_code: int) -> str:
    done = cli("run", *args, exit_code=exit_code)
    assert not cli.runs.exists(), "nothing is on disk"
    return done.stderr


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("engine: {flags: {parallel: 4}}", "engine: {flags: {}}", "slots-undeclared"),
        ('    fit: "off"\n', "", "auto-fit-on"),
        ("concurrency: [1, 2, 4, 8]", "concurrency: [1, 2, 4]", "sweep-within-slots"),
    ],
)
def test_a_spec_that_cannot_answer_is_refused_at_the_line(
    cli: Cli, old: str, new: str, rule: str
) -> None:
    text = QUICKSTART.read_text()
    assert old in text
    path = cli.folder / "spec.yaml"
    path.write_text(text.replace(old, new))
    said = refused(cli, path, exit_code=1)
    assert rule in said
    assert "spec.yaml:" in said
    assert "Nothing was started" in said


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("BS999=because", "no rule 'BS999'"),
        ("BS201", "needs a reason"),
        ("BS201=  ", "needs a reason"),
        ("BS001=because", "cannot be run"),
        ("unknown-key=because", "cannot be run"),
    ],
)
def test_an_override_that_is_none_is_a_usage_error(cli: Cli, override: str, said: str) -> None:
    assert said in refused(cli, cli.spec(), "--override", override, exit_code=2)


def test_a_file_that_is_no_spec_is_a_usage_error(cli: Cli) -> None:
    (cli.folder / "spec.yaml").write_bytes("benchspec: 1".encode("utf-16"))
    refused(cli, "spec.yaml", exit_code=2)
    refused(cli, "absent.yaml", exit_code=2)


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (None, "does not exist"),
        ("not json\n", "p.jsonl:1: this line is not JSON"),
        ("", "0 prompts"),
    ],
)
def test_a_prompt_file_is_read_before_anything_is_started(
    cli: Cli, held: str | None, said: str
) -> None:
    if held is not None:
        (cli.folder / "p.jsonl").write_text(held)
    spec = cli.spec(workload={"prompt": {"file": "p.jsonl"}})
    text = refused(cli, spec, "--trust", exit_code=2)
    assert said in text
    assert "help: " in text


TO_TRUST: dict[str, dict[str, Any]] = {
    "it is a program named by its path": {"engine": {"binary": "./llama-server"}},
    "rm is not a known program": {"engine": {"binary": "rm"}},
    "it lies outside the spec's folder": {"model": {"source": "file:/etc/passwd", "sha256": None}},
    "no sha256 pins it": {"model": {"sha256": None}},
    "load other code": {"engine": {"env": {"LD_PRELOAD": "./evil.so"}}},
}


@pytest.mark.parametrize(("why", "changes"), TO_TRUST.items())
def test_a_strangers_wish_needs_trust(cli: Cli, why: str, changes: dict[str, Any]) -> None:
    said = refused(cli, cli.spec(**changes), exit_code=1)
    assert why in said
    assert "--trust" in said


def test_trust_is_remembered_for_exactly_these_bytes(cli: Cli) -> None:
    (cli.folder / "page.gguf").write_bytes(b"<!doctype html>")
    spec = cli.spec(
        model={"source": "file:page.gguf", "sha256": None},
        engine={"env": {"LLAMA_CACHE_DIR": "x"}},
    )
    assert "--trust" in refused(cli, spec, exit_code=1)
    assert "GGUF" in cli("run", spec, "--trust", exit_code=3).stderr
    assert "GGUF" in cli("run", spec, exit_code=3).stderr, "remembered"
    spec.write_text(spec.read_text() + "# another byte\n")
    assert "--trust" in cli("run", spec, exit_code=1).stderr


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model": {"source": "file:absent.gguf", "sha256": None}}, "absent.gguf does not exist"),
        ({"model": {"source": None, "sha256": None}}, "its model names no file"),
        ({"engine": {"binary": "llama-server"}}, "not an executable program"),
        (
            {
                "engine": {
                    "binary": None,
                    "attach": "http://127.0.0.1:9",
                    "api_key_env": "NO_SUCH_KEY",
                }
            },
            "NO_SUCH_KEY",
        ),
        ({"engine": {"binary": None, "attach": "http://127.0.0.1:99999"}}, "not an address"),
    ],
)
def test_what_is_missing_is_found_before_the_start(
    cli: Cli, changes: dict[str, Any], said: str
) -> None:
    cli.environ["PATH"] = "/nonexistent"
    done = cli("run", cli.spec(**changes), exit_code=None)
    assert done.returncode in (2, 3), done.stderr
    assert said in done.stderr
    assert not cli.runs.exists()


def test_the_plan_shows_what_will_be_done_and_does_nothing(cli: Cli) -> None:
    spec = cli.spec()
    shown = cli("plan", spec).stdout
    assert "6 cells, 1 engine start" in shown
    assert "executes the embedded llama.cpp server --parallel 1" in shown
    plan = json.loads(cli("plan", spec, "--json").stdout)
    ids = {cell["id"] for start in plan["starts"] for cell in start["cells"]}
    assert ids == {f"main-c{c}-r{repeat}" for c in (1, 2) for repeat in (1, 2, 3)}
    assert json.loads(cli("plan", spec, "--json").stdout) == plan, "the same spec, the same plan"
    assert not cli.runs.exists()
