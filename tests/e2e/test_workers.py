"""A cell that one measuring process cannot bear is sent by several, and the bundle says so."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from benchspec.cli.run import command
from benchspec.load.calibration import Calibration, known_server
from benchspec.load.known_timing import Timing
from benchspec.run import session
from tests.e2e.conftest import SPEC, merged


@pytest.mark.slow
def test_a_load_above_half_the_ceiling_is_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calibrated = session._calibrated

    def weak() -> Calibration:
        """The ceiling of a machine on which one process bears 60 events a second."""
        return replace(calibrated(), flat_out_events_s=120.0)

    monkeypatch.setattr(session, "_calibrated", weak)
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with known_server(Timing(100.0, 20.0, 16)) as endpoint:
        changes = {
            "hypotheses": [],
            "model": {"name": "m", "source": "served", "sha256": None},
            "engine": {
                "kind": "openai",
                "binary": None,
                "attach": f"http://127.0.0.1:{endpoint.port}",
                "slots": 2,
                "flags": None,
            },
            "load": {"concurrency": [1, 4]},
            "repeats": 3,
        }
        spec = tmp_path / "spec.yaml"
        spec.write_text(yaml.safe_dump(merged(SPEC, changes)))
        options = [str(spec), "--output", str(tmp_path / "runs"), "--override", "BS101=a trial"]
        done = CliRunner().invoke(command, options)
    assert done.exit_code == 0, done.output
    (bundle,) = (tmp_path / "runs").iterdir()
    lines = [json.loads(line) for line in (bundle / "journal.jsonl").read_text().splitlines()]
    cells = [one for one in lines if one["kind"] == "cell"]
    processes = {(one["key"]["concurrency"], one["client"]["processes"]) for one in cells}
    assert processes == {(1, 1), (4, 3)}
    assert all(len(one["requests"]) == one["key"]["concurrency"] for one in cells)
    assert all(request["ok"] for one in cells for request in one["requests"])
