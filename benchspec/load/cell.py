"""One cell while it runs: a wave, a constant number in flight, or a schedule of arrivals."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import nullcontext
from dataclasses import dataclass
from http.client import OK
from itertools import islice
from typing import Literal

from benchspec.load.capture import Capture
from benchspec.load.clock import ReadStats, now_ns
from benchspec.load.connection import ConnectFailed, Connection, connect
from benchspec.load.limits import Limits
from benchspec.load.target import Target, request_bytes
from benchspec.load.timer import Timer
from benchspec.load.trace import CellTrace, Sent, Understood, client_record, lay_out, understand
from benchspec.store.records import RequestRecord

_TICK_S = 0.05
_PROGRESS_NS = 250_000_000
# Listen queues are short (5 in Python's own HTTP server); more at once would wait for a SYN retry.
_CONNECTS_AT_ONCE = 16
# The kernel completes a connection before the server accepts it; that work is not the first wave's.
_SETTLE_S = 0.05
# An open loop connects this long before a request is due, so that it is not part of its latency.
_CONNECT_AHEAD_NS = 200_000_000
# Raw answers kept for reading after the cell; beyond this each is read as it ends.
_RETAINED_BYTES = 256 * 1024 * 1024


# With replacement, so many failures in a row mean that the server is gone, not busy.
_PATIENCE = 20


@dataclass(frozen=True)
class Load:
    """How the requests of a cell are sent.

    `burst`: one per body, all at once, nothing after. `sustained`: `concurrency` in flight until
    the bodies run out or `duration_s` has passed. `open`: body i at `schedule_ns[i]` after the
    start, however many are still in flight.
    """

    mode: Literal["burst", "sustained", "open"]
    concurrency: int | None = None
    duration_s: float | None = None
    schedule_ns: Sequence[int] = ()

    def __post_init__(self) -> None:
        if self.mode == "sustained" and not self.concurrency:
            raise ValueError("a sustained load needs a concurrency")


@dataclass(frozen=True)
class Progress:
    """Plain counters of a running cell. `planned` is None when a duration ends it."""

    planned: int | None
    sent: int
    done: int
    failed: int
    elapsed_s: float


class Stop:
    """Asks a cell to end: once to drain, twice to end at once. Safe from threads and signals."""

    def __init__(self) -> None:
        self.level = 0

    def request(self) -> None:
        self.level = min(2, self.level + 1)


class Cell:
    """The state of one cell while it runs; see `driver.drive`."""

    def __init__(
        self,
        target: Target,
        bodies: Iterable[bytes],
        *,
        origin_ns: int,
        limits: Limits,
        on_progress: Callable[[Progress], None] | None,
        stop: Stop,
    ) -> None:
        self._target = target
        self._origin_ns = origin_ns
        self._planned = len(bodies) if isinstance(bodies, Sized) else None
        self._source: Iterator[bytes] = (request_bytes(target, body) for body in bodies)
        self._limits = limits
        self._on_progress = on_progress
        self._stop = stop
        self._reads = ReadStats()
        self._connections: set[Connection] = set()
        self._sent: list[Sent] = []
        self._read_early: dict[int, Understood] = {}
        self._retained_bytes = 0
        self._done = self._failed = self._failed_in_a_row = 0
        self._patience: int | None = None
        self._one_each = False
        self._duration_s: float | None = None
        self._issuing = True
        self._aborted = False
        self._reason: str | None = None
        self._tell_again_ns = 0
        self._begin()

    def _begin(self) -> None:
        self._started_ns = now_ns()
        self._cpu_started_s = time.process_time()
        self._cpu_s = 0.0

    # -- closed loop ------------------------------------------------------------------------

    async def _closed_loop(self, load: Load) -> None:
        self._one_each = load.mode == "burst"
        self._duration_s = load.duration_s
        firsts = list(self._source if self._one_each else islice(self._source, load.concurrency))
        gate = asyncio.Semaphore(_CONNECTS_AT_ONCE)
        opened = await asyncio.gather(*(self._open(gate) for _ in firsts))
        if not self._one_each:
            self._patience = max(_PATIENCE, 2 * len(firsts))
        await asyncio.sleep(_SETTLE_S)
        self._begin()
        async with asyncio.TaskGroup() as lanes:
            for connection, request in zip(opened, firsts, strict=True):
                lanes.create_task(self._lane(connection, request))

    async def _lane(self, connection: Connection | str, request: bytes | None) -> None:
        """One place in flight: a request, and the next one as soon as it has ended."""
        free_ns = self._started_ns
        while request is not None:
            free_ns = await self._exchange(connection, request, self._issue(free_ns))
            request = None if self._one_each else self._next()
            if request is not None:
                # A new one each time: llama.cpp promises to keep a connection and then closes it
                # after every streamed answer, so that a second request on it would be lost.
                connection = await self._open()
                free_ns = now_ns()
                request = request if self._issuing else None

    def _next(self) -> bytes | None:
        elapsed_s = (now_ns() - self._started_ns) / 1e9
        if not self._issuing or (self._duration_s is not None and elapsed_s >= self._duration_s):
            return None
        return next(self._source, None)

    # -- open loop --------------------------------------------------------------------------

    async def _open_loop(self, load: Load) -> None:
        self._patience = max(_PATIENCE, len(load.schedule_ns) // 10)
        self._begin()
        self._started_ns += _CONNECT_AHEAD_NS
        timer = Timer()
        try:
            async with asyncio.TaskGroup() as arrivals:
                for offset_ns, request in zip(load.schedule_ns, self._source, strict=False):
                    due_ns = self._started_ns + offset_ns
                    await timer.until(due_ns - _CONNECT_AHEAD_NS)
                    arrivals.create_task(self._arrive(timer, due_ns, request))
        finally:
            timer.close()

    async def _arrive(self, timer: Timer, due_ns: int, request: bytes) -> None:
        opening = asyncio.create_task(self._open())
        try:
            await timer.until(due_ns)
            if not self._issuing:
                return
            sent = self._issue(due_ns, scheduled=True)
            await self._exchange(await opening, request, sent)
        finally:
            opening.cancel()

    # -- one request ------------------------------------------------------------------------

    async def _open(self, gate: asyncio.Semaphore | None = None) -> Connection | str:
        """A connection, or the sentence that says why there is none."""
        try:
            async with gate or nullcontext():
                connection = await connect(self._target, self._limits, self._reads)
        except ConnectFailed as error:
            return str(error)
        self._connections.add(connection)
        return connection

    def _issue(self, intended_ns: int, *, scheduled: bool = False) -> Sent:
        sent = Sent(len(self._sent), intended_ns, Capture(), scheduled)
        self._sent.append(sent)
        return sent

    async def _exchange(self, connection: Connection | str, request: bytes, sent: Sent) -> int:
        """Send and wait for the end; the moment it ended."""
        capture = sent.capture
        if isinstance(connection, str):
            capture.failure, capture.end_ns = connection, now_ns()
        else:
            await connection.start(request, capture)
            if not self._one_each or not connection.usable:
                connection.close()
                self._connections.discard(connection)
        self._count(sent)
        return capture.end_ns or now_ns()

    def _count(self, sent: Sent) -> None:
        capture = sent.capture
        self._done += 1
        if capture.failure is None and capture.status == OK:
            self._failed_in_a_row = 0
        else:
            self._failed += 1
            self._failed_in_a_row += 1
        if self._patience is not None and self._failed_in_a_row >= self._patience:
            self._cease(f"{self._failed_in_a_row} requests failed one after another")
        self._retained_bytes += len(capture.body)
        if self._retained_bytes > _RETAINED_BYTES:
            self._retained_bytes -= len(capture.body)
            self._read_early[sent.index] = self._understand(sent)
            capture.body = bytearray()

    # -- stopping, watching, the result -----------------------------------------------------

    async def run(self, load: Load) -> None:
        """Send everything, until its end or until asked to stop and drained."""
        work = self._open_loop(load) if load.mode == "open" else self._closed_loop(load)
        task = asyncio.create_task(work)
        drained_by_ns: float | None = None
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=_TICK_S)
                self._tell()
                if self._stop.level and drained_by_ns is None:
                    self._aborted = True
                    self._cease("it was interrupted")
                    drained_by_ns = now_ns() + self._limits.drain_s * 1e9
                if not self._issuing and self._done == len(self._sent):
                    break
                if drained_by_ns and (self._stop.level > 1 or now_ns() > drained_by_ns):
                    break
        finally:
            self._cpu_s = time.process_time() - self._cpu_started_s
            await self._end(task)

    async def _end(self, task: asyncio.Task[None]) -> None:
        if task.done():
            task.result()
            return
        for connection in self._connections:
            connection.abort("interrupted before it was finished")
        task.cancel()
        await asyncio.wait({task})

    def _cease(self, reason: str) -> None:
        """Issue nothing more; what is in flight goes on."""
        self._issuing = False
        self._reason = self._reason or reason

    def _tell(self) -> None:
        now = now_ns()
        if self._on_progress is None or now < self._tell_again_ns:
            return
        self._tell_again_ns = now + _PROGRESS_NS
        elapsed_s = (now - self._started_ns) / 1e9
        self._on_progress(
            Progress(self._planned, len(self._sent), self._done, self._failed, elapsed_s)
        )

    def close(self) -> None:
        """Close every connection; idempotent."""
        while self._connections:
            self._connections.pop().close()

    def _understand(self, sent: Sent) -> Understood:
        return understand(sent, self._origin_ns, self._limits.line_bytes)

    def trace(self, ceiling_events_s: float | None) -> CellTrace:
        """Read every capture that has not been read yet, and account for the client."""
        parts = [self._read_early.get(sent.index) or self._understand(sent) for sent in self._sent]
        requests, samples = lay_out(parts)
        ended_ns = max((sent.capture.end_ns or 0 for sent in self._sent), default=now_ns())
        started_ns = min(self._started_ns, ended_ns)
        client = client_record(
            self._reads,
            self._sent,
            parts,
            cpu_s=self._cpu_s,
            wall_s=(ended_ns - started_ns) / 1e9,
            ceiling_events_s=ceiling_events_s,
        )
        state, reason = self._verdict(requests)
        return CellTrace(
            requests,
            samples,
            client,
            started_ns - self._origin_ns,
            ended_ns - self._origin_ns,
            state,
            reason,
        )

    def _verdict(
        self, requests: Sequence[RequestRecord]
    ) -> tuple[Literal["done", "aborted", "failed"], str | None]:
        if self._aborted:
            return "aborted", self._reason
        if self._reason is None and any(request.ok for request in requests):
            return "done", None
        errors = (request.error for request in requests if request.error)
        return "failed", self._reason or next(errors, "there was nothing to send")
