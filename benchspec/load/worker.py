"""One of several measuring processes: does its part of a cell when it is told to (see workers.py).

    python -m benchspec.load.worker

Orders come as pickles on standard input, results go as pickles to standard output; both ends are
ours. It ends when its input does, hence also when the process that started it is killed.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import queue
import sys
import threading
from concurrent.futures import Future
from dataclasses import replace

from benchspec.load.cell import Cell, Stop
from benchspec.load.driver import collector_paused, new_loop, sockets
from benchspec.load.limits import allow_sockets
from benchspec.load.orders import Broke, Halt, Job, Order, Ready, Result
from benchspec.load.target import default_tls
from benchspec.load.timer import Timer
from benchspec.load.trace import Share


class _Orders(threading.Thread):
    """Reads orders while the loop works: jobs wait in `jobs`, the rest belongs to the current one."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self.stop = Stop()
        self.go: Future[int] = Future()

    def run(self) -> None:
        try:
            while True:
                self._take(pickle.load(sys.stdin.buffer))
        finally:  # without orders there is nothing to do
            os._exit(0)

    def _take(self, order: Order) -> None:
        if isinstance(order, Job):
            self.stop, self.go = Stop(), Future()
            self.jobs.put(order)
        elif isinstance(order, Halt):
            self.stop.request()
        elif self.go.set_running_or_notify_cancel():
            self.go.set_result(order.at_ns)


def _tell(result: Result) -> None:
    pickle.dump(result, sys.stdout.buffer)
    sys.stdout.buffer.flush()


async def _do(job: Job, orders: _Orders) -> Share:
    async def begin() -> int:
        _tell(Ready())
        at_ns = await asyncio.wrap_future(orders.go)
        timer = Timer()
        await timer.until(at_ns)
        timer.close()
        return at_ns

    cell = Cell(
        replace(job.target, tls=default_tls() if job.secure else None),
        job.work,
        job.load,
        origin_ns=job.origin_ns,
        limits=job.limits,
        on_progress=_tell,
        stop=orders.stop,
        begin=begin,
    )
    return await cell.run()


def _work(orders: _Orders) -> None:
    while True:
        job = orders.jobs.get()
        allow_sockets(sockets(job.load, job.work))
        with collector_paused(), asyncio.Runner(loop_factory=new_loop) as runner:
            share = runner.run(_do(job, orders))
        _tell(share)


def main() -> None:
    """Do jobs, one after another."""
    orders = _Orders()
    orders.start()
    try:
        _work(orders)
    except Exception as error:  # noqa: BLE001 - the starter says it in a sentence
        _tell(Broke(f"{type(error).__name__}: {error}"))


if __name__ == "__main__":
    main()
