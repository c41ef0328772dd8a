"""nvidia-smi's text: every header there has been, and the program itself, which may be missing."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchspec.observations.series import windows
from benchspec.spec.models import Device
from benchspec.store.tracks import CounterRecord, Track
from benchspec.telemetry.base import Families, Reading, WithChild
from benchspec.telemetry.dmon import Dmon
from benchspec.telemetry.dmon_log import parse
from benchspec.telemetry.dmon_saved import tracks
from benchspec.telemetry.smi_text import parse_query, parse_reasons

SHAPES = yaml.safe_load((Path(__file__).parent / "fixtures/nvidia-smi.yaml").read_text())


def named(kind: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("shape", SHAPES[kind], ids=lambda shape: shape["name"])


@named("dmon")
def test_columns_are_found_by_their_header(shape: dict[str, Any]) -> None:
    found = [
        {"gpu": row.gpu, **({"time": row.time} if row.time else {}), **row.values}
        for row in parse(shape["lines"])
    ]
    assert found == shape["rows"]


@named("query")
def test_a_query_is_read_with_and_without_units(shape: dict[str, Any]) -> None:
    assert list(parse_query(shape["lines"])) == shape["rows"]


@named("reasons")
def test_a_power_cap_is_not_heat(shape: dict[str, Any]) -> None:
    assert parse_reasons(shape["lines"]) == shape["expect"]


def test_endless_lines_and_strange_numbers_are_passed_over() -> None:
    lines = ["# gpu sm", "0 " + "9" * 10_000, "0 nan?", "x 5", "0 97"]
    assert [row.values["sm"] for row in parse(lines)] == [None, None, 97.0]


# --- the live program ----------------------------------------------------------------------------


def program(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """An nvidia-smi of our own, in front of everything else."""
    path = folder / "nvidia-smi"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


HEADER = "printf '#Time gpu sm rxpci txpci mtemp\\n#HH:MM:SS Idx %% MB/s MB/s C\\n'"
ROWS = "printf '12:00:00 0 33 42 7 -\\n12:00:00 1 34 41 8 -\\n'"


def opened(families: Families, *devices: Device) -> tuple[Dmon, list[CounterRecord]]:
    source = Dmon(families, devices)
    return source, list(source.open(time.monotonic_ns))


def read_until(source: Dmon, enough: Callable[[list[Reading]], bool]) -> list[Reading]:
    """Readings until there are enough; the limit is for a machine that is very busy."""
    end = time.monotonic() + 20.0
    found: list[Reading] = []
    while not enough(found) and time.monotonic() < end:
        found += source.sample(time.monotonic_ns)
        time.sleep(0.02)
    return found


def test_lines_become_readings_of_the_specs_devices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = f"{HEADER}; while :; do {ROWS}; sleep 0.1; done"
    program(tmp_path, monkeypatch, script)
    source, records = opened(Families(), Device(id="left"), Device(id="right"))
    try:
        found = read_until(source, lambda found: len(found) >= 6)
    finally:
        source.close()
    by_name = {(r.device, r.name): r for r in records}
    assert set(by_name) == set(
        itertools.product(
            ("left", "right"), ("utilization", "pcie_rx", "pcie_tx", "temperature_memory")
        )
    )
    assert by_name["left", "pcie_rx"].window_s == 0.02
    assert by_name["left", "temperature_memory"].not_measured == "nvidia-smi dmon prints `-`"
    values = {(records[r.counter].device, records[r.counter].name): r.value for r in found}
    assert values["left", "utilization"] == 33.0
    assert values["right", "pcie_rx"] == 41.0
    assert ("left", "temperature_memory") not in values


def test_the_programs_own_processor_time_is_known_also_once_it_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, monkeypatch, f"{HEADER}; {ROWS}; {ROWS}; while :; do :; done")
    source, _ = opened(Families(("utilization",)))
    assert isinstance(source, WithChild)
    seen = [source.child_ns()]
    end = time.monotonic() + 20.0
    while seen[-1] < seen[0] + 100_000_000 and time.monotonic() < end:
        time.sleep(0.02)
        seen.append(source.child_ns())
    source.close()
    assert seen == sorted(seen)
    assert seen[-1] >= seen[0] + 100_000_000
    assert source.child_ns() == seen[-1]
    assert Dmon(Families()).child_ns() == 0


def test_a_program_that_ends_says_so_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, monkeypatch, f"{HEADER}; {ROWS}; {ROWS}; echo GPU is lost; exit 3")
    source, records = opened(Families(("utilization",)))
    found = read_until(source, lambda found: bool(found) and found[-1].value is None)
    source.close()
    assert [r.device for r in records] == ["gpu0", "gpu1"]
    assert [r.value for r in found][-2:] == [None, None]
    assert found[-1].trouble == "nvidia-smi dmon ended: GPU is lost"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo 'Not supported on the device(s)'; exit 3", "Not supported on the device(s)"),
        ("exit 0", "nothing, and ends"),
    ],
)
def test_a_program_that_has_nothing_is_a_reason(
    script: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, monkeypatch, script)
    source, records = opened(Families(("pcie", "nvlink")))
    source.close()
    assert [(r.name, r.not_measured) for r in records] == [
        ("pcie", f"nvidia-smi dmon says: {reason}")
    ]
    assert list(source.sample(time.monotonic_ns)) == []


def test_without_the_program_there_is_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    source, records = opened(Families())
    source.close()
    assert [(r.name, r.not_measured) for r in records] == [
        ("dmon", "nvidia-smi is not installed here")
    ]


# --- a saved log ---------------------------------------------------------------------------------


HEAD = ["#Time        gpu  rxpci  txpci  mtemp", "#HH:MM:SS    Idx   MB/s   MB/s  C"]


def saved(*rows: str) -> dict[tuple[str | None, str], Track]:
    return {(t.counter.device, t.counter.name): t for t in tracks([*HEAD, *rows])}


def test_a_second_that_is_missing_stays_missing() -> None:
    """Twelve lines over thirteen seconds are no twelve seconds."""
    found = saved("03:17:52 0 13 4 -", "03:17:54 0 1111 5 -", "03:17:55 0 11 4 -")
    received = found["gpu0", "pcie_rx"]
    assert [at_ns // 10**9 for at_ns in received.at_ns] == [0, 2, 3]
    assert received.values == [13.0, 1111.0, 11.0]
    assert [w.value for w in windows(received)] == [13.0, 1111.0, 11.0]
    assert found["gpu0", "temperature_memory"].counter.not_measured is not None


def test_midnight_is_no_way_back() -> None:
    received = saved("23:59:59 0 1 1 -", "23:59:59 1 1 1 -", "00:00:01 0 2 2 -")["gpu0", "pcie_rx"]
    assert [at_ns // 10**9 for at_ns in received.at_ns] == [0, 2]


def test_without_a_time_the_lines_of_a_card_are_a_second_apart() -> None:
    rows = [f"{gpu} {value}" for value in (5, 80, 7) for gpu in (0, 1)]
    found = {t.counter.device: t for t in tracks(["# gpu sm", "# Idx %", *rows])}
    assert [at_ns // 10**9 for at_ns in found["gpu1"].at_ns] == [0, 1, 2]
    assert found["gpu0"].values == [5.0, 80.0, 7.0]
