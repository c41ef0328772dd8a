"""Memory bandwidth of this machine, by size of the buffer: reading, and copying.

The buffer is written before it is read, by the threads that read it: pages that were never written
are all one page of zeros and read twice as fast, and memory lies near the processor that writes it
first. Its size is doubled until two sizes beyond the caches agree, because a virtual machine's cache
is often larger than it says. Reading is numpy's maximum of 64-bit integers, which asks less of a
processor than of its memory. Copying n bytes counts as n read and n written; the lines that the
processor fetches before it writes them are left out, as STREAM does.
"""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
from numpy.typing import NDArray

MIB, GIB = 2**20, 2**30

SMALLEST_BYTES = 8 * MIB
CACHES = 4
"""Beyond so many times the last-level caches two sizes that agree count (STREAM's rule)."""
UNKNOWN_CACHE_BYTES = 32 * MIB
AGREE = 0.05
"""Relative difference below which two sizes agree."""
REPEATS = 10
"""Timed repeats of a size, after one that is not counted; fewer once the time is over."""
FEWEST_REPEATS = 3
SHORTEST_S = 0.015
"""One repeat takes at least as long: starting and ending a thread costs about 0.1 ms."""
MEMORY_SHARE = 0.25
"""Of the memory that is free, at most this much is used."""

Buffer = NDArray[np.int64]
Task = tuple[Callable[[Buffer], None], int]
"""What is done with a buffer, and how many bytes that moves."""
Span = tuple[float, float]


@dataclass(frozen=True)
class Rates:
    """Bytes per second over the repeats of one size."""

    best: float
    median: float


@dataclass(frozen=True)
class Point:
    """One size of the buffer, all threads together."""

    size_bytes: int
    read: Rates
    copy: Rates


@dataclass(frozen=True)
class HostMemory:
    """`settled` is True when the last two sizes agree and are larger than the caches; else the last
    figure may still hold some cache. `load_before` is the load average of a minute, `cores` what it
    stands against."""

    threads: int
    cores: int
    cache_bytes: int | None
    load_before: float
    settled: bool
    points: tuple[Point, ...]

    @property
    def quiet(self) -> bool:
        """False when others kept all cores busy: then the figures are theirs as well."""
        return self.load_before <= self.cores


def measure(
    *, size_max_bytes: int = GIB, threads: int | None = None, seconds: float = 12.0
) -> HostMemory:
    """Probe with ever larger buffers, at most `size_max_bytes` (and MEMORY_SHARE of what is free).

    `threads` are as many as there are physical cores unless given. Once `seconds` are over no
    larger size is begun, and the one at hand is cut short.
    """
    count = threads or _threads()
    most = max(MIB, min(size_max_bytes, int(free_bytes() * MEMORY_SHARE)))
    cache, load = last_level_caches(), os.getloadavg()[0]
    points: list[Point] = []
    deadline = time.monotonic() + seconds
    for size in _sizes(most):
        points.append(_point(size, count, deadline))
        if settled(points, cache) or time.monotonic() > deadline:
            break
    return HostMemory(
        threads=count,
        cores=os.cpu_count() or 1,
        cache_bytes=cache,
        load_before=load,
        settled=settled(points, cache),
        points=tuple(points),
    )


def _threads() -> int:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(psutil.cpu_count(logical=False) or 1, usable or 1)


def free_bytes(root: Path = Path("/")) -> int:
    """Memory that can be had without harm: what is free, or what a container's limit leaves."""
    free = int(psutil.virtual_memory().available)
    try:
        limit = int((root / "sys/fs/cgroup/memory.max").read_text())
        used = int((root / "sys/fs/cgroup/memory.current").read_text())
    except (OSError, ValueError):
        return free
    return max(0, min(free, limit - used))


def _sizes(most: int) -> Iterator[int]:
    """Doubling from SMALLEST_BYTES; `most` itself where that is less."""
    size = min(SMALLEST_BYTES, most)
    while 0 < size <= most:
        yield size
        size *= 2


