"""Memory and link bandwidth of GPUs, through torch or cupy where one of them is installed.

Not tried on a card here (see docs/telemetry.md). The buffer is far larger than any second-level
cache; half a second of work comes first, so that the clocks are up; times are those of events on the
card. Reading is a sum, copying n bytes counts n read and n written, as on the host.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from benchspec.telemetry.probe import link
from benchspec.telemetry.probe.library import NO_DEVICE, NOT_INSTALLED, Library, installed

BUFFER_BYTES = 2**30
LINK_BYTES = 2**28
MEMORY_SHARE = 0.25
REPEATS = 20
WARM_UP_S = 0.5


@dataclass(frozen=True)
class Rates:
    """Bytes per second over the repeats."""

    best: float
    median: float


@dataclass(frozen=True)
class GpuMemory:
    """One card: its memory, and its link to the host and to other cards, per direction.

    `index` and the keys of `to_card` are the library's numbers, `bus` is the PCI address as the
    system writes it, None where the library does not tell.
    """

    index: int
    name: str
    buffer_bytes: int
    read: Rates
    copy: Rates
    from_host: Rates
    to_host: Rates
    to_card: dict[int, Rates] = field(default_factory=dict)
    bus: str | None = None


@dataclass(frozen=True)
class Gpus:
    """`not_measured` is why there are no cards, `links_not_measured` why no links between them."""

    library: str | None = None
    cards: tuple[GpuMemory, ...] = ()
    not_measured: str | None = None
    links: tuple[link.Link, ...] = ()
    links_not_measured: str | None = None


def measure(library: Library | None = None) -> Gpus:
    """Every card that the library sees, and every link; without a library or a card, why not."""
    found = library or next(installed(), None)
    if found is None:
        return Gpus(not_measured=NOT_INSTALLED, links_not_measured=NOT_INSTALLED)
    count = found.count()
    if count == 0:
        none = NO_DEVICE.format(found.name)
        return Gpus(found.name, not_measured=none, links_not_measured=none)
    return Gpus(
        found.name,
        tuple(_card(found, card, count) for card in range(count)),
        links=link.measure(found, count),
        links_not_measured=link.ONE_CARD if count == 1 else None,
    )


def _card(library: Library, card: int, count: int) -> GpuMemory:
    size = min(BUFFER_BYTES, int(library.free_bytes(card) * MEMORY_SHARE) // 2 & ~0xFF)
    crossing = min(LINK_BYTES, size)
    one, two = library.on_card(card, size), library.on_card(card, size)
    small, host = library.on_card(card, crossing), library.on_host(crossing)
    others = {other: library.on_card(other, crossing) for other in range(count) if other != card}

    def rates(work: Callable[[], None], moved: int) -> Rates:
        return _rates(library, card, work, moved)

    _warm_up(library, card, lambda: library.copy(two, one))
    return GpuMemory(
        index=card,
        name=library.title(card),
        buffer_bytes=size,
        read=rates(lambda: library.read(one), size),
        copy=rates(lambda: library.copy(two, one), 2 * size),
        from_host=rates(lambda: library.copy(small, host), crossing),
        to_host=rates(lambda: library.copy(host, small), crossing),
        to_card={
            other: rates(lambda target=target: library.copy(target, small), crossing)  # type: ignore[misc]
            for other, target in others.items()
        },
        bus=library.bus(card),
    )


def _warm_up(library: Library, card: int, work: Callable[[], None]) -> None:
    end = time.monotonic() + WARM_UP_S
    while time.monotonic() < end:
        library.timed(card, work)


def _rates(library: Library, card: int, work: Callable[[], None], moved: int) -> Rates:
    times = [library.timed(card, work) for _ in range(REPEATS)]
    rates = [moved / seconds for seconds in times if seconds > 0]
    return Rates(best=max(rates, default=0.0), median=statistics.median(rates or [0.0]))
