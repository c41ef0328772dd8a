"""Waking up at a moment, finer than the milliseconds that event loops count in."""

from __future__ import annotations

import asyncio
import ctypes
import heapq
import itertools
import os
import sys
from collections.abc import Callable

from benchspec.load import clock

_CLOCK_MONOTONIC = 1
_TFD_TIMER_ABSTIME = 1
_TFD_NONBLOCK_CLOEXEC = os.O_NONBLOCK | os.O_CLOEXEC if hasattr(os, "O_CLOEXEC") else 0


class _Itimerspec(ctypes.Structure):
    _fields_ = (
        ("interval_s", ctypes.c_long),
        ("interval_ns", ctypes.c_long),
        ("value_s", ctypes.c_long),
        ("value_ns", ctypes.c_long),
    )


class Timer:
    """Calls back at absolute CLOCK_MONOTONIC moments, never early.

    On Linux one timerfd serves all moments (late by tens of microseconds on an idle loop);
    elsewhere `loop.call_at`, whose resolution is a millisecond. (`os.timerfd_create` needs
    Python 3.13, hence ctypes.)
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._heap: list[tuple[int, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._armed_ns: int | None = None
        self._fd = -1
        if sys.platform == "linux":
            self._libc = ctypes.CDLL(None, use_errno=True)
            self._fd = self._libc.timerfd_create(_CLOCK_MONOTONIC, _TFD_NONBLOCK_CLOEXEC)
        if self._fd >= 0:
            self._loop.add_reader(self._fd, self._on_expired)

    def call_at(self, when_ns: int, callback: Callable[[], None]) -> None:
        """Call `callback` from the loop at `when_ns`, or as soon as possible if that has passed."""
        heapq.heappush(self._heap, (when_ns, next(self._order), callback))
        if self._armed_ns is None or when_ns < self._armed_ns:
            self._arm()

    async def until(self, when_ns: int) -> None:
        """Sleep until `when_ns`."""
        woken: asyncio.Future[None] = self._loop.create_future()

        def wake() -> None:
            if not woken.done():
                woken.set_result(None)

        self.call_at(when_ns, wake)
        await woken

    def close(self) -> None:
        """Forget what is pending and release the descriptor."""
        self._heap.clear()
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1

    def _on_expired(self) -> None:
        try:
            os.read(self._fd, 8)
        except BlockingIOError:
            return
        self._run_due()

    def _run_due(self) -> None:
        self._armed_ns = None
        while self._heap and self._heap[0][0] <= clock.now_ns():
            heapq.heappop(self._heap)[2]()
        if self._heap:
            self._arm()

    def _arm(self) -> None:
        self._armed_ns = when_ns = self._heap[0][0]
        if self._fd < 0:
            left_s = max(0.0, (when_ns - clock.now_ns()) / 1e9)
            self._loop.call_later(left_s, self._run_due)
            return
        seconds, nanoseconds = divmod(max(1, when_ns), 1_000_000_000)
        spec = _Itimerspec(0, 0, seconds, nanoseconds)
        self._libc.timerfd_settime(self._fd, _TFD_TIMER_ABSTIME, ctypes.byref(spec), None)
