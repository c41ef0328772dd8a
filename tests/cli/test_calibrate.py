"""`benchspec calibrate`: the client's own error, for people and for programs."""

from __future__ import annotations

import json
import re

from click.testing import CliRunner, Result

from benchspec.cli.calibrate import command


def invoked(*options: str) -> Result:
    done = CliRunner().invoke(command, ["--seconds", "0.2", *options])
    assert done.exit_code == 0, done.output
    return done


def calibrate(*options: str) -> str:
    return invoked(*options).stdout


def test_a_row_per_number_of_streams_and_what_follows_from_it() -> None:
    lines = calibrate("--streams", "2", "--streams", "16").splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["streams", "%", "2", "16"]
    assert any(line.startswith("bears, at half of it") for line in lines)


def test_the_table_has_the_share_of_a_core() -> None:
    head, units, row = (re.split(r"\s{2,}", line.strip()) for line in calibrate().splitlines()[:3])
    assert "cpu" in head
    assert units.count("% of a core") == 1
    assert 0 < float(row[head.index("cpu")]) <= 110
    assert len(row) == len(head)


def test_few_streams_give_no_ceiling_but_a_reason() -> None:
    done = invoked("--streams", "1", "--streams", "15")
    assert "ceiling of one process      not known" in done.stdout
    assert "bears" not in done.stdout
    assert done.stdout.splitlines()[2].split()[:3] == ["1", "not", "known"]
    assert "16 streams or more, and the most here was 15; add --streams 64" in done.stderr
    found = json.loads(calibrate("--streams", "1", "--json"))
    assert found["ceiling_events_s"] is None
    assert "the most here was 1" in found["no_ceiling"]


def test_json_has_every_figure() -> None:
    found = json.loads(calibrate("--json"))
    assert found["format_version"] == 1
    assert [one["streams"] for one in found["paced"]] == [64]
    assert 0 < found["ceiling_events_s"] <= found["flat_out_events_s"]
    assert found["no_ceiling"] is None
    assert found["clock"]["resolution_ns"] > 0
