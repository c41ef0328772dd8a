"""What a server's log says, of one that somebody else started and of one that benchspec did."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchspec.engines.model_file import resolve
from tests.e2e.conftest import MODEL, Cli
from tests.e2e.test_attached import FAULT_SERVER, attached, serving

LOG = "server.log"


@pytest.fixture
def server(cli: Cli) -> Iterator[str]:
    """The address of a llama.cpp server that logs into the spec's folder."""
    model = resolve(MODEL["source"], sha256=MODEL["sha256"], spec_dir=cli.folder)
    assert model is not None
    command = [sys.executable, "-P", "-m", "benchspec.engines.llama_cpp_embedded", "-lv", "4"]
    command += ["-m", str(model.path), "--host", "127.0.0.1", "--port", "0", "--threads", "1"]
    command += ["--parallel", "1", "--ctx-size", "512", "--fit", "off", "--cache-type-k", "f16"]
    with (cli.folder / LOG).open("wb") as log, serving(command, stderr=log) as line:
        yield line.removeprefix("listening ")


def settings_of(bundle: Path) -> dict[str, Any]:
    verdicts = json.loads((bundle / "verdicts.json").read_text())
    (found,) = [one for one in verdicts["checks"] if one["check"] == "effective-settings"]
    assert isinstance(found, dict)
    return found


@pytest.mark.engine
def test_an_attached_server_is_known_by_its_log(cli: Cli, server: str) -> None:
    flags = {"parallel": 1, "ctx-size": 512, "threads": 2, "cache-type-k": "q8_0", "fit": "off"}
    engine = {"binary": None, "attach": server, "log": LOG}
    model = {"source": "served", "sha256": None}
    spec = cli.spec(model=model, engine={**engine, "flags": {**flags, "threads-batch": None}})
    planned = cli("plan", spec)
    assert f"reads the server's log {LOG}" in planned.stdout
    cli("run", spec)
    settings = settings_of(cli.bundle())
    assert settings["reading"] == "changed"
    assert "threads: asked 2, found 1" in settings["arithmetic"]
    assert "cache-type-k: asked q8_0, found f16" in settings["arithmetic"]
    found = {one["name"]: (one["value"], one["source"]) for one in settings["inputs"]}
    assert (found["threads"], found["parallel"]) == ((1, "log"), (1, "/props"))
    assert not list((cli.bundle() / "logs").glob("*")), "somebody else's log is not copied"
    cli("verify", cli.bundle())


@pytest.mark.engine
def test_what_the_log_says_while_cells_are_measured(cli: Cli) -> None:
    """Equal prompts are in the cache: the engine says for each that it must evaluate a token."""
    prompt = {"tokens": 8, "unique": False}
    cli("run", cli.spec(workload={"prompt": prompt}), "--override", "BS209=to see what it logs")
    records = [json.loads(line) for line in (cli.bundle() / "journal.jsonl").open()]
    (trouble,) = [one for one in records if one["kind"] == "trouble"]
    assert {one["setting"] for one in trouble["findings"]} == {"cache-prompt"}
    page = (cli.bundle() / "report.html").read_text()
    assert "need to evaluate at least 1 token" in page
    (log,) = (cli.bundle() / "logs").glob("*.log")
    for finding in trouble["findings"]:
        line = log.read_text().splitlines()[finding["line"] - 1]
        assert re.sub(r"\s+", " ", finding["text"]).strip() in re.sub(r"\s+", " ", line)
    cli("verify", cli.bundle())


@pytest.mark.slow
def test_the_warnings_of_an_engine_that_is_not_known(cli: Cli) -> None:
    warning = "2026-10-21 12:00:00.100 WARNING:  max_batch_size is undefined."
    (cli.folder / LOG).write_text(f"hello\n{warning}\n")
    with serving([sys.executable, str(FAULT_SERVER), "marks"]) as port:
        changes = attached(f"http://127.0.0.1:{port}")
        changes["engine"]["log"] = LOG
        cli("run", cli.spec(**changes), exit_code=None)
    (arm,) = json.loads((cli.bundle() / "observations.json").read_text())["arms"].values()
    assert [(one["effect"], one["text"], one["line"]) for one in arm["log"]] == [
        ("warning", "max_batch_size is undefined.", 2)
    ]
    assert "max_batch_size is undefined." in (cli.bundle() / "report.html").read_text()


@pytest.mark.slow
def test_a_log_that_is_not_there_or_not_ones_own(
    cli: Cli, tmp_path_factory: pytest.TempPathFactory
) -> None:
    changes = attached("http://127.0.0.1:9")
    changes["engine"]["log"] = LOG
    missing = cli("run", cli.spec(**changes), exit_code=2)
    assert f"The server's log {LOG} is not a file" in missing.stderr
    elsewhere = tmp_path_factory.mktemp("elsewhere") / LOG
    elsewhere.write_text("")
    changes["engine"]["log"] = str(elsewhere)
    asked = cli("run", cli.spec(**changes), exit_code=None)
    assert "--trust" in asked.stderr
    assert asked.returncode != 0


def test_a_log_without_an_attached_server_is_a_contradiction(cli: Cli) -> None:
    done = cli("lint", cli.spec(engine={"log": LOG}), exit_code=None)
    assert "engine.log names the log of an attached server" in done.stdout + done.stderr
