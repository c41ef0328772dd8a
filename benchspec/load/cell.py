"""One cell while it runs: a wave, a constant number in flight, or a schedule of arrivals."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence, Sized
from contextlib import nullcontext
from dataclasses import dataclass
from http.client import OK
from itertools import islice
from typing import Literal

from benchspec.load.answer import read_answer
from benchspec.load.capture import Capture
from benchspec.load.clock import ReadStats, now_ns
from benchspec.load.connection import ConnectFailed, Connection, connect
from benchspec.load.conversation import Conversation
from benchspec.load.limits import Limits
from benchspec.load.target import Target, request_bytes
from benchspec.load.timer import Timer
from benchspec.load.trace import Sent, Share, Understood, understand

# How soon a request to stop is seen. Every look wakes an idle core, which at one stream costs as
# much as a token does.
_TICK_S = 0.25
_PROGRESS_NS = 250_000_000
# Listen queues are short (5 in Python's own HTTP server); more at once would wait for a SYN retry.
_CONNECTS_AT_ONCE = 16
# The kernel completes a connection before the server accepts it; that work is not the first wave's.
_SETTLE_S = 0.05
# An open loop connects this long before a request is due, so that it is not part of its latency.
_CONNECT_AHEAD_NS = 200_000_000
# Raw answers kept for reading after the cell; beyond this each is read as it ends.
_RETAINED_BYTES = 256 * 1024 * 1024
# So many answers of a cell can be compared with those of another arm: enough for a share of them,
# few enough for a journal.
_COMPARED = 64
# With replacement, so many failures in a row mean that the server is gone, not busy.
_PATIENCE = 20

Work = bytes | Conversation
"""The JSON body of a request, or turns that follow one another."""


@dataclass(frozen=True)
class Load:
    """How the requests of a cell are sent.

    `burst`: all at once, nothing after. `sustained`: `concurrency` in flight until the work runs
    out or `duration_s` has passed. `open`: work i at `schedule_ns[i]` after the start, however many
    are still in flight. `connections` are opened for each request, or kept for the next one: then
    a request is lost on a server that promises to keep a connection and closes it all the same, as
    llama.cpp's does after every streamed answer.
    """

    mode: Literal["burst", "sustained", "open"]
    concurrency: int | None = None
    duration_s: float | None = None
    schedule_ns: Sequence[int] = ()
    connections: Literal["fresh", "kept"] = "fresh"

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
        work: Iterable[Work],
        load: Load,
        *,
        origin_ns: int,
        limits: Limits,
        on_progress: Callable[[Progress], None] | None,
        stop: Stop,
        begin: Callable[[], Awaitable[int]] | None = None,
    ) -> None:
        self._target = target
        self._load = load
        self._origin_ns = origin_ns
        self._planned = sum(map(_turns, work)) if isinstance(work, Sized) else None
        self._source: Iterator[Work] = (
            request_bytes(target, one) if isinstance(one, bytes) else one for one in work
        )
        self._limits = limits
        self._on_progress = on_progress
        self._stop = stop
        self._when = begin
        self._reads = ReadStats()
        self._connections: set[Connection] = set()
        self._idle: list[Connection] = []
        self._sent: list[Sent] = []
        self._retained_bytes = 0
        self._done = self._failed = self._failed_in_a_row = 0
        self._patience: int | None = None
        self._issuing = True
        self._aborted = False
        self._reason: str | None = None
        self._tell_again_ns = 0
        self._started_ns = now_ns()
        self._cpu_started_s = time.thread_time()
        self._cpu_s = 0.0

    async def _begin(self) -> None:
        """Everything is ready: the cell starts, now or together with other processes."""
        self._started_ns = await self._when() if self._when else now_ns()
        self._cpu_started_s = time.thread_time()

    # -- closed loop ------------------------------------------------------------------------

    async def _closed_loop(self) -> None:
        replaced = self._load.mode == "sustained"
        firsts = list(islice(self._source, self._load.concurrency if replaced else None))
        gate = asyncio.Semaphore(_CONNECTS_AT_ONCE)
        opened = await asyncio.gather(*(self._open(gate) for _ in firsts))
        if replaced:
            self._patience = max(_PATIENCE, 2 * len(firsts))
        await asyncio.sleep(_SETTLE_S)
        await self._begin()
        async with asyncio.TaskGroup() as lanes:
            for connection, work in zip(opened, firsts, strict=True):
                lanes.create_task(self._lane(connection, work, self._started_ns, replaced=replaced))

    async def _lane(
        self,
        connection: Connection | str,
        work: Work | None,
        free_ns: int,
        *,
        replaced: bool = False,
        scheduled: bool = False,
    ) -> None:
        """One place in flight: a request, and the next one as soon as it has ended."""
        answers: list[str] = []
        while work is not None:
            turn = None if isinstance(work, bytes) else len(answers) + 1
            sent = self._issue(free_ns, turn, scheduled=scheduled)
            request = self._request(work, answers)
            sent.request = request if len(self._sent) <= _COMPARED else None
            free_ns, scheduled = await self._exchange(connection, request, sent), False
            work = self._after(work, answers, sent)
            self._retain(sent)
            if work is None and replaced and self._goes_on():
                work, answers = next(self._source, None), []
            if work is not None and (isinstance(connection, str) or not connection.usable):
                connection = await self._open()
                free_ns = now_ns()
                work = work if self._issuing else None
        self._leave(connection)

    def _request(self, work: Work, answers: Sequence[str]) -> bytes:
        return work if isinstance(work, bytes) else request_bytes(self._target, work.turn(answers))

    def _after(self, work: Work, answers: list[str], sent: Sent) -> Work | None:
        """What follows in the same place: the same conversation with one answer more, or nothing.

        After a failed turn there is nothing to carry on: the turns left are failed requests, too.
        """
        if isinstance(work, bytes) or not self._goes_on():
            return None
        answer = read_answer(sent.capture, self._limits.line_bytes)
        answers.append(answer.content)
        if answer.error is None:
            return work if len(answers) < len(work.prompts) else None
        for turn in range(len(answers) + 1, len(work.prompts) + 1):
            skipped = self._issue(now_ns(), turn)
            skipped.capture.failure = "not sent: an earlier turn of its conversation failed"
            self._done += 1
            self._failed += 1
        return None

    def _goes_on(self) -> bool:
        """Whether anything more may be sent."""
        elapsed_s, most_s = (now_ns() - self._started_ns) / 1e9, self._load.duration_s
        over = self._load.mode == "sustained" and most_s is not None and elapsed_s >= most_s
        return self._issuing and not over

    # -- open loop --------------------------------------------------------------------------

    async def _open_loop(self) -> None:
        self._patience = max(_PATIENCE, len(self._load.schedule_ns) // 10)
        await self._begin()
        self._started_ns += _CONNECT_AHEAD_NS
        timer = Timer()
        try:
            async with asyncio.TaskGroup() as arrivals:
                for offset_ns, work in zip(self._load.schedule_ns, self._source, strict=False):
                    due_ns = self._started_ns + offset_ns
                    await timer.until(due_ns - _CONNECT_AHEAD_NS)
                    arrivals.create_task(self._arrive(timer, due_ns, work))
        finally:
            timer.close()

    async def _arrive(self, timer: Timer, due_ns: int, work: Work) -> None:
        opening = asyncio.create_task(self._open())
        try:
            await timer.until(due_ns)
            if self._issuing:
                await self._lane(await opening, work, due_ns, scheduled=True)
        finally:
            opening.cancel()

    # -- one request ------------------------------------------------------------------------

    async def _open(self, gate: asyncio.Semaphore | None = None) -> Connection | str:
        """A connection that was left, a new one, or the sentence that says why there is none."""
        while self._idle:
            if (left := self._idle.pop()).usable:
                return left
            self._connections.discard(left)
        try:
            async with gate or nullcontext():
                connection = await connect(self._target, self._limits, self._reads)
        except ConnectFailed as error:
            return str(error)
        self._connections.add(connection)
        return connection

    def _leave(self, connection: Connection | str) -> None:
        """No more use for a connection here; another request may have."""
        if isinstance(connection, Connection):
            self._idle.append(connection)

    def _issue(self, intended_ns: int, turn: int | None, *, scheduled: bool = False) -> Sent:
        sent = Sent(intended_ns, Capture(), scheduled, turn)
        self._sent.append(sent)
        return sent

    async def _exchange(self, connection: Connection | str, request: bytes, sent: Sent) -> int:
        """Send and wait for the end; the moment it ended."""
        capture = sent.capture
        if isinstance(connection, str):
            capture.failure, capture.end_ns = connection, now_ns()
        else:
            await connection.start(request, capture)
            if self._load.connections == "fresh" or not connection.usable:
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

    def _retain(self, sent: Sent) -> None:
        """Keep an answer to read it after the cell, while there is room."""
        size = len(sent.capture.body)
        if self._retained_bytes + size > _RETAINED_BYTES:
            sent.understood = self._understand(sent)
            sent.capture.body, sent.request = bytearray(), None
        else:
            self._retained_bytes += size

    # -- stopping, watching, the result -----------------------------------------------------

    async def run(self) -> Share:
        """Send everything, until its end or until asked to stop and drained; what was done."""
        try:
            await self._run()
        finally:
            self._close()
        return self._share()

    async def _run(self) -> None:
        work = self._open_loop() if self._load.mode == "open" else self._closed_loop()
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
            self._cpu_s = time.thread_time() - self._cpu_started_s
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

    def _close(self) -> None:
        while self._connections:
            self._connections.pop().close()

    def _understand(self, sent: Sent) -> Understood:
        return understand(sent, self._origin_ns, self._limits.line_bytes)

    def _share(self) -> Share:
        """Read every capture that has not been read yet, and account for the work."""
        parts = [sent.understood or self._understand(sent) for sent in self._sent]
        ended_ns = max((sent.capture.end_ns or 0 for sent in self._sent), default=now_ns())
        return Share(
            parts,
            self._reads,
            self._cpu_s,
            min(self._started_ns, ended_ns) - self._origin_ns,
            ended_ns - self._origin_ns,
            self._aborted,
            self._reason,
        )


def _turns(work: Work) -> int:
    return 1 if isinstance(work, bytes) else len(work.prompts)
