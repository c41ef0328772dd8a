"""Ctrl-C and SIGTERM: the first asks for an orderly end, the second ends at once."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

from benchspec.load.driver import Stop


class Interrupted(Exception):
    """The run was asked to end, and what was in flight has been drained."""


class Interrupts:
    """While entered, the first signal raises `stop.level` and is polled; inside `at_once` it, and
    everywhere the second one, raises KeyboardInterrupt."""

    def __init__(self) -> None:
        self.stop = Stop()
        self._at_once = False
        self._previous: dict[int, object] = {}

    @property
    def requested(self) -> bool:
        return self.stop.level > 0

    def check(self) -> None:
        """Raises Interrupted when an end was asked for."""
        if self.requested:
            raise Interrupted

    def heed(self, stop: Stop) -> None:
        """Take over what a step with handlers of its own was asked."""
        self.stop.level = max(self.stop.level, stop.level)

    def __enter__(self) -> Interrupts:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._previous[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *exc: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.stop.request()
        if self._at_once or self.stop.level > 1:
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """For a step that waits for something else and keeps nothing: no need to drain it."""
        self._at_once = True
        try:
            if self.requested:
                raise KeyboardInterrupt
            yield
        finally:
            self._at_once = False
