"""Accelerators by name: theoretical bandwidth, memory, compute and links, with where each was read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from benchspec.knowledge.table import DATA


@dataclass(frozen=True)
class Accelerator:
    """One board or chip as its maker states it; what was not sourced is None.

    `memory_bandwidth_gb_s` is decimal GB/s, `memory_gib` binary GiB, `fp16_tflops` dense and on the
    basis that `fp16_basis` names, `nvlink_gb_s` the sum of all links and both directions.
    """

    id: str
    names: tuple[str, ...]
    memory_type: str
    source: tuple[str, ...]
    memory_gib: float | None = None
    memory_bandwidth_gb_s: float | None = None
    memory_bus_bits: int | None = None
    memory_shared: bool = False
    fp16_tflops: float | None = None
    fp16_basis: str | None = None
    fp32_tflops: float | None = None
    pcie_gen: int | None = None
    pcie_lanes: int | None = None
    nvlink_gb_s: float | None = None
    tdp_w: float | None = None
    devices_per_package: int = 1
    pci_ids: tuple[str, ...] = ()
    notes: str | None = None


# Makers and series are left out as often as not; `tm` and `r` come from Intel's driver.
_NOISE = frozenset({
    "nvidia", "amd", "intel", "apple", "geforce", "tesla", "radeon", "instinct", "arc", "graphics",
    "gpu", "r", "tm",
})  # fmt: skip
_WORDS = re.compile(r"[a-z]+|\d+|\+", re.IGNORECASE)
_MEMORY = re.compile(r"\b(\d{1,3})\s?Gi?B\b", re.IGNORECASE)
_MAX_NAME_CHARS = 200


def find(name: str, memory_gib: float | None = None) -> Accelerator | None:
    """The accelerator of a name, id or driver string, however it is cased and prefixed.

    None where nothing is known, or where several boards share the name and their bandwidths
    differ: `memory_gib`, or a size inside the name (`RTX 3060 12GB`), tells those apart.
    """
    found = candidates(name, memory_gib)
    if len({each.memory_bandwidth_gb_s for each in found}) != 1:
        return None
    return found[0]


def candidates(name: str, memory_gib: float | None = None) -> tuple[Accelerator, ...]:
    """Every accelerator that a name could mean: exact names first, else names that begin with it."""
    wanted = _key(name[:_MAX_NAME_CHARS])
    if not wanted:
        return ()
    exact = tuple(each for each in everything() if wanted in _keys(each))
    if exact:
        return _of_size(exact, memory_gib)
    stated = _MEMORY.search(name[:_MAX_NAME_CHARS])
    size = memory_gib if memory_gib is not None else float(stated[1]) if stated else None
    shorter = _key(_MEMORY.sub(" ", name[:_MAX_NAME_CHARS]))
    same = [each for each in everything() if shorter in _keys(each)]
    begin = [
        each for each in everything() if any(key[: len(shorter)] == shorter for key in _keys(each))
    ]
    return _of_size(tuple(same or (begin if shorter else ())), size)


def _of_size(found: tuple[Accelerator, ...], memory_gib: float | None) -> tuple[Accelerator, ...]:
    """Those whose memory is within 6 % of the size, as drivers report a little less than is sold."""
    if memory_gib is None:
        return found
    return tuple(
        each
        for each in found
        if each.memory_gib is None or abs(each.memory_gib - memory_gib) <= 0.06 * each.memory_gib
    )


def _key(name: str) -> tuple[str, ...]:
    return tuple(word for word in _WORDS.findall(name.lower()) if word not in _NOISE)


@cache
def _keys(accelerator: Accelerator) -> frozenset[tuple[str, ...]]:
    return frozenset(_key(name) for name in (accelerator.id, *accelerator.names))


@cache
def everything() -> tuple[Accelerator, ...]:
    """All accelerators of the table, in its order. The file is read on the first call."""
    import yaml

    text = (DATA / "accelerators.yaml").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = yaml.load(text, Loader=yaml.CSafeLoader)["accelerators"]
    return tuple(_accelerator(row) for row in rows)


def _accelerator(row: dict[str, Any]) -> Accelerator:
    pcie = row.get("pcie") or {}
    return Accelerator(
        id=row["id"],
        names=tuple(row["names"]),
        memory_type=row["memory_type"],
        source=tuple(row["source"]),
        memory_gib=row.get("memory_gib"),
        memory_bandwidth_gb_s=row.get("mem_bandwidth_gb_s"),
        memory_bus_bits=row.get("memory_bus_bits"),
        memory_shared=bool(row.get("memory_shared")),
        fp16_tflops=row.get("fp16_tflops"),
        fp16_basis=row.get("fp16_basis"),
        fp32_tflops=row.get("fp32_tflops"),
        pcie_gen=pcie.get("gen"),
        pcie_lanes=pcie.get("lanes"),
        nvlink_gb_s=row.get("nvlink_gb_s"),
        tdp_w=row.get("tdp_w"),
        devices_per_package=row.get("devices_per_package", 1),
        pci_ids=tuple(row.get("pci_ids", ())),
        notes=row.get("notes"),
    )
