"""What the devices of this machine are: enough to tell two cards of one name apart, no serials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType

from benchspec.knowledge import accelerators
from benchspec.knowledge.accelerators import Accelerator
from benchspec.spec.models import Device
from benchspec.telemetry import amd_cards, nvml_cards, nvml_paths, pcie_link
from benchspec.telemetry.devices import identified
from benchspec.telemetry.nvml_cards import Card, NvmlAbsent, ask, pcie_most

Fact = str | int | float
Facts = dict[str, dict[str, Fact]]

MIB, GIB = 2**20, 2**30
CLOCK_SM, CLOCK_MEMORY = 1, 2

AMD_TRANSFERS = {"GDDR5": 4, "GDDR6": 16, "HBM2": 2, "HBM2e": 2}
"""Transfers a clock as AMD's driver counts its memory clock, by type of memory (Mesa,
ac_memory_ops_per_clock); NVML's clock has 2 for all. Of HBM3 and LPDDR5X it is not known here."""

AMD_AGREES = 0.2
"""Relative difference from the datasheet within which a derived bandwidth counts. Beyond it, the
driver counts its clock in another way: a wrong number of transfers is off by a factor of two."""


def cards(
    devices: Sequence[Device] = (),
    env: Mapping[str, str] | None = None,
    *,
    root: Path = Path("/"),
) -> Facts:
    """Device id -> what is known of the card; empty where no driver is.

    `bandwidth_gb_s` is derived, 2 (or `memory_transfers`) x memory clock x bus width / 8;
    `datasheet_gb_s` is of the table of accelerators. `pci_bus` is where the card sits
    (0000:01:00.0); `pcie_gen` and `pcie_lanes` are the most that the way to the card allows;
    `memory_used_mib` is now. How cards reach each other is in nvml_paths.
    """
    nvidia = _nvidia(devices, env or {}, root)
    left = [device for device in devices if device.id not in nvidia]
    all_found = bool(nvidia) and _gpus(devices) > 0 and _gpus(left) == 0
    return nvidia if all_found else {**nvidia, **_amd(left, root)}


def _gpus(devices: Sequence[Device]) -> int:
    return sum(device.kind == "gpu" for device in devices)


def bandwidth_gb_s(clock_mhz: float, bus_bits: int, transfers: int = 2) -> float:
    """Theoretical memory bandwidth: two transfers a clock as NVML has it, for GDDR and HBM alike."""
    return round(transfers * clock_mhz * bus_bits / 8 / 1000, 1)


def _nvidia(devices: Sequence[Device], env: Mapping[str, str], root: Path) -> Facts:
    try:
        nvml = nvml_cards.start()
    except NvmlAbsent:
        return {}
    try:
        found = list(nvml_cards.cards(nvml))
        known = identified(devices, found, env)
        named = [(card, known[card.index]) for card in found if card.index in known]
        return {device: dict(_nvidia_facts(nvml, card, root, named)) for card, device in named}
    finally:
        nvml.nvmlShutdown()


def _nvidia_facts(
    nvml: ModuleType, card: Card, root: Path, named: Sequence[tuple[Card, str]]
) -> Iterator[tuple[str, Fact]]:
    if card.trouble is not None:
        yield "trouble", card.trouble
        return
    memory = ask(nvml, "nvmlDeviceGetMemoryInfo", card.handle)
    gib = memory.total / GIB if memory and memory.total else None
    yield from _named(card.name, card.pci_id, gib)
    yield from _known(pci_bus=card.bus)
    if memory and memory.total:
        yield "memory_mib", round(memory.total / MIB)
        yield "memory_used_mib", round(memory.used / MIB)
    clock = ask(nvml, "nvmlDeviceGetMaxClockInfo", card.handle, CLOCK_MEMORY)
    bus = ask(nvml, "nvmlDeviceGetMemoryBusWidth", card.handle)
    core = ask(nvml, "nvmlDeviceGetMaxClockInfo", card.handle, CLOCK_SM)
    limit = ask(nvml, "nvmlDeviceGetEnforcedPowerLimit", card.handle)
    yield from _known(memory_clock_mhz=clock, memory_bus_bits=bus, clocks_sm_max_mhz=core)
    if clock and bus:
        yield "bandwidth_gb_s", bandwidth_gb_s(clock, bus)
    yield from _known(power_limit_w=limit / 1e3 if limit else None)
    yield from _link(pcie_most(nvml, card.handle), card.bus, root)
    yield from _known(driver=_text(ask(nvml, "nvmlSystemGetDriverVersion")))
    cuda = ask(nvml, "nvmlSystemGetCudaDriverVersion")
    yield from _known(cuda=f"{cuda // 1000}.{cuda % 1000 // 10}" if cuda else None)
    others = [(other, id_) for other, id_ in named if other is not card and other.trouble is None]
    yield from nvml_paths.paths(nvml, card, others)


