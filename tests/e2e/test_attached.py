"""Servers that benchspec did not start: what they really are is read back, their faults are told."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from benchspec.engines.model_file import resolve
from benchspec.judge.judge import judge
from benchspec.judge.result import CheckResult
from benchspec.observations.model import Observations
from benchspec.spec.loader import load
from benchspec.spec.source import parse
from tests.e2e.conftest import MODEL, Cli, cells, ended

FAULT_SERVER = Path(__file__).with_name("fault_server.py")


@contextmanager
def serving(command: list[str], stderr: IO[bytes] | int = subprocess.DEVNULL) -> Iterator[str]:
    """A server, and the first line that it prints."""
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def attached(url: str, **changes: Any) -> dict[str, Any]:
    """Changes to the spec: an OpenAI-compatible server at `url`, quick to give up on."""
    return {
        "model": {"name": "m", "source": "served", "sha256": None},
        "engine": {
            "kind": "openai",
            "binary": None,
            "attach": url,
            "slots": 1,
            "flags": None,
            "ready_timeout": "2 s",
        },
        "load": {"mode": "burst", "concurrency": [1, 2], "timeout": "2 s"},
        **changes,
    }


@pytest.mark.engine
def test_a_server_with_other_slots_than_declared(cli: Cli) -> None:
    model = resolve(MODEL["source"], sha256=MODEL["sha256"], spec_dir=cli.folder)
    assert model is not None
    command = [sys.executable, "-P", "-m", "benchspec.engines.llama_cpp_embedded", "-lv", "4"]
    command += ["-m", str(model.path), "--host", "127.0.0.1", "--port", "0", "--threads", "1"]
    command += ["--parallel", "2", "--ctx-size", "512", "--fit", "off"]
    with serving(command) as line:
        spec = cli.spec(
            model={"source": "served", "sha256": None},
            engine={"binary": None, "attach": line.removeprefix("listening ")},
        )
        cli("run", spec)
    verdicts = json.loads((cli.bundle() / "verdicts.json").read_text())
    (settings,) = [one for one in verdicts["checks"] if one["check"] == "effective-settings"]
    slots = next(one for one in settings["inputs"] if one["name"] == "parallel")
    assert settings["reading"] == "changed"
    assert (slots["asked"], slots["value"]) == (1, 2)
    assert settings["value"] == 2
    cli("verify", cli.bundle())


def on_a_quiet_machine(bundle: Path) -> list[CheckResult]:
    """What the same requests give where nothing else ran meanwhile."""
    seen = Observations.model_validate_json((bundle / "observations.json").read_bytes())
    still = [step.model_copy(update={"quiet": None, "client": None}) for step in seen.steps]
    spec = load(parse((bundle / "spec.yaml").read_bytes(), "spec.yaml")).spec
    assert spec is not None
    quiet = seen.model_copy(update={"steps": still})
    return judge(spec, quiet, spec_sha256="0" * 64).checks


FAULTS = {
    "500": "out of cheese",
    "html": "did not stream",
    "malformed": "not JSON",
    "cut": "ended early",
    "stall": "2 s",
}


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "said"), FAULTS.items())
def test_a_server_that_answers_wrongly(cli: Cli, mode: str, said: str) -> None:
    with serving([sys.executable, str(FAULT_SERVER), mode]) as port:
        done = cli("run", cli.spec(**attached(f"http://127.0.0.1:{port}")), exit_code=3)
    assert "answers no request" in done.stderr
    assert said in done.stderr
    assert "\x1b" not in done.stderr, "a server does not command the terminal"
    assert "benchspec resume" in done.stderr
    assert ended(cli.bundle())["state"] == "failed"


HINTS = {"401": "engine.api_key_env", "404": "model.name", "429": "rate limit"}


@pytest.mark.slow
@pytest.mark.parametrize(("status", "hint"), HINTS.items())
def test_a_server_that_refuses_says_what_to_change(cli: Cli, status: str, hint: str) -> None:
    with serving([sys.executable, str(FAULT_SERVER), status]) as port:
        done = cli("run", cli.spec(**attached(f"http://127.0.0.1:{port}")), exit_code=3)
    assert f"attaching to http://127.0.0.1:{port}" in done.stderr
    assert hint in done.stderr.partition("help: ")[2]
    assert "with a changed spec: benchspec run" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("forced", [True, False])
def test_a_server_that_answers_question_marks_for_ever(cli: Cli, forced: bool) -> None:
    """A published rate was once of such answers. Whoever asks for a length does not ask for this."""
    workload = {"output": {"tokens": 24, "forced": forced}, "sampling": {"temperature": 0}}
    with serving([sys.executable, str(FAULT_SERVER), "marks"]) as port:
        changes = attached(f"http://127.0.0.1:{port}", workload=workload)
        cli("run", cli.spec(**changes), *([] if forced else ["--override", "BS205=as chats do"]))
    verdicts = json.loads((cli.bundle() / "verdicts.json").read_text())
    (sanity,) = [one for one in verdicts["checks"] if one["check"] == "output-sanity"]
    assert (sanity["reading"], sanity["value"], sanity["quotable"]) == ("degenerate", 1.0, "no")
    assert any("token limit" in caveat for caveat in sanity["caveats"]) is not forced
    rates = [one for one in on_a_quiet_machine(cli.bundle()) if one.check == "aggregate"]
    assert [(one.state, one.quotable) for one in rates] == [("judged", "no")] * 2
    assert all("a word or less, over and over" in str(one.caveats) for one in rates)
    assert any("degenerate" in one["text"] for one in verdicts["unfinished"])
    cli("verify", cli.bundle())


@pytest.mark.slow
def test_without_warm_up_the_cells_say_it_and_are_not_repeated_for_ever(cli: Cli) -> None:
    with serving([sys.executable, str(FAULT_SERVER), "500"]) as port:
        changes = attached(f"http://127.0.0.1:{port}", warmup={"requests": 0})
        done = cli("run", cli.spec(**changes), exit_code=3)
    assert "out of cheese" in done.stderr
    assert [cell["state"] for cell in cells(cli.bundle())] == ["failed", "failed"]
    assert all(
        request["status"] == 500 for cell in cells(cli.bundle()) for request in cell["requests"]
    )


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["loading", "not-found"])
def test_a_server_that_is_never_ready(cli: Cli, mode: str) -> None:
    with serving([sys.executable, str(FAULT_SERVER), mode]) as port:
        done = cli("run", cli.spec(**attached(f"http://127.0.0.1:{port}")), exit_code=3)
    assert "/v1/models answered" in done.stderr


@pytest.mark.slow
def test_nothing_listens(cli: Cli) -> None:
    done = cli("run", cli.spec(**attached("http://127.0.0.1:9")), exit_code=3)
    assert "nothing answers" in done.stderr


@pytest.mark.slow
def test_a_server_that_someone_restarts_inside_a_cell(cli: Cli) -> None:
    """The port answers as before; only the process behind it is another one."""
    with serving([sys.executable, str(FAULT_SERVER), "restart"]) as port:
        cli("run", cli.spec(**attached(f"http://127.0.0.1:{port}")), exit_code=None)
    ran = cells(cli.bundle())
    (one,) = [c for c in ran if c["engine_pid_before"] != c["engine_pid_after"]]
    later = ran[ran.index(one) + 1 :]
    assert {cell["engine_pid_before"] for cell in later} == {one["engine_pid_after"]}
    verdicts = json.loads((cli.bundle() / "verdicts.json").read_text())
    at = {"concurrency": one["key"]["concurrency"]}
    (read,) = [c for c in verdicts["checks"] if c["check"] == "conservation" and c["at"] == at]
    assert read["reading"] == "violated"
