"""The devices as their drivers describe them, beside what the spec declares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchspec.observations.node import SettingValue
from benchspec.report.material import Material
from benchspec.report.numbers import figure
from benchspec.report.parts import Cell, Table

_SAID = {
    "name": "{}",
    "pci_id": "PCI {}",
    "pci_bus": "at {}",
    "accelerator": "known as {}",
    "datasheet_gb_s": "{} GB/s [datasheet]",
    "bandwidth_gb_s": "{} GB/s [derived: {transfers} x memory clock x bus width / 8]",
    "probed_read_gb_s": "{} GB/s [measured by probe]",
    "probed_read_median_gb_s": "median {} GB/s",
    "probed_buffer_mib": "of a buffer of {} MiB",
    "probed_curve": "by buffer {}",
    "probed_from_host_gb_s": "copies from the host {} GB/s [measured by probe]",
    "probed_into_host_gb_s": "copies to the host {} GB/s [measured by probe]",
    "probed_between_cards_gb_s": "copies to the slowest other card {} GB/s [measured by probe]",
    "probed_still_falls": "larger buffers were still slower",
    "memory_mib": "{} MiB",
    "memory_used_mib": "{} MiB in use when the engine was ready",
    "memory_gib": "{} GiB",
    "memory_clock_mhz": "memory clock {} MHz",
    "memory_bus_bits": "bus {} bit",
    "memory_transfers": "{} transfers a clock",
    "clocks_sm_max_mhz": "at most {} MHz",
    "power_limit_w": "power limit {} W",
    "pcie_gen": "PCIe generation {}",
    "pcie_lanes": "{} lanes",
    "cores": "{} cores",
    "driver": "driver {}",
    "cuda": "CUDA {}",
    "nvlinks": "{} NVLinks up",
    "path_to": "path to {device}: {}",
    "peer_read_to": "driver on reading from {device}: {}",
    "nvlinks_to": "{} NVLinks to {device}",
    "trouble": "{}",
}
"""Fact of `telemetry/identity.py` -> how it is said; any other by its name. A fact that ends in
`_to_ID` is about another device."""

_OF_THE_HOST = frozenset({"name", "cores", "memory_gib"})
"""What the table of the host says already."""


def found_devices(material: Material) -> Table | None:
    """One row per device; where a fact differs between arms, all its values."""
    devices: dict[str, dict[str, list[str]]] = {}
    for arm in material.observations.arms.values():
        for device, name, value in _facts(arm.identity):
            seen = devices.setdefault(device, {}).setdefault(name, [])
            if (text := figure(value)) not in seen:
                seen.append(text)
    rows = [
        (Cell(device), Cell(", ".join(_said(name, facts) for name in facts)))
        for device, facts in devices.items()
        if not facts.keys() <= _OF_THE_HOST
    ]
    return Table("Devices, as found", ("Device", "Facts"), tuple(rows)) if rows else None


def _facts(identity: Mapping[str, SettingValue]) -> Iterator[tuple[str, str, SettingValue]]:
    for name, value in identity.items():
        device, _, fact = name.rpartition(".")
        if device:
            yield device, fact, value


def _said(name: str, facts: Mapping[str, list[str]]) -> str:
    about, _, device = name.partition("_to_")
    key = f"{about}_to" if device else name
    text, transfers = (" / ".join(facts.get(fact, ["2"])) for fact in (name, "memory_transfers"))
    return (
        _SAID[key].format(text, device=device, transfers=transfers)
        if key in _SAID
        else f"{name} {text}"
    )
