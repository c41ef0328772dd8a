"""What the probes need of a GPU library: torch or cupy, where one of them is installed."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from benchspec.telemetry.nvml_cards import as_the_system

NOT_INSTALLED = "neither torch nor cupy can be imported here"
NO_DEVICE = "{} is installed, but sees no GPU"


class Library(Protocol):
    """Buffers are opaque. `bus` is the PCI address as sysfs writes it (0000:01:00.0), None where the
    library does not tell; `timed` is seconds on the card; `wait` returns when the card has done all
    that was asked of it."""

    name: str

    def count(self) -> int: ...
    def title(self, card: int) -> str: ...
    def bus(self, card: int) -> str | None: ...
    def free_bytes(self, card: int) -> int: ...
    def on_card(self, card: int, size: int) -> Any: ...
    def on_host(self, size: int) -> Any: ...
    def copy(self, target: Any, source: Any) -> None: ...
    def read(self, source: Any) -> None: ...
    def timed(self, card: int, work: Callable[[], None]) -> float: ...
    def wait(self, card: int) -> None: ...


def installed() -> Iterator[Library]:
    """The libraries that can be imported, the first to be tried first."""
    for name, make in (("torch", Torch), ("cupy", Cupy)):
        if importlib.util.find_spec(name) is not None:
            try:
                yield make(importlib.import_module(name))
            except (ImportError, OSError):
                continue


class Torch:
    """PyTorch with CUDA (or ROCm, under the same names)."""

    name = "torch"

    def __init__(self, torch: Any) -> None:
        self._torch = torch

    def count(self) -> int:
        return int(self._torch.cuda.device_count()) if self._torch.cuda.is_available() else 0

    def title(self, card: int) -> str:
        return str(self._torch.cuda.get_device_name(card))

    def bus(self, card: int) -> str | None:
        """From the properties of the device, which lack it in older versions of PyTorch."""
        known = self._torch.cuda.get_device_properties(card)
        names = ("pci_domain_id", "pci_bus_id", "pci_device_id")
        domain, bus, device = (getattr(known, name, None) for name in names)
        if domain is None or bus is None or device is None:
            return None
        return f"{domain:04x}:{bus:02x}:{device:02x}.0"

    def free_bytes(self, card: int) -> int:
        return int(self._torch.cuda.mem_get_info(card)[0])

    def on_card(self, card: int, size: int) -> Any:
        return self._torch.ones(size // 4, dtype=self._torch.float32, device=f"cuda:{card}")

    def on_host(self, size: int) -> Any:
        return self._torch.ones(size // 4, dtype=self._torch.float32).pin_memory()

    def copy(self, target: Any, source: Any) -> None:
        target.copy_(source, non_blocking=True)

    def read(self, source: Any) -> None:
        source.sum()

    def timed(self, card: int, work: Callable[[], None]) -> float:
        cuda = self._torch.cuda
        with cuda.device(card):
            begin, end = (cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            work()
            end.record()
            end.synchronize()
            return float(begin.elapsed_time(end)) / 1e3

    def wait(self, card: int) -> None:
        self._torch.cuda.synchronize(card)


class Cupy:
    """CuPy with CUDA."""

    name = "cupy"

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy

    def count(self) -> int:
        try:
            return int(self._cupy.cuda.runtime.getDeviceCount())
        except self._cupy.cuda.runtime.CUDARuntimeError:
            return 0

    def title(self, card: int) -> str:
        name = self._cupy.cuda.runtime.getDeviceProperties(card)["name"]
        return name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)

    def bus(self, card: int) -> str | None:
        runtime = self._cupy.cuda.runtime
        try:
            return as_the_system(runtime.deviceGetPCIBusId(card))
        except (AttributeError, runtime.CUDARuntimeError):
            return None

    def free_bytes(self, card: int) -> int:
        with self._cupy.cuda.Device(card):
            return int(self._cupy.cuda.runtime.memGetInfo()[0])

    def on_card(self, card: int, size: int) -> Any:
        with self._cupy.cuda.Device(card):
            return self._cupy.ones(size // 4, dtype="float32")

    def on_host(self, size: int) -> Any:
        host = self._cupy.cuda.alloc_pinned_memory(size)
        array = importlib.import_module("numpy").frombuffer(host, "float32", size // 4)
        array[:] = 1
        return array

    def copy(self, target: Any, source: Any) -> None:
        if not hasattr(target, "set"):
            source.get(out=target, blocking=False)
        elif hasattr(source, "get"):
            self._cupy.copyto(target, source)
        else:
            target.set(source)

    def read(self, source: Any) -> None:
        source.sum()

    def timed(self, card: int, work: Callable[[], None]) -> float:
        cuda = self._cupy.cuda
        with cuda.Device(card):
            begin, end = cuda.Event(), cuda.Event()
            begin.record()
            work()
            end.record()
            end.synchronize()
            return float(cuda.get_elapsed_time(begin, end)) / 1e3

    def wait(self, card: int) -> None:
        self._cupy.cuda.Device(card).synchronize()
