"""Which card is which device of the spec, what it is, and how wide the way to it is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchspec.spec.models import Device
from benchspec.telemetry import pcie_link
from benchspec.telemetry.devices import identified
from benchspec.telemetry.identity import bandwidth_gb_s, cards, known_as
from tests.telemetry.conftest import LOST, Stub


@dataclass(frozen=True)
class Card:
    index: int
    name: str | None = None
    pci_id: str | None = None


A100, T4 = "NVIDIA A100-SXM4-80GB", "Tesla T4"


def test_without_a_declaration_every_card_is_watched() -> None:
    found = identified([Device(id="cpu0", kind="cpu")], [Card(0, T4), Card(1, A100)])
    assert found == {0: "gpu0", 1: "gpu1"}


def test_declared_cards_are_taken_in_the_order_of_the_bus() -> None:
    assert identified([Device(id="a"), Device(id="b")], [Card(0), Card(1), Card(2)]) == {
        0: "a",
        1: "b",
    }


def test_a_name_that_is_another_cards_is_skipped() -> None:
    devices = [Device(id="a", name="A100-SXM4-80GB"), Device(id="b", name="T4")]
    assert identified(devices, [Card(0, T4), Card(1, A100)]) == {1: "a", 0: "b"}


def test_a_name_that_nobody_knows_contradicts_nothing() -> None:
    assert identified([Device(id="a", name="my card")], [Card(0, A100)]) == {0: "a"}


def test_the_pci_id_decides_between_cards_of_one_name() -> None:
    """Two cards of one marketing name: one has the faster memory."""
    two = [Card(0, "Tesla V100", "10de:1db5"), Card(1, "Tesla V100", "10de:1df0")]
    assert identified([Device(id="a", pci_id="10DE:1DF0")], two) == {1: "a"}
    assert identified([Device(id="a", pci_id="10de:0000")], two) == {}


@pytest.mark.parametrize(
    ("visible", "first"),
    [("1,0", 1), ("1", 1), ("", 0), ("GPU-5f3b", 0), ("7", 0), ("1,1,0", 1)],
)
def test_visible_devices_that_are_numbers_set_the_order(visible: str, first: int) -> None:
    env = {"CUDA_VISIBLE_DEVICES": visible}
    assert identified([Device(id="a")], [Card(0), Card(1)], env) == {first: "a"}


# --- identity ------------------------------------------------------------------------------------


def test_the_identity_of_a_card_that_calls_itself_something_else(
    stub: Stub, tmp_path: Path
) -> None:
    """Sold as a V100, it has 1107 MHz x 2 x 4096 bit / 8 = 1133.6 GB/s and another PCI id."""
    stub.set(0, "pci_id", 0x1DF010DE)
    assert cards([Device(id="v100")], root=tmp_path)["v100"] == {
        "name": "Tesla PG500-216",
        "pci_id": "10de:1df0",
        "pci_bus": "0000:01:00.0",
        "accelerator": "v100-pg500-216",
        "datasheet_gb_s": 1133.6,
        "memory_mib": 32_768,
        "memory_used_mib": 18_890,
        "memory_clock_mhz": 1107,
        "memory_bus_bits": 4096,
        "clocks_sm_max_mhz": 1530,
        "bandwidth_gb_s": 1133.6,
        "power_limit_w": 250.0,
        "pcie_gen": 3,
        "pcie_lanes": 16,
        "driver": "595.45.04",
        "cuda": "13.2",
    }


def test_what_a_card_does_not_tell_is_absent(stub: Stub, tmp_path: Path) -> None:
    for key in ("bus", "max_clock_memory", "power_limit", "max_gen", "memory_used"):
        stub.fail(0, key, 3)
    facts = cards(root=tmp_path)["gpu0"]
    absent = {"bandwidth_gb_s", "memory_clock_mhz", "power_limit_w", "pcie_gen", "memory_mib"}
    assert not absent & facts.keys()
    assert facts["name"] == "Tesla PG500-216"


def test_a_lost_card_is_told_and_no_serial_is(stub: Stub, tmp_path: Path) -> None:
    stub.cards("A", "B")
    stub.fail(1, "*", LOST)
    facts = cards(root=tmp_path)
    assert facts["gpu1"] == {"trouble": "NVML answers: GPU is lost"}
    assert "uuid" not in json.dumps(facts).lower()


def test_how_two_cards_reach_each_other(stub: Stub, tmp_path: Path) -> None:
    """Two straight NVLinks and one to a switch; the third card is across the socket."""
    stub.cards("A", "B", "C")
    for link, end in enumerate((1, 1, -1)):
        stub.set(0, f"link{link}", end)
    stub.set(0, "path1", 30)
    stub.set(0, "path2", 50)
    stub.set(0, "peer1", 0)
    stub.set(0, "peer2", 1)
    devices = [Device(id="x"), Device(id="y"), Device(id="z")]
    facts = cards(devices, root=tmp_path)
    assert {k: v for k, v in facts["x"].items() if "_to_" in k or k == "nvlinks"} == {
        "nvlinks": 3,
        "path_to_y": "PHB",
        "peer_read_to_y": "ok",
        "nvlinks_to_y": 2,
        "path_to_z": "SYS",
        "peer_read_to_z": "chipset not supported",
    }
    assert not [name for name in facts["y"] if "_to_" in name]


def test_no_driver_no_cards(tmp_path: Path) -> None:
    assert cards(root=tmp_path) == {}


@pytest.mark.parametrize(
    ("clock_mhz", "bus_bits", "gb_s"),
    [(14001, 512, 1792.1), (877, 4096, 898.0), (10501, 384, 1008.1), (2619, 5120, 3352.3)],
)
def test_one_formula_for_gddr_and_hbm(clock_mhz: int, bus_bits: int, gb_s: float) -> None:
    """RTX 5090, V100, RTX 4090, H100: within a hundredth of their datasheets."""
    assert bandwidth_gb_s(clock_mhz, bus_bits) == gb_s


def test_a_pci_id_is_believed_before_a_name() -> None:
    known = known_as("Tesla V100-SXM2-32GB", "10de:1df0", 32)
    assert known is not None
    assert known.id == "v100-pg500-216"


# --- links ---------------------------------------------------------------------------------------


def link(folder: Path, speed: str, width: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "max_link_speed").write_text(f"{speed}\n")
    (folder / "max_link_width").write_text(f"{width}\n")


def test_the_narrowest_link_on_the_way_counts(tmp_path: Path) -> None:
    root_port = tmp_path / "sys/devices/pci0000:00/0000:00:01.0"
    riser, card = root_port / "0000:01:00.0", root_port / "0000:01:00.0/0000:02:00.0"
    link(root_port, "32.0 GT/s PCIe", "16")
    link(riser, "8.0 GT/s PCIe", "4")
    link(card, "16.0 GT/s PCIe", "16")
    known = tmp_path / "sys/bus/pci/devices"
    known.mkdir(parents=True)
    (known / "0000:02:00.0").symlink_to(card)
    assert pcie_link.narrowest("0000:02:00.0", root=tmp_path) == (3, 4)
    assert pcie_link.narrowest("0000:99:00.0", root=tmp_path) is None


@pytest.mark.parametrize(
    ("text", "generation"),
    [
        ("2.5 GT/s PCIe", 1),
        ("8 GT/s", 3),
        ("64.0 GT/s PCIe", 6),
        ("Unknown speed", None),
        ("9.9 GT/s", None),
    ],
)
def test_generations_by_their_speed(text: str, generation: int | None) -> None:
    assert pcie_link.generation(text) == generation


def test_what_a_link_carries_per_direction() -> None:
    assert pcie_link.bytes_per_s(3, 16) == pytest.approx(15.754e9, rel=1e-3)
    assert pcie_link.bytes_per_s(2, 4) == 2e9
    assert pcie_link.bytes_per_s(None, None) == pcie_link.bytes_per_s(5, 16)
