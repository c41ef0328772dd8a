"""How long a message between two GPUs takes, by its size: directly, and through the host's memory.

Not tried on two cards here (see docs/telemetry.md). Bandwidth of a large copy says nothing of a path
that holds up every message, and what a driver says of a path says less: each is timed. A time runs
on the host's clock until the message has arrived, with what it costs to ask for it and to learn of
it: once directly, twice through the host (card to pinned memory, memory to the other card).
"Directly" is what the library does when asked to copy from card to card.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from benchspec.telemetry.probe.library import Library

KIB = 1024
SIZES = (4 * KIB, 40 * KIB, 1024 * KIB)
"""An exchange while decoding one stream, one of several drafts, and the rates of a vocabulary."""

REPEATS = 200
FEWEST_REPEATS = 5
WARM_UPS = 3
LONGEST_S = 0.5
"""For one size and path; a path that takes 50 ms gets ten repeats."""

ONE_CARD = "there is one card, and so no link between cards"


@dataclass(frozen=True)
class Waits:
    """Seconds until a message has arrived, over `repeats` of it."""

    least: float
    median: float
    repeats: int


@dataclass(frozen=True)
class Message:
    """One size, over both paths."""

    size_bytes: int
    direct: Waits
    host: Waits


@dataclass(frozen=True)
class Link:
    """Two cards, from the first to the second."""

    cards: tuple[int, int]
    messages: tuple[Message, ...]


def measure(library: Library, count: int) -> tuple[Link, ...]:
    """Every pair of `count` cards; empty below two."""
    return tuple(
        Link(pair, tuple(_messages(library, *pair))) for pair in combinations(range(count), 2)
    )


def figures(
    links: Iterable[Link], source: str, names: Mapping[int, str] | None = None
) -> list[dict[str, Any]]:
    """Every message as fields of an observed link probe; times in seconds. `names` are what the
    library's cards are called here, gpu0, gpu1, ... without it."""
    called = names or {}
    return [
        {
            "name": " to ".join(called.get(card, f"gpu{card}") for card in link.cards),
            "bytes": message.size_bytes,
            "direct_s": message.direct.median,
            "direct_least_s": message.direct.least,
            "host_s": message.host.median,
            "host_least_s": message.host.least,
            "source": source,
        }
        for link in links
        for message in link.messages
    ]


def _messages(library: Library, one: int, two: int) -> Iterator[Message]:
    for size in SIZES:
        source, target = library.on_card(one, size), library.on_card(two, size)
        memory = library.on_host(size)
        yield Message(
            size,
            _waits(lambda s=source, t=target: _directly(library, s, t, one, two)),  # type: ignore[misc]
            _waits(lambda s=source, m=memory, t=target: _staged(library, s, m, t, one, two)),  # type: ignore[misc]
        )


def _directly(library: Library, source: Any, target: Any, one: int, two: int) -> None:
    library.copy(target, source)
    library.wait(one)
    library.wait(two)


def _staged(library: Library, source: Any, memory: Any, target: Any, one: int, two: int) -> None:
    library.copy(memory, source)
    library.wait(one)
    library.copy(target, memory)
    library.wait(two)


def _waits(send: Callable[[], None]) -> Waits:
    for _ in range(WARM_UPS):
        send()
    times: list[float] = []
    end = time.monotonic() + LONGEST_S
    while len(times) < FEWEST_REPEATS or (len(times) < REPEATS and time.monotonic() < end):
        begin = time.perf_counter()
        send()
        times.append(time.perf_counter() - begin)
    return Waits(min(times), statistics.median(times), len(times))
