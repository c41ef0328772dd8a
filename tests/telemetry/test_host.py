"""The machine's own counters, against /proc and a made-up /sys."""

from __future__ import annotations

import os
import time
from pathlib import Path

import psutil
import pytest

from benchspec.store.tracks import CounterRecord
from benchspec.telemetry.base import Families
from benchspec.telemetry.host_counters import NAMES, NO_RAPL, HostCounters


def opened(*named: str, root: Path = Path("/")) -> tuple[HostCounters, list[CounterRecord]]:
    source = HostCounters(Families(named), root=root)
    return source, list(source.open(time.monotonic_ns))


def values(
    source: HostCounters, records: list[CounterRecord]
) -> dict[tuple[str | None, str], float]:
    return {
        (records[r.counter].device, records[r.counter].name): r.value * records[r.counter].scale
        for r in source.sample(time.monotonic_ns)
        if r.value is not None
    }


def test_the_numbers_are_those_of_the_system() -> None:
    source, records = opened()
    found = values(source, records)
    total = psutil.virtual_memory().total / 2**20
    assert 0 < found[None, "memory_used"] < total
    assert found[None, "cpu"] * (os.cpu_count() or 1) / 100 == pytest.approx(
        sum(psutil.cpu_times()[:3]), rel=0.2
    )
    assert found[None, "load_running"] >= 1
    assert all(record.unit for record in records if record.not_measured is None)


def test_every_counter_is_measured_or_says_why_not() -> None:
    source, records = opened()
    read = {records[r.counter].name for r in source.sample(time.monotonic_ns)}
    silent = {record.name for record in records if record.not_measured}
    assert read | silent == set(NAMES)
    assert not read & silent


def test_processor_time_never_runs_backwards() -> None:
    source, _ = opened("cpu")
    seen = [next(source.sample(time.monotonic_ns)).value or 0 for _ in range(20)]
    assert seen == sorted(seen)


def zone(root: Path, name: str, energy: str, limit: str = "262143328850") -> Path:
    folder = root / "sys/class/powercap" / name
    folder.mkdir(parents=True)
    (folder / "energy_uj").write_text(energy)
    (folder / "max_energy_range_uj").write_text(limit)
    return folder


def test_rapl_is_read_per_package_and_wraps_at_its_limit(tmp_path: Path) -> None:
    zone(tmp_path, "intel-rapl:0", "1000000\n")
    zone(tmp_path, "intel-rapl:1", "3000000\n")
    zone(tmp_path, "intel-rapl:0:0", "5\n")
    source, records = opened("energy", root=tmp_path)
    assert [(r.device, r.unit, r.kind, r.wraps_at) for r in records] == [
        ("cpu0", "W", "cumulative", 262143328851),
        ("cpu1", "W", "cumulative", 262143328851),
    ]
    assert values(source, records) == {("cpu0", "energy"): 1.0, ("cpu1", "energy"): 3.0}


def test_without_rapl_there_is_a_reason(tmp_path: Path) -> None:
    _, (record,) = opened("energy", root=tmp_path)
    assert (record.name, record.not_measured) == ("energy", NO_RAPL)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_rapl_that_only_root_may_read(tmp_path: Path) -> None:
    (zone(tmp_path, "intel-rapl:0", "1") / "energy_uj").chmod(0)
    _, (record,) = opened("energy", root=tmp_path)
    assert record.not_measured == "only root may read energy_uj"


def test_a_file_with_nonsense_is_a_reason(tmp_path: Path) -> None:
    zone(tmp_path, "intel-rapl:0", "many\n")
    _, (record,) = opened("energy", root=tmp_path)
    assert record.not_measured == "it could not be read (ValueError)"
