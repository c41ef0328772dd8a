"""NVIDIA's cards through the real nvidia-ml-py, on a stub of the driver's library.

What has been tried on a real card is in docs/telemetry.md.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from benchspec.observations.series import windows
from benchspec.spec.models import Device
from benchspec.store.tracks import CounterRecord, Track
from benchspec.telemetry.base import Families, Reading
from benchspec.telemetry.nvml import Nvml
from benchspec.telemetry.sampler import Sampler
from tests.telemetry.conftest import (
    LOST,
    NO_PERMISSION,
    UNSIGNED_LONG_LONG,
    Stub,
)

WRAP = 2**32


def clock() -> int:
    return time.monotonic_ns()


class Opened:
    """A source that has been opened, with its readings by device and counter."""

    def __init__(self, *named: str, devices: Sequence[Device] = (), visible: str = "") -> None:
        env = {"CUDA_VISIBLE_DEVICES": visible} if visible else {}
        self.source = Nvml(Families(named), devices, env)
        self.records = list(self.source.open(clock))

    def record(self, name: str, device: str = "gpu0") -> CounterRecord:
        (found,) = [r for r in self.records if (r.name, r.device) == (name, device)]
        return found

    def read(self) -> dict[tuple[str | None, str], Reading]:
        readings = list(self.source.sample(clock))
        return {(self.records[r.counter].device, self.records[r.counter].name): r for r in readings}

    def value(self, name: str, device: str = "gpu0") -> float | None:
        reading, record = self.read()[device, name], self.record(name, device)
        return None if reading.value is None else reading.value * record.scale


# --- what a card answers -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "unit", "value"),
    [
        ("memory_used", "MiB", 18_890),
        ("power", "W", 212.5),
        ("temperature", "°C", 63),
        ("clocks_sm", "MHz", 1380),
        ("clocks_memory", "MHz", 1107),
        ("pcie_gen", "generation", 3),
        ("pcie_lanes", "lanes", 16),
        ("processes", "count", 1),
        ("throttle_power_cap", "%", 100),
        ("throttle_thermal", "%", 0),
    ],
)
def test_a_gauge_is_in_its_unit(stub: Stub, name: str, unit: str, value: float) -> None:
    card = Opened()
    assert (card.record(name).unit, card.record(name).kind) == (unit, "gauge")
    assert card.value(name) == value


def test_heat_of_either_kind_is_thermal(stub: Stub) -> None:
    card = Opened("throttle")
    for bits in (0x20, 0x40):
        stub.set(0, "reasons", bits)
        assert (card.value("throttle_thermal"), card.value("throttle_power_cap")) == (100, 0)


def test_only_the_named_families_are_read(stub: Stub) -> None:
    assert {r.name for r in Opened("pcie", "energy").records} == {
        "pcie_gen",
        "pcie_lanes",
        "pcie_rx",
        "pcie_tx",
        "energy",
    }


# --- utilisation: the driver's own buffer --------------------------------------------------------


def test_every_buffered_sample_comes_once(stub: Stub) -> None:
    now_us = time.time_ns() // 1000
    for age in (3, 2, 1):
        stub.sample(0, 1, now_us - age * 200_000, 10 * age)
    source = Nvml(Families(("utilization",)))
    source.open(clock)
    first = [r for r in source.sample(clock) if r.counter == 0]
    assert [r.value for r in first] == [30, 20, 10]
    assert first[1].at_ns - first[0].at_ns == 200_000_000
    assert 0 < clock() - first[-1].at_ns < 10**9
    assert [r for r in source.sample(clock) if r.counter == 0] == []
    stub.sample(0, 1, now_us + 1, 77)
    assert [r.value for r in source.sample(clock) if r.counter == 0] == [77]


def test_without_a_buffer_the_rate_of_the_moment_is_read(stub: Stub) -> None:
    card = Opened("utilization")
    assert card.record("utilization").read_as == "nvmlDeviceGetUtilizationRates"
    assert card.record("utilization").window_s == 1.0
    assert (card.value("utilization"), card.value("utilization_memory")) == (97, 55)


def test_samples_of_another_clock_are_not_believed(stub: Stub) -> None:
    stub.sample(0, 1, 12_345, 50)
    assert Opened("utilization").record("utilization").read_as == "nvmlDeviceGetUtilizationRates"


# --- the card's own performance counters ---------------------------------------------------------


def test_metrics_are_means_since_the_reading_before(stub: Stub) -> None:
    stub.set(0, "gpm", 1)
    stub.set(0, "gpm2", 61)
    stub.rate(0, "gpm10", 0, 100)
    card = Opened("utilization")
    record = card.record("utilization_bandwidth")
    assert (record.kind, record.window_s, record.unit) == ("window", None, "%")
    assert record.read_as == "NVML GPM metric 10"
    assert card.record("utilization_tensor").not_measured == "NVML answers: Not Supported"
    begin_s = time.monotonic()
    time.sleep(0.25)
    read = card.read()
    assert read["gpu0", "utilization_sm"].value == 61
    grown = read["gpu0", "utilization_bandwidth"].value
    assert grown is not None
    assert 25 <= grown <= 100 * (time.monotonic() - begin_s) + 10
    assert ("gpu0", "utilization_tensor") not in read
    card.source.close()
    assert stub.gpm_samples() == 0


def test_metrics_are_not_asked_for_more_often_than_they_allow(stub: Stub) -> None:
    stub.set(0, "gpm", 1)
    stub.set(0, "gpm2", 61)
    card = Opened("utilization_sm")
    time.sleep(0.12)
    assert card.read()["gpu0", "utilization_sm"].value == 61
    assert card.read() == {}
    card.source.close()


def test_a_card_without_them_says_so(stub: Stub) -> None:
    assert Opened().record("utilization_sm").not_measured == "NVML answers: Not Supported"
    stub.set(0, "gpm", 0)
    reason = "this card has no counters for performance monitoring (GPM)"
    assert Opened().record("utilization_bandwidth").not_measured == reason


def test_metrics_of_a_card_that_falls_off_the_bus_end(stub: Stub) -> None:
    stub.set(0, "gpm", 1)
    stub.set(0, "gpm2", 61)
    card = Opened("utilization_sm")
    stub.fail(0, "*", LOST)
    time.sleep(0.12)
    lost = card.read()["gpu0", "utilization_sm"]
    assert (lost.value, lost.trouble) == (None, "NVML answers: GPU is lost")
    time.sleep(0.12)
    assert card.read() == {}
    card.source.close()


# --- PCIe: cumulative where there is such a counter ----------------------------------------------


def test_bytes_are_unwrapped_at_12_gb_per_s(stub: Stub) -> None:
    """2.4 GB from one reading to the next, 12 GB/s at 200 ms: every other one has wrapped."""
    card = Opened("pcie_rx")
    number = card.records.index(card.record("pcie_rx"))
    readings = []
    for step in range(51):
        stub.set(0, "field198", (4_000_000_000 + step * 2_400_000_000) % WRAP)
        readings += [r for r in card.source.sample(clock) if r.counter == number]
    raw = [int(r.value or 0) for r in readings]
    assert all(0 <= value < WRAP for value in raw)
    assert sum(b < a for a, b in pairwise(raw)) > 20
    track = Track(
        counter=card.record("pcie_rx"),
        at_ns=[step * 200_000_000 for step in range(51)],
        values=[r.value for r in readings],
    )
    assert [w.value for w in windows(track)] == [12_000.0] * 50


@pytest.mark.parametrize(
    ("gen", "lanes", "fastest_s"), [(3, 16, 0.2), (4, 16, 0.1227), (5, 16, 0.0613)]
)
def test_a_narrow_counter_is_read_faster_than_its_link_turns_it(
    stub: Stub, gen: int, lanes: int, fastest_s: float
) -> None:
    stub.set(0, "max_gen", gen)
    stub.set(0, "max_lanes", lanes)
    card = Opened("pcie")
    assert card.source.interval_s(0.2) == pytest.approx(fastest_s, rel=1e-3)
    record = card.record("pcie_rx")
    assert record.wraps_at == WRAP
    assert record.most_per_s is not None
    assert record.most_per_s * card.source.interval_s(0.2) < WRAP


def test_a_wide_counter_needs_no_hurry(stub: Stub) -> None:
    for key in ("field197", "field198"):
        stub.set(0, key, 5 * WRAP)
        stub.type(0, key, UNSIGNED_LONG_LONG)
    card = Opened("pcie")
    assert card.source.interval_s(0.2) == 0.2
    assert card.record("pcie_rx").wraps_at is None
    assert card.value("pcie_rx") == pytest.approx(5 * WRAP * 1e-6)


def test_without_byte_counters_a_polled_window_stands_in_and_says_so(stub: Stub) -> None:
    stub.fail(0, "field197", 3)
    stub.fail(0, "field198", 3)
    stub.set(0, "throughput_rx", 42_000)
    card = Opened("pcie")
    received, sent = card.record("pcie_rx"), card.record("pcie_tx")
    assert (received.kind, received.window_s) == ("window", 0.02)
    assert received.read_as == "nvmlDeviceGetPcieThroughput"
    assert sent.not_measured == "NVML answers: Not Supported"
    assert card.value("pcie_rx") == 42.0


# --- what a card does not have -------------------------------------------------------------------


def test_every_missing_function_is_a_reason_of_its_own(stub: Stub) -> None:
    stub.fail(0, "power", 3)
    stub.fail(0, "field83", NO_PERMISSION)
    card = Opened()
    assert card.record("power").not_measured == "NVML answers: Not Supported"
    assert card.record("energy").not_measured == (
        "NVML answers: Insufficient Permissions (field 83)"
    )
    assert card.record("nvlink_rx").not_measured == "NVML answers: Not Supported (field 139)"
    read = card.read()
    assert not {("gpu0", "power"), ("gpu0", "energy"), ("gpu0", "nvlink_rx")} & read.keys()
    assert read["gpu0", "temperature"].value == 63


def test_a_value_that_fails_once_is_none_then(stub: Stub) -> None:
    card = Opened("temperature", "energy")
    stub.fail(0, "temperature", 999)
    stub.fail(0, "field83", 999)
    read = card.read()
    assert (read["gpu0", "temperature"].value, read["gpu0", "energy"].value) == (None, None)
    assert read["gpu0", "temperature"].trouble == "NVML answers: Unknown Error"
    stub.set(0, "temperature", 64)
    assert card.value("temperature") == 64


def test_a_card_falls_off_the_bus(stub: Stub) -> None:
    """Each of its counters says so once and is not asked again; the other card goes on."""
    stub.cards("A", "B")
    card = Opened("temperature", "energy", "utilization", "throttle")
    stub.fail(1, "*", LOST)
    lost = {key: r for key, r in card.read().items() if key[0] == "gpu1"}
    assert {r.trouble for r in lost.values()} == {"NVML answers: GPU is lost"}
    assert {r.value for r in lost.values()} == {None}
    assert {key[1] for key in lost} >= {"temperature", "energy", "utilization", "throttle_thermal"}
    again = card.read()
    assert {device for device, _ in again} == {"gpu0"}
    assert again["gpu0", "temperature"].value == 63


def test_a_card_that_is_gone_at_the_start_is_a_reason(stub: Stub) -> None:
    stub.cards("A", "B")
    stub.fail(0, "*", LOST)
    card = Opened("temperature", "pcie")
    assert card.record("temperature", "gpu0").not_measured == "NVML answers: GPU is lost"
    assert card.record("temperature", "gpu1").not_measured is None


def test_no_library_is_a_reason() -> None:
    code = (
        "from benchspec.telemetry.nvml import Nvml\n"
        "from benchspec.telemetry.base import Families\n"
        "source = Nvml(Families(('pcie', 'cpu')))\n"
        "print([(r.name, r.not_measured) for r in source.open(lambda: 0)])\n"
        "print(list(source.sample(lambda: 0)), source.close())\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "LD_LIBRARY_PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if "libnvidia-ml.so.1 was not found" not in said.stdout:
        pytest.skip("this machine has NVIDIA's driver")
    assert said.stdout.splitlines() == [
        "[('pcie', 'there is no NVIDIA driver here (libnvidia-ml.so.1 was not found)')]",
        "[] None",
    ]


def test_the_library_is_found_by_its_name(stub_path: Path) -> None:
    """As on a machine with a driver: nothing of ours has loaded it."""
    code = (
        "from benchspec.telemetry.nvml import Nvml\n"
        "from benchspec.telemetry.base import Families\n"
        "print([r.not_measured for r in Nvml(Families()).open(lambda: 0)])\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "LD_LIBRARY_PATH": str(stub_path.parent)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert said.stdout == "['none of the 0 NVIDIA cards here is a device of this spec']\n"


def test_a_driver_that_does_not_start_is_a_reason(stub: Stub) -> None:
    stub.refuse(9)
    (record,) = Opened().records
    assert (record.name, record.not_measured) == ("nvml", "NVML does not start: Driver Not Loaded")


# --- which card is which device ------------------------------------------------------------------


def test_declared_cards_are_watched_under_their_ids(stub: Stub) -> None:
    stub.cards("NVIDIA A100-SXM4-80GB", "Tesla T4", "NVIDIA A100-SXM4-80GB")
    devices = [Device(id="fast", name="A100-SXM4-80GB"), Device(id="small", name="Tesla T4")]
    stub.set(1, "temperature", 40)
    card = Opened("temperature", devices=devices)
    assert {r.device for r in card.records} == {"fast", "small"}
    assert (card.value("temperature", "fast"), card.value("temperature", "small")) == (63, 40)


def test_the_engines_order_is_the_order(stub: Stub) -> None:
    stub.cards("A", "B")
    stub.set(1, "temperature", 40)
    card = Opened("temperature", devices=[Device(id="first")], visible="1,0")
    assert card.value("temperature", "first") == 40


def test_a_spec_with_other_cards_says_that_none_is_here(stub: Stub) -> None:
    card = Opened("temperature", devices=[Device(id="x", pci_id="1002:744c")])
    assert [r.not_measured for r in card.records] == [
        "none of the 1 NVIDIA cards here is a device of this spec"
    ]


def test_readings_survive_as_tracks(stub: Stub) -> None:
    families = Families()
    with Sampler([Nvml(families)], families, origin_ns=clock(), interval_s=0.05) as sampler:
        time.sleep(0.2)
        tracks = sampler.cut(0, sampler.clock())
    again = [Track.model_validate_json(t.model_dump_json()) for t in tracks]
    assert again == tracks
    assert any(t.counter.name == "temperature" and t.values for t in tracks)
