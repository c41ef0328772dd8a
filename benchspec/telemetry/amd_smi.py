"""What only AMD's own library knows: energy and XGMI. The package amdsmi is optional.

Not tried on a card. Units are those of amd_smi.h: an accumulator times its resolution in uJ, and KB
(1000 bytes are assumed) since the start, one number per link.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from benchspec.store.tracks import Raw


class AmdSmi:
    """amdsmi, started. `failures` are the exceptions of its calls."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self.failures: tuple[type[Exception], ...] = (module.AmdSmiException,)

    def handle(self, bus: str) -> Any:
        """The card at a PCI address (0000:03:00.0), None where the library does not list it."""
        module = self._module
        try:
            found = {
                module.amdsmi_get_gpu_device_bdf(h): h
                for h in module.amdsmi_get_processor_handles()
            }
        except self.failures:
            return None
        return found.get(bus)

    def resolution_j(self, handle: Any) -> float:
        """Joules per step of the energy accumulator; 0 where the card has none."""
        try:
            return 1e-6 * float(self._module.amdsmi_get_energy_count(handle)["counter_resolution"])
        except self.failures:
            return 0.0

    def energy(self, handle: Any) -> list[Raw]:
        """The energy accumulator."""
        return [_whole(self._module.amdsmi_get_energy_count(handle)["energy_accumulator"])]

    def xgmi(self, handle: Any) -> list[Raw]:
        """KB read and written over all XGMI links."""
        metrics = self._module.amdsmi_get_gpu_metrics_info(handle)
        return [_sum(metrics["xgmi_read_data_acc"]), _sum(metrics["xgmi_write_data_acc"])]

    def close(self) -> None:
        with contextlib.suppress(*self.failures):
            self._module.amdsmi_shut_down()


def load() -> AmdSmi | None:
    """amdsmi where it is installed and its library can be had. On failure it prints, which is
    caught, and raises KeyError."""
    if importlib.util.find_spec("amdsmi") is None:
        return None
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            module = importlib.import_module("amdsmi")
    except (ImportError, OSError, KeyError, AttributeError):
        return None
    smi = AmdSmi(module)
    try:
        module.amdsmi_init()
    except smi.failures:
        return None
    return smi


def _whole(value: object) -> int | None:
    """A number, not the `N/A` that stands for a field without one."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _sum(values: Iterable[object]) -> int | None:
    known = [number for value in values if (number := _whole(value)) is not None]
    return sum(known) if known else None
