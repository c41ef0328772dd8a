"""Memory and link bandwidth of GPUs, through torch or cupy where one of them is installed.

Not tried on a card here (see docs/telemetry.md). The buffer is far larger than any second-level
cache; half a second of work comes first, so that the clocks are up; times are those of events on the
card. Reading is a sum, copying n bytes counts n read and n written, as on the host.
"""

from __future__ import annotations

import importlib
import importlib.util
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

BUFFER_BYTES = 2**30
LINK_BYTES = 2**28
MEMORY_SHARE = 0.25
REPEATS = 20
WARM_UP_S = 0.5

NOT_INSTALLED = "neither torch nor cupy can be imported here"
NO_DEVICE = "{} is installed, but sees no GPU"


@dataclass(frozen=True)
class Rates:
    """Bytes per second over the repeats."""

    best: float
    median: float


@dataclass(frozen=True)
class GpuMemory:
    """One card: its memory, and its link to the host and to other cards, per direction."""

    index: int
    name: str
    buffer_bytes: int
    read: Rates
    copy: Rates
    from_host: Rates
    to_host: Rates
    to_card: dict[int, Rates] = field(default_factory=dict)


@dataclass(frozen=True)
class Gpus:
    """`not_measured` is why there are none."""

    library: str | None = None
    cards: tuple[GpuMemory, ...] = ()
    not_measured: str | None = None


class Library(Protocol):
    """What is needed of a GPU library; buffers are opaque. `timed` is seconds on the card."""

    name: str

    def count(self) -> int: ...
    def title(self, card: int) -> str: ...
    def free_bytes(self, card: int) -> int: ...
    def on_card(self, card: int, size: int) -> Any: ...
    def on_host(self, size: int) -> Any: ...
    def copy(self, target: Any, source: Any) -> None: ...
    def read(self, source: Any) -> None: ...
    def timed(self, card: int, work: Callable[[], None]) -> float: ...


def measure(library: Library | None = None) -> Gpus:
    """Every card that the library sees; without a library or a card, why not."""
    found = library or next(_installed(), None)
    if found is None:
        return Gpus(not_measured=NOT_INSTALLED)
    count = found.count()
    if count == 0:
        return Gpus(found.name, not_measured=NO_DEVICE.format(found.name))
    return Gpus(found.name, tuple(_card(found, card, count) for card in range(count)))


def _installed() -> Iterator[Library]:
    for name, make in (("torch", Torch), ("cupy", Cupy)):
        if importlib.util.find_spec(name) is not None:
            try:
                yield make(importlib.import_module(name))
            except (ImportError, OSError):
                continue


def _card(library: Library, card: int, count: int) -> GpuMemory:
    size = min(BUFFER_BYTES, int(library.free_bytes(card) * MEMORY_SHARE) // 2 & ~0xFF)
    link = min(LINK_BYTES, size)
    one, two = library.on_card(card, size), library.on_card(card, size)
    small, host = library.on_card(card, link), library.on_host(link)
    others = {other: library.on_card(other, link) for other in range(count) if other != card}

    def rates(work: Callable[[], None], moved: int) -> Rates:
        return _rates(library, card, work, moved)

    _warm_up(library, card, lambda: library.copy(two, one))
    return GpuMemory(
        index=card,
        name=library.title(card),
        buffer_bytes=size,
        read=rates(lambda: library.read(one), size),
        copy=rates(lambda: library.copy(two, one), 2 * size),
        from_host=rates(lambda: library.copy(small, host), link),
        to_host=rates(lambda: library.copy(host, small), link),
        to_card={
            other: rates(lambda target=target: library.copy(target, small), link)  # type: ignore[misc]
            for other, target in others.items()
        },
    )


def _warm_up(library: Library, card: int, work: Callable[[], None]) -> None:
    end = time.monotonic() + WARM_UP_S
    while time.monotonic() < end:
        library.timed(card, work)


def _rates(library: Library, card: int, work: Callable[[], None], moved: int) -> Rates:
    times = [library.timed(card, work) for _ in range(REPEATS)]
    rates = [moved / seconds for seconds in times if seconds > 0]
    return Rates(best=max(rates, default=0.0), median=statistics.median(rates or [0.0]))


class Torch:
    """PyTorch with CUDA (or ROCm, under the same names)."""

    name = "torch"

    def __init__(self, torch: Any) -> None:
        self._torch = torch

    def count(self) -> int:
        return int(self._torch.cuda.device_count()) if self._torch.cuda.is_available() else 0

    def title(self, card: int) -> str:
        return str(self._torch.cuda.get_device_name(card))

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
