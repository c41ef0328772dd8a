"""NVIDIA's cards as NVML lists them. The library and its driver may be missing: then, a reason."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

ERROR_UNINITIALIZED = 1
ERROR_DRIVER_NOT_LOADED = 9
ERROR_LIBRARY_NOT_FOUND = 12
ERROR_GPU_IS_LOST = 15
ERROR_RESET_REQUIRED = 16

_FINAL = frozenset({
    ERROR_UNINITIALIZED, ERROR_DRIVER_NOT_LOADED, ERROR_GPU_IS_LOST, ERROR_RESET_REQUIRED,
})  # fmt: skip
"""Answers after which no other will come."""


class NvmlAbsent(Exception):
    """There is no NVML to ask here; the text says why."""


@dataclass(frozen=True)
class Card:
    """One card by its NVML index, which follows the PCI bus.

    `bus` is its address as the system writes it (0000:01:00.0), `pci_id` vendor:device in hex.
    `trouble` is why it could not be asked; `handle` is None then.
    """

    index: int
    handle: Any
    name: str | None = None
    pci_id: str | None = None
    bus: str | None = None
    trouble: str | None = None


def start() -> ModuleType:
    """nvidia-ml-py with NVML started; end it with its `nvmlShutdown`. Raises NvmlAbsent."""
    nvml = importlib.import_module("pynvml")
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        raise NvmlAbsent(_why_not(error)) from error
    return nvml


def _why_not(error: Any) -> str:
    if error.value == ERROR_LIBRARY_NOT_FOUND:
        return "there is no NVIDIA driver here (libnvidia-ml.so.1 was not found)"
    return f"NVML does not start: {error}"


def explain(error: Exception) -> str:
    """An NVMLError in words."""
    return f"NVML answers: {error}"


def final(error: Exception) -> bool:
    """True when the card (or the driver) will not answer again."""
    return is_final(getattr(error, "value", None))


def is_final(code: int | None) -> bool:
    """The same of a bare return code."""
    return code in _FINAL


def cards(nvml: ModuleType) -> Iterator[Card]:
    """Every card of this machine, also one that has fallen off the bus."""
    try:
        count = nvml.nvmlDeviceGetCount()
    except nvml.NVMLError:
        count = 0
    for index in range(count):
        try:
            yield _card(nvml, index)
        except nvml.NVMLError as error:
            yield Card(index, None, trouble=explain(error))


def _card(nvml: ModuleType, index: int) -> Card:
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    pci = nvml.nvmlDeviceGetPciInfo(handle)
    name = nvml.nvmlDeviceGetName(handle)
    vendor, device = pci.pciDeviceId & 0xFFFF, pci.pciDeviceId >> 16
    return Card(
        index,
        handle,
        name=name.decode("utf-8", "replace") if isinstance(name, bytes) else name,
        pci_id=f"{vendor:04x}:{device:04x}",
        bus=as_the_system(pci.busId),
    )


def as_the_system(address: str | bytes) -> str:
    """A PCI address as sysfs writes it: NVML has eight digits of domain, and capitals."""
    text = address.decode("ascii", "replace") if isinstance(address, bytes) else address
    domain, _, rest = text.partition(":")
    return f"{domain[-4:]}:{rest}".lower()


def pcie_most(nvml: ModuleType, handle: Any) -> tuple[int | None, int | None]:
    """The highest PCIe generation and width of card and slot together, where NVML says."""
    return (
        ask(nvml, "nvmlDeviceGetMaxPcieLinkGeneration", handle),
        ask(nvml, "nvmlDeviceGetMaxPcieLinkWidth", handle),
    )


def ask(nvml: ModuleType, call: str, *arguments: Any) -> Any:
    """The answer to a call, None where the card or the driver has none."""
    try:
        return getattr(nvml, call)(*arguments)
    except nvml.NVMLError:
        return None
