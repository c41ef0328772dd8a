"""What `run` prints, and what an override leaves behind."""

from __future__ import annotations

import json
import os
import pty
import subprocess

import pytest

from tests.e2e.conftest import Cli, cells

pytestmark = pytest.mark.engine


def test_an_override_runs_and_is_stamped(cli: Cli) -> None:
    spec = cli.spec(engine={"flags": {"fit": None}})
    assert "auto-fit-on" in cli("run", spec, exit_code=1).stderr
    done = cli("run", spec, "--override", "BS301=no GPU here, nothing to fit", "--json")
    said = json.loads(done.stdout)
    assert said["exit"] == 0
    assert said["hypotheses"][0]["overridden"] == ["BS301"]
    bundle = cli.folder / said["bundle"]
    verdicts = json.loads((bundle / "verdicts.json").read_text())
    assert verdicts["admissible"] is False
    assert verdicts["overrides"] == {"BS301": "no GPU here, nothing to fit"}
    (hypothesis,) = verdicts["hypotheses"]
    assert (hypothesis["admissible"], hypothesis["verdict"]) == (False, "supported")
    resting_on = [one for one in verdicts["checks"] if one["check"] == "completion-shape"]
    assert {one["quotable"] for one in resting_on if one["at"]["concurrency"] == 2} == {"no"}
    cli("verify", bundle)


def test_a_terminal_gets_a_live_block_and_a_summary(cli: Cli) -> None:
    """On a pseudo-terminal, as a person sees it; nothing of a verdict before the end."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        cli.command("run", cli.spec()),
        cwd=cli.folder,
        env={**cli.environ, "TERM": "xterm", "CI": "", "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
    )
    os.close(theirs)
    seen = read_all(ours)
    stdout, _ = process.communicate(timeout=300)
    assert process.returncode == 0, seen
    assert "cell 1 of 6" in seen
    assert "supported" not in seen
    assert "supported" in stdout
    assert "report.html" in stdout
    assert f"benchspec verify runs/{cli.bundle().name}" in seen


def read_all(descriptor: int) -> str:
    parts: list[bytes] = []
    while True:
        try:
            data = os.read(descriptor, 65536)
        except OSError:  # the other side is closed
            data = b""
        if not data:
            os.close(descriptor)
            return b"".join(parts).decode("utf-8", "replace")
        parts.append(data)


def test_sustained_load_for_a_time(cli: Cli) -> None:
    spec = cli.spec(
        hypotheses=[
            {
                "id": "H1",
                "claim": "With two in flight on one slot a request takes longer than alone.",
                "because": "it waits for the slot",
                "test": {
                    "metric": "e2e_s",
                    "at": {"concurrency": 2},
                    "over": {"concurrency": 1},
                    "relation": ">=",
                    "value": 1.2,
                },
            }
        ],
        load={"mode": "sustained", "concurrency": [1, 2], "duration": "2 s"},
        repeats=3,
    )
    done = cli("run", spec, exit_code=None)
    assert done.returncode in (0, 4), "on a busy machine the rates are invalid, and that is said"
    for cell in cells(cli.bundle()):
        assert cell["mode"] == "sustained"
        assert len(cell["requests"]) > 2
        assert all(request["ok"] for request in cell["requests"])
    cli("verify", cli.bundle())
