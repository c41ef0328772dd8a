"""The real engine dies or hangs in a cell: a sentence, exit 3, finished cells kept, no orphan."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

import psutil
import pytest

from tests.e2e.conftest import Cli, Running, cells, ended, wait_for

pytestmark = pytest.mark.engine

LONG = {
    "hypotheses": [
        {
            "id": "H1",
            "claim": "Eight requests on one slot finish one after the other.",
            "because": "one slot decodes one sequence",
            "test": {"check": "completion-shape", "at": {"concurrency": 8}, "expect": "staircase"},
        }
    ],
    "engine": {"flags": {"ctx-size": 1024}},
    "workload": {"output": {"tokens": 100}},
    "load": {"concurrency": [1, 8]},
    "order": "fixed",
}
"""A short cell and then one of many seconds, so that something can happen in it."""

Start = Callable[..., Running]


def in_second_cell(cli: Cli, start: Start, tokens: int = 100) -> Running:
    """A run whose first cell is finished and whose second has begun."""
    run = start("run", cli.spec(**{**LONG, "workload": {"output": {"tokens": tokens}}}))
    run.until(event="cell-ended", state="done")
    run.until(event="cell-started")
    wait_for(lambda: psutil.Process(run.engine_pid()).cpu_percent(0.2) > 0)
    return run


def test_killed(cli: Cli, start: Start) -> None:
    run = in_second_cell(cli, start)
    os.kill(run.engine_pid(), signal.SIGKILL)
    said = run.wait(exit_code=3)
    first, second = cells(cli.bundle())
    assert (first["state"], second["state"]) == ("done", "failed")
    assert "the engine's process ended" in second["reason"]
    assert "the engine's process ended" in said
    assert f"benchspec resume {cli.bundle().relative_to(cli.folder)}" in said
    assert ended(cli.bundle())["state"] == "failed"
    assert (cli.bundle() / "report.html").is_file(), "what exists is reported"
    cli("verify", cli.bundle())


def test_killed_and_noticed_late(cli: Cli, start: Start) -> None:
    """Its connections break at once; whoever waits for the process hears of it a second later."""
    run = in_second_cell(cli, start)
    supervisor = psutil.Process(run.engine_pid()).parent()
    assert supervisor is not None
    supervisor.suspend()
    os.kill(run.engine_pid(), signal.SIGKILL)
    time.sleep(1.0)
    supervisor.resume()
    run.wait(exit_code=3)
    first, second = cells(cli.bundle())
    assert (first["state"], second["state"]) == ("done", "failed")
    assert "the engine's process ended" in second["reason"], "no further cell is tried"


def test_stopped(cli: Cli, start: Start) -> None:
    run = in_second_cell(cli, start)
    os.kill(run.engine_pid(), signal.SIGSTOP)
    said = run.wait(exit_code=3)
    first, second = cells(cli.bundle())
    assert (first["state"], second["state"]) == ("done", "failed")
    assert "stopped (SIGSTOP)" in said
    cli("verify", cli.bundle())


def test_benchspec_itself_is_killed(cli: Cli, start: Start) -> None:
    run = in_second_cell(cli, start)
    run.signal(signal.SIGKILL)
    run.process.wait()
    wait_for(lambda: not cli.orphans())
    assert [cell["state"] for cell in cells(cli.bundle())] == ["done"], "only the cell in flight"
    done = cli("verify", cli.bundle(), exit_code=1)
    assert "MANIFEST.sha256" in done.stdout


def test_a_model_that_is_no_gguf(cli: Cli) -> None:
    (cli.folder / "broken.gguf").write_bytes(b"GGUF" + bytes(1000))
    spec = cli.spec(model={"source": "file:broken.gguf", "sha256": None})
    done = cli("run", spec, exit_code=3)
    assert "llama.cpp did not start" in done.stderr
    assert "logs/01-main.log" in done.stderr


def test_a_model_with_another_name_on_it(cli: Cli) -> None:
    (cli.folder / "page.gguf").write_bytes(b"<!doctype html>")
    spec = cli.spec(model={"source": "file:page.gguf", "sha256": None})
    done = cli("run", spec, exit_code=3)
    assert "GGUF" in done.stderr
    assert not cli.runs.exists(), "no folder for a run that cannot begin"


def test_a_program_that_never_becomes_healthy(cli: Cli) -> None:
    program = cli.folder / "llama-server"
    program.write_text("#!/bin/sh\necho warming up >&2\nexec sleep 600\n")
    program.chmod(0o755)
    spec = cli.spec(engine={"binary": "./llama-server", "ready_timeout": "1 s"})
    done = cli("run", spec, "--trust", exit_code=3)
    assert "not ready after 1 s" in done.stderr
    assert "no cell was finished" in done.stderr
    assert "warming up" in (cli.bundle() / "logs" / "01-main.log").read_text()


def test_a_program_that_is_something_else(cli: Cli) -> None:
    program = cli.folder / "llama-server"
    program.write_text("#!/bin/sh\necho error: out of luck >&2\nexit 7\n")
    program.chmod(0o755)
    done = cli("run", cli.spec(engine={"binary": "./llama-server"}), "--trust", exit_code=3)
    assert "out of luck" in done.stderr
