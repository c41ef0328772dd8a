"""AMD's cards from a made-up /sys: there is no such card where this is developed."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from benchspec.spec.models import Device
from benchspec.store.tracks import CounterRecord
from benchspec.telemetry import amd_smi
from benchspec.telemetry.amd import NO_CARD, NO_SMI, Amd, AmdPackets
from benchspec.telemetry.base import Families, Source
from benchspec.telemetry.identity import cards
from tests.telemetry.conftest import Stub

FILES = {
    "vendor": "0x1002",
    "device": "0x744c",
    "product_name": "Radeon RX 7900 XTX",
    "gpu_busy_percent": "97",
    "mem_busy_percent": "55",
    "mem_info_vram_used": str(18_890 * 2**20),
    "mem_info_vram_total": str(24_560 * 2**20),
    "current_link_speed": "16.0 GT/s PCIe",
    "current_link_width": "8",
    "max_link_speed": "16.0 GT/s PCIe",
    "max_link_width": "16",
    "pcie_bw": "1000 250 256",
    "hwmon/hwmon3/power1_average": "212500000",
    "hwmon/hwmon3/temp1_input": "63000",
    "hwmon/hwmon3/freq1_input": "1380000000",
}


STATES = "0: 96Mhz\n1: 456Mhz *\n2: 772Mhz\n3: 1249Mhz"
"""The memory clock of an RX 7900 XTX, idle: GDDR6 at 20 Gbit/s a pin is 16 transfers a clock."""


def card(root: Path, number: int = 0, /, **changed: str | None) -> Path:
    """A card in slot 0000:0N:00.0, below a bridge."""
    bridge = root / "sys/devices/pci0000:00" / f"0000:00:0{number + 1}.1"
    folder = bridge / f"0000:0{number + 3}:00.0"
    for name, content in {**FILES, **changed}.items():
        if content is not None:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content + "\n")
    for link in (
        root / "sys/class/drm" / f"card{number}" / "device",
        root / "sys/bus/pci/devices" / folder.name,
    ):
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(folder)
    return bridge


def read(source: Source) -> dict[str, tuple[CounterRecord, float | None]]:
    records = list(source.open(time.monotonic_ns))
    found: dict[str, tuple[CounterRecord, float | None]] = {r.name: (r, None) for r in records}
    for reading in source.sample(time.monotonic_ns):
        record = records[reading.counter]
        found[record.name] = (record, (reading.value or 0) * record.scale)
    source.close()
    return found


@pytest.mark.parametrize(
    ("name", "unit", "value"),
    [
        ("utilization", "%", 97),
        ("utilization_memory", "%", 55),
        ("memory_used", "MiB", 18_890),
        ("power", "W", 212.5),
        ("temperature", "°C", 63),
        ("clocks_sm", "MHz", 1380),
        ("pcie_gen", "generation", 4),
        ("pcie_lanes", "lanes", 8),
    ],
)
def test_a_file_is_read_in_its_unit(tmp_path: Path, name: str, unit: str, value: float) -> None:
    card(tmp_path)
    record, found = read(Amd(Families(), root=tmp_path))[name]
    assert (record.unit, record.device) == (unit, "amd0")
    assert found == pytest.approx(value)


def test_newer_cards_call_the_power_input(tmp_path: Path) -> None:
    card(tmp_path, **{"hwmon/hwmon3/power1_average": None, "hwmon/hwmon3/power1_input": "1000000"})
    assert read(Amd(Families(("power",)), root=tmp_path))["power"][1] == 1.0


def test_a_file_that_is_not_there_is_a_reason(tmp_path: Path) -> None:
    card(tmp_path, mem_busy_percent=None)
    found = read(Amd(Families(), root=tmp_path))
    assert found["utilization_memory"][0].not_measured == (
        "the driver does not offer it (No such file or directory)"
    )
    assert found["energy"][0].not_measured == NO_SMI


def test_packets_are_an_upper_bound_over_the_second_in_which_the_driver_counts(
    tmp_path: Path,
) -> None:
    """1000 packets received and 250 sent, of at most 256 bytes each."""
    card(tmp_path)
    found = read(AmdPackets(Families(), root=tmp_path))
    received, sent = found["pcie_rx"], found["pcie_tx"]
    assert [received[1], sent[1]] == pytest.approx([0.256, 0.064])
    assert (received[0].window_s, received[0].bound) == (1.0, True)
    assert AmdPackets(Families(), root=tmp_path).interval_s(0.2) == 1.0


def test_an_apu_has_no_packet_counter(tmp_path: Path) -> None:
    card(tmp_path, pcie_bw=None)
    assert read(AmdPackets(Families(), root=tmp_path))["pcie_tx"][0].not_measured


def test_without_a_card_there_is_a_reason(tmp_path: Path) -> None:
    found = read(Amd(Families(("pcie", "xgmi", "cpu")), root=tmp_path))
    assert {name: record.not_measured for name, (record, _) in found.items()} == {
        "pcie": NO_CARD,
        "xgmi": NO_CARD,
    }
    assert read(AmdPackets(Families(), root=tmp_path)) == {}


def test_another_vendors_card_is_not_amds(tmp_path: Path) -> None:
    card(tmp_path, vendor="0x10de")
    assert "amd" in read(Amd(Families(), root=tmp_path))


def test_declared_cards_go_by_their_pci_id(tmp_path: Path) -> None:
    card(tmp_path, 0, device="0x15bf")
    card(tmp_path, 1)
    source = Amd(Families(("utilization",)), [Device(id="big", pci_id="1002:744C")], root=tmp_path)
    records = source.open(time.monotonic_ns)
    assert {record.device for record in records} == {"big"}


def test_a_narrow_link_above_the_card_is_found(tmp_path: Path) -> None:
    bridge = card(tmp_path)
    (bridge / "max_link_speed").write_text("8.0 GT/s PCIe\n")
    (bridge / "max_link_width").write_text("4\n")
    facts = cards(root=tmp_path)["amd0"]
    assert (facts["pcie_gen"], facts["pcie_lanes"]) == (3, 4)
    assert (facts["pci_id"], facts["memory_mib"]) == ("1002:744c", 24_560)
    assert facts["pci_bus"] == "0000:03:00.0"
    assert facts["memory_used_mib"] == 18_890
    assert facts["accelerator"] == "rx-7900-xtx"


def test_the_memory_clock_gives_the_bandwidth_of_a_card_that_the_table_knows(
    tmp_path: Path,
) -> None:
    """1249 MHz x 16 x 384 bit / 8, against 960 GB/s on the datasheet."""
    card(tmp_path, pp_dpm_mclk=STATES)
    facts = cards(root=tmp_path)["amd0"]
    found = [facts[name] for name in ("memory_clock_mhz", "memory_bus_bits", "memory_transfers")]
    assert found == [1249, 384, 16]
    assert (facts["bandwidth_gb_s"], facts["datasheet_gb_s"]) == (959.2, 960.0)


@pytest.mark.parametrize(
    ("changed", "known"),
    [
        (
            {"device": "0x740f", "product_name": None, "pp_dpm_mclk": "0: 400Mhz\n1: 1600Mhz"},
            1638.4,
        ),
        ({"device": "0x738c", "product_name": None, "pp_dpm_mclk": "0: 1200Mhz *"}, 1228.8),
        ({"pp_dpm_mclk": "0: 2498Mhz"}, None),
        ({"device": "0x74a1", "product_name": None, "pp_dpm_mclk": "0: 1300Mhz *"}, None),
        ({"device": "0xffff", "product_name": None, "pp_dpm_mclk": STATES}, None),
        ({"pp_dpm_mclk": "nothing\n"}, None),
        ({}, None),
    ],
    ids=["MI210", "MI100", "another count", "HBM3", "unknown", "no state", "no file"],
)
def test_a_bandwidth_is_derived_only_where_it_can_be(
    tmp_path: Path, changed: dict[str, str | None], known: float | None
) -> None:
    card(tmp_path, **changed)
    facts = cards(root=tmp_path)["amd0"]
    assert facts.get("bandwidth_gb_s") == known
    assert ("memory_transfers" in facts) is (known is not None)
    assert ("memory_clock_mhz" in facts) is ("Mhz" in str(changed.get("pp_dpm_mclk")))


def test_a_laptop_has_a_card_of_each(stub: Stub, tmp_path: Path) -> None:
    """The declared GPU is NVIDIA's; AMD's beside it neither takes its name nor its place."""
    card(tmp_path)
    assert cards([Device(id="gpu0")], root=tmp_path).keys() == {"gpu0"}
    assert cards([Device(id="gpu0")], root=tmp_path)["gpu0"]["name"] == "Tesla PG500-216"
    assert cards(root=tmp_path).keys() == {"gpu0", "amd0"}
    both = [Device(id="big"), Device(id="small", pci_id="1002:744c")]
    assert cards(both, root=tmp_path)["small"]["name"] == "Radeon RX 7900 XTX"


# --- amdsmi, of which only the shape is known here -----------------------------------------------


def library(handles: dict[str, str]) -> ModuleType:
    """A module with the calls and the answers of amdsmi 7."""

    class AmdSmiException(Exception):
        pass

    module = ModuleType("amdsmi")
    answers = {
        "AmdSmiException": AmdSmiException,
        "amdsmi_init": lambda: None,
        "amdsmi_shut_down": lambda: None,
        "amdsmi_get_processor_handles": lambda: list(handles),
        "amdsmi_get_gpu_device_bdf": handles.__getitem__,
        "amdsmi_get_energy_count": lambda _: {
            "energy_accumulator": 2_000_000,
            "counter_resolution": 15.3,
            "timestamp": 1,
        },
        "amdsmi_get_gpu_metrics_info": lambda _: {
            "xgmi_read_data_acc": [1000, "N/A", 500],
            "xgmi_write_data_acc": ["N/A"] * 3,
        },
    }
    for name, answer in answers.items():
        setattr(module, name, answer)
    return module


def test_energy_and_xgmi_come_from_amdsmi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    card(tmp_path)
    smi = amd_smi.AmdSmi(library({"handle": "0000:03:00.0"}))
    monkeypatch.setattr(amd_smi, "load", lambda: smi)
    found = read(Amd(Families(("energy", "xgmi")), root=tmp_path))
    assert found["energy"][1] == pytest.approx(30.6)
    assert found["xgmi_rx"][1] == pytest.approx(1.5)
    assert found["xgmi_tx"][0].not_measured == "it is not offered here"


def test_a_package_without_its_library_is_as_good_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """amdsmi 7 prints and raises KeyError where ROCm's library is missing."""
    broken = "print('Unable to find libamd_smi.so library')\nraise KeyError('libamd_smi.so')\n"
    (tmp_path / "amdsmi.py").write_text(broken)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "amdsmi", raising=False)
    assert amd_smi.load() is None
    assert capsys.readouterr().out == ""
