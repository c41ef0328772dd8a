"""A look at the engine beside a running cell, once a second: dead, or stopped."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import psutil

from benchspec.engines.base import Engine
from benchspec.load.driver import Stop

LOOK_S = 1.0
STOPPED_LOOKS = 3
"""A process that is stopped at this many looks in a row will not answer."""


class Watch:
    """While entered, ends the cell through `stop` when the engine, whose processes are `pids`,
    cannot finish it.

    `trouble` is then the reason.
    """

    def __init__(self, engine: Engine, pids: Sequence[int], stop: Stop) -> None:
        self.trouble: str | None = None
        self._engine = engine
        self._pids = pids
        self._stop = stop
        self._stopped_looks = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._ended.set()
        self._thread.join(timeout=5.0)

    def _run(self) -> None:
        while not self._ended.wait(LOOK_S):
            self.trouble = self._look()
            if self.trouble is not None:
                self._stop.request()
                self._stop.request()
                return

    def _look(self) -> str | None:
        if not self._engine.alive():
            return "the engine's process ended"
        stopped = [pid for pid in self._pids if _is_stopped(pid)]
        self._stopped_looks = self._stopped_looks + 1 if stopped else 0
        if self._stopped_looks >= STOPPED_LOOKS:
            return f"the engine hangs: its process {stopped[0]} is stopped (SIGSTOP)"
        return None


def _is_stopped(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_STOPPED)
    except psutil.Error:
        return False
