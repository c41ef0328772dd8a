"""`benchspec import`: a saved log becomes series that a spec can hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from benchspec.cli.import_ import command
from benchspec.errors import UsageError
from benchspec.observations.from_spec import observations_of
from benchspec.observations.model import Series
from benchspec.spec.loader import load
from benchspec.spec.source import parse

DMON = """\
# gpu     sm   mem  rxpci  txpci  mtemp
# Idx      %     %   MB/s   MB/s      C
    0     93    41     42    117      -
    0     90    40     44    119      -
"""
QUERY = """\
index, utilization.gpu [%], power.draw [W], temperature.memory
0, 97 %, 287.41 W, N/A
1, [N/A], [Not Supported], N/A
"""
SPEC = """\
benchspec: 1
study: {title: Somebody's cards}
hardware: {devices: [{id: gpu0, name: a}, {id: gpu1, name: b}]}
"""


def imported(tmp_path: Path, kind: str, text: str) -> list[Series]:
    """The series as the judge would see them, after a person pasted what was printed."""
    log = tmp_path / "log"
    log.write_text(text, "utf-8")
    done = CliRunner().invoke(command, [kind, str(log)], catch_exceptions=False)
    loaded = load(parse((SPEC + done.stdout).encode(), "spec.yaml"))
    assert not loaded.problems
    assert loaded.spec is not None
    return observations_of(loaded.spec).series


def test_a_dmon_log_keeps_its_samples_and_says_what_was_not_measured(tmp_path: Path) -> None:
    series = {one.counter: one for one in imported(tmp_path, "dmon", DMON)}
    assert series["utilization"].values == [93, 90]
    assert series["pcie_tx"].values == [117, 119]
    assert series["pcie_tx"].unit == "MB/s"
    assert series["temperature_memory"].values == []
    assert series["temperature_memory"].not_measured


def test_a_query_log_gives_one_series_for_each_card(tmp_path: Path) -> None:
    series = {(one.device, one.counter): one for one in imported(tmp_path, "query", QUERY)}
    assert series["gpu0", "power"].values == [287.41]
    assert series["gpu1", "power"].not_measured
    assert series["gpu1", "utilization"].values == []


@pytest.mark.parametrize("text", ["", "hello\n", "\x00\xff\n" * 100, "# gpu\n"])
def test_what_is_no_such_log_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="no samples"):
        imported(tmp_path, "dmon", text)
