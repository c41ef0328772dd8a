"""Ctrl-C once drains and keeps; twice ends at once; resume does the rest and nothing twice."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.conftest import Cli, Running, cells, ended
from tests.e2e.test_engine_faults import in_second_cell

pytestmark = pytest.mark.engine

Start = Callable[..., Running]


def test_once_drains_and_keeps(cli: Cli, start: Start) -> None:
    run = in_second_cell(cli, start, tokens=40)  # to drain more takes too long on a busy machine
    run.signal(signal.SIGINT)
    said = run.wait(exit_code=130)
    first, second = cells(cli.bundle())
    assert first["state"] == "done"
    assert second["state"] == "aborted"
    assert all(request["ok"] for request in second["requests"]), "what was in flight is drained"
    assert f"benchspec resume {cli.bundle().relative_to(cli.folder)}" in said
    assert ended(cli.bundle())["state"] == "interrupted"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_twice_ends_at_once(cli: Cli, start: Start, number: signal.Signals) -> None:
    run = in_second_cell(cli, start)
    run.signal(number)
    run.signal(number)
    run.wait(exit_code=130)
    first, *rest = cells(cli.bundle())
    assert first["state"] == "done"
    assert all(cell["state"] == "aborted" for cell in rest)


@pytest.mark.parametrize("delay_s", [0.6, 1.6, 2.4, 3.2])
def test_at_any_moment_of_the_start(cli: Cli, start: Start, delay_s: float) -> None:
    """Calibration, engine start, warm-up: wherever it hits, it ends in order."""
    run = start("run", cli.spec())
    run.until(event="plan")
    time.sleep(delay_s)
    run.signal(signal.SIGINT)
    run.wait(exit_code=130)


def test_resume_keeps_what_is_done(cli: Cli, start: Start) -> None:
    run = start("run", cli.spec())
    run.until(event="cell-ended")
    run.signal(signal.SIGINT)
    run.wait(exit_code=130)
    before = [cell for cell in cells(cli.bundle()) if cell["state"] == "done"]
    cli("resume", cli.bundle())
    after = cells(cli.bundle())
    assert after[: len(before)] == before
    done = [cell["key"]["id"] for cell in after if cell["state"] == "done"]
    assert len(done) == len(set(done)) == 6
    cli("verify", cli.bundle())
    again = cli("resume", cli.bundle())
    assert "supported" in again.stdout, "nothing is left to run, so it is judged again"
    assert len(cells(cli.bundle())) == len(after)


def test_resume_refuses_another_spec(cli: Cli, measured: Path, tmp_path: Path) -> None:
    bundle = copied(measured, tmp_path)
    spec = bundle / "spec.yaml"
    spec.write_text(spec.read_text().replace("a toy", "another toy"))
    done = cli("resume", bundle, exit_code=1)
    assert "not the one that the run began with" in done.stderr


def test_resume_refuses_another_machine(cli: Cli, measured: Path, tmp_path: Path) -> None:
    bundle = copied(measured, tmp_path)
    resolved = bundle / "resolved.json"
    cores = f'"cores": "{os.cpu_count()}"'
    assert cores in resolved.read_text()
    resolved.write_text(resolved.read_text().replace(cores, '"cores": "4096"'))
    done = cli("resume", bundle, exit_code=3)
    assert "it was 4096" in done.stderr


def test_resume_refuses_another_build(cli: Cli, measured: Path, tmp_path: Path) -> None:
    bundle = copied(measured, tmp_path)
    journal = bundle / "journal.jsonl"
    lines = journal.read_text().replace('"build":"xllamacpp', '"build":"older').splitlines()
    missing = [line for line in lines if '"id":"main-c2-r3"' not in line]
    assert len(missing) == len(lines) - 1
    journal.write_text("\n".join(missing) + "\n")
    assert "--spec-folder" in cli("resume", bundle, "--trust", exit_code=3).stderr
    folder = measured.parent.parent
    done = cli("resume", bundle, "--trust", "--spec-folder", folder, exit_code=3)
    assert "it was older" in done.stderr


def copied(bundle: Path, folder: Path) -> Path:
    return Path(shutil.copytree(bundle, folder / "copy"))