def settled(points: Sequence[Point], cache_bytes: int | None) -> bool:
    """True when the last two sizes read equally fast, both beyond the caches."""
    if len(points) < 2 or points[-2].size_bytes < CACHES * (cache_bytes or UNKNOWN_CACHE_BYTES):
        return False
    last, before = points[-1].read.best, points[-2].read.best
    return abs(last / before - 1) <= AGREE


def _point(size: int, threads: int, deadline: float) -> Point:
    words = max(2, size // 8 // threads)
    read, copy = _Crew(words, threads, deadline).rates(
        [
            (_read, words * 8),
            (_copy, words // 2 * 16),
        ]
    )
    return Point(size, read, copy)


def _read(buffer: Buffer) -> None:
    buffer.max()


def _copy(buffer: Buffer) -> None:
    half = len(buffer) // 2
    np.copyto(buffer[half : 2 * half], buffer[:half])


class _Crew:
    """Threads that do the same at the same time, each with a buffer of its own."""

    def __init__(self, words: int, threads: int, deadline: float) -> None:
        self._words = words
        self._deadline = deadline
        self._spans: list[list[Span]] = [[] for _ in range(threads)]
        self._passes: list[int] = []
        self._over = False
        self._gate = threading.Barrier(threads, action=self._between)

    def rates(self, tasks: Sequence[Task]) -> list[Rates]:
        """Of each task, all threads together; the tasks take turns."""
        self._passes = [1] * len(tasks)
        workers = [threading.Thread(target=self._work, args=(tasks, mine)) for mine in self._spans]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return [self._summary(which, tasks) for which in range(len(tasks))]

    def _work(self, tasks: Sequence[Task], mine: list[Span]) -> None:
        buffer = np.full(self._words, 1, np.int64)
        for repeat in range((1 + REPEATS) * len(tasks)):
            which = repeat % len(tasks)
            self._gate.wait()
            if self._over:
                return
            begin = time.perf_counter()
            for _ in range(self._passes[which]):
                tasks[which][0](buffer)
            mine.append((begin, time.perf_counter()))

    def _between(self) -> None:
        """Once between repeats: how often to go through the buffer, and whether it is enough."""
        done, tasks = len(self._spans[0]), len(self._passes)
        if done == tasks:
            for which in range(tasks):
                slowest = max(end - begin for begin, end in (s[which] for s in self._spans))
                self._passes[which] = max(1, round(SHORTEST_S / max(slowest, 1e-6)))
        late = time.monotonic() > self._deadline
        self._over = late and done >= (1 + FEWEST_REPEATS) * tasks and done % tasks == 0

    def _summary(self, which: int, tasks: Sequence[Task]) -> Rates:
        """From the moment the first thread began until the last ended; the first repeat, which
        has another number of passes and cold pages, is left out."""
        moved = self._passes[which] * tasks[which][1] * len(self._spans)
        rates = []
        for repeat in range(which + len(tasks), len(self._spans[0]), len(tasks)):
            begin = min(mine[repeat][0] for mine in self._spans)
            end = max(mine[repeat][1] for mine in self._spans)
            rates.append(moved / (end - begin))
        return Rates(best=max(rates), median=statistics.median(rates))


def last_level_caches(root: Path = Path("/")) -> int | None:
    """Bytes of all last-level caches, as the system states them; None where it does not."""
    levels: dict[int, dict[str, int]] = {}
    for index in (root / "sys/devices/system/cpu").glob("cpu[0-9]*/cache/index*"):
        try:
            level = int((index / "level").read_text())
            shared = (index / "shared_cpu_list").read_text().strip()
            size = (index / "size").read_text().strip()
            levels.setdefault(level, {})[shared] = int(size.removesuffix("K")) * 1024
        except (OSError, ValueError):
            continue
    return sum(levels[max(levels)].values()) if levels else None