def _amd(devices: Sequence[Device], root: Path) -> Facts:
    found = list(amd_cards.cards(root))
    known = identified(devices, found, prefix=amd_cards.PREFIX)
    return {
        known[card.index]: dict(_amd_facts(card, root)) for card in found if card.index in known
    }


def _amd_facts(card: amd_cards.Card, root: Path) -> Iterator[tuple[str, Fact]]:
    total = _number(card.folder / "mem_info_vram_total")
    used = _number(card.folder / "mem_info_vram_used")
    gib = total / GIB if total else None
    yield from _named(card.name, card.pci_id, gib)
    yield from _known(
        pci_bus=card.bus,
        memory_mib=round(total / MIB) if total else None,
        memory_used_mib=round(used / MIB) if used is not None else None,
    )
    yield from _amd_memory(amd_cards.memory_clock_mhz(card), known_as(card.name, card.pci_id, gib))
    yield from _link((None, None), card.bus, root)


def _amd_memory(clock_mhz: int | None, known: Accelerator | None) -> Iterator[tuple[str, Fact]]:
    """The driver's memory clock; of a card that the table knows, its bus and what follows."""
    yield from _known(memory_clock_mhz=clock_mhz)
    bus = known.memory_bus_bits if known else None
    if known is None or bus is None:
        return
    yield "memory_bus_bits", bus
    transfers, stated = AMD_TRANSFERS.get(known.memory_type), known.memory_bandwidth_gb_s
    if clock_mhz is None or transfers is None or stated is None:
        return
    derived = bandwidth_gb_s(clock_mhz, bus, transfers)
    if abs(derived / stated - 1) <= AMD_AGREES:
        yield "memory_transfers", transfers
        yield "bandwidth_gb_s", derived


def _named(
    name: str | None, pci_id: str | None, memory_gib: float | None
) -> Iterator[tuple[str, Fact]]:
    """Name and PCI id, and what the table of accelerators knows under them."""
    yield from _known(name=name, pci_id=pci_id)
    known = known_as(name, pci_id, memory_gib)
    if known is not None:
        yield "accelerator", known.id
        yield from _known(datasheet_gb_s=known.memory_bandwidth_gb_s)


def known_as(name: str | None, pci_id: str | None, memory_gib: float | None) -> Accelerator | None:
    """The accelerator of a PCI id where only one has it, else of a driver's name."""
    same = [each for each in accelerators.everything() if pci_id in each.pci_ids]
    if len(same) == 1:
        return same[0]
    return accelerators.find(name, memory_gib) if name else None


def _link(
    most: tuple[int | None, int | None], bus: str | None, root: Path
) -> Iterator[tuple[str, Fact]]:
    """What card and slot allow, or the narrowest link above them if that is slower."""
    links = [(gen, lanes) for gen, lanes in [most] if gen is not None and lanes is not None]
    above = pcie_link.narrowest(bus, root=root) if bus else None
    links += [above] if above else []
    if links:
        generation, lanes = min(links, key=lambda link: pcie_link.bytes_per_s(*link))
        yield "pcie_gen", generation
        yield "pcie_lanes", lanes


def _known(**facts: Fact | None) -> Iterator[tuple[str, Fact]]:
    yield from ((name, fact) for name, fact in facts.items() if fact is not None)


def _number(path: Path) -> int | None:
    text = amd_cards.text(path)
    return int(text) if text and text.isdigit() else None


def _text(value: str | bytes | None) -> str | None:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
