"""The load driver's entry points: `drive` in a running loop, `run_cell` without one."""

from __future__ import annotations

import asyncio
import gc
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager

from benchspec.load.cell import Cell, Load, Progress, Stop, Work
from benchspec.load.limits import Limits, allow_sockets
from benchspec.load.target import Target
from benchspec.load.trace import CellTrace, assemble

__all__ = ["CellTrace", "Limits", "Load", "Progress", "Stop", "Work", "drive", "run_cell"]


async def drive(
    target: Target,
    work: Iterable[Work],
    load: Load,
    *,
    origin_ns: int,
    limits: Limits | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    stop: Stop | None = None,
    ceiling_events_s: float | None = None,
) -> CellTrace:
    """Send the requests of one cell and return what came back; failed ones are in it, too.

    `work` are JSON bodies (`target.request_body`) or conversations, taken one by one as they are
    needed.
    Connections are opened before the first dispatch, and in an open loop before each request is
    due, so a handshake is in no latency. Latency counts from `sent_ns`, in an open loop from
    `scheduled_ns`. `on_progress` is called in the loop, at most four times a second, and must
    return at once. All times in the result are ns of CLOCK_MONOTONIC from `origin_ns`.
    """
    cell = Cell(
        target,
        work,
        load,
        origin_ns=origin_ns,
        limits=limits or Limits(),
        on_progress=on_progress,
        stop=stop or Stop(),
    )
    return assemble([await cell.run()], ceiling_events_s)


def run_cell(
    target: Target,
    work: Iterable[Work],
    load: Load,
    *,
    origin_ns: int,
    limits: Limits | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    stop: Stop | None = None,
    ceiling_events_s: float | None = None,
) -> CellTrace:
    """`drive` in a loop of its own (uvloop where it is installed), for callers without one.

    In the main thread the first Ctrl-C (or SIGTERM) stops issuing and waits for what is in flight,
    at most `limits.drain_s`; the second ends at once. Both give a trace whose state is `aborted`.
    """
    stop = stop or Stop()
    allow_sockets(sockets(load, work))
    with signals_to(stop), collector_paused(), asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(
            drive(
                target,
                work,
                load,
                origin_ns=origin_ns,
                limits=limits,
                on_progress=on_progress,
                stop=stop,
                ceiling_events_s=ceiling_events_s,
            )
        )


def new_loop() -> asyncio.AbstractEventLoop:
    """uvloop's where it is installed: a fifth of asyncio's processor time per event."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


@contextmanager
def signals_to(stop: Stop) -> Iterator[None]:
    """Interrupts become requests to stop; the handlers found are put back."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {
        number: signal.signal(number, lambda *_: stop.request())
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


@contextmanager
def collector_paused() -> Iterator[None]:
    """A collection of a large heap stops the loop for tens of milliseconds; have it before."""
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def sockets(load: Load, work: Iterable[Work]) -> int:
    """The most connections that the cell can have open at a time."""
    if load.mode == "sustained":
        return load.concurrency or 1
    return len(work) if isinstance(work, Sized) else len(load.schedule_ns)
