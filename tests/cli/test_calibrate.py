"""`benchspec calibrate`: the client's own error, for people and for programs."""

from __future__ import annotations

import json

from click.testing import CliRunner

from benchspec.cli.calibrate import command


def calibrate(*options: str) -> str:
    done = CliRunner().invoke(command, ["--seconds", "0.2", *options])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_row_per_number_of_streams_and_what_follows_from_it() -> None:
    lines = calibrate("--streams", "2", "--streams", "4").splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["streams", "%", "2", "4"]
    assert any(line.startswith("bears, at half of it") for line in lines)


def test_json_has_every_figure() -> None:
    found = json.loads(calibrate("--json"))
    assert found["format_version"] == 1
    assert [one["streams"] for one in found["paced"]] == [64]
    assert 0 < found["ceiling_events_s"] <= found["flat_out_events_s"]
    assert found["clock"]["resolution_ns"] > 0
