"""What a person sees of a run, on stderr: quality only, never a verdict before its end.

A terminal gets one live block, anything else one line per cell, `json` one object per line. The
load loop only stores its counters; drawing happens in a thread, at most four times a second.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any, Literal, Protocol

from benchspec.load.driver import Progress as Counters
from benchspec.run.plan import Plan, PlannedCell
from benchspec.run.plan_text import duration_text, step_words
from benchspec.store.records import CellKey, CellRecord

if TYPE_CHECKING:
    from rich.console import Group
    from rich.live import Live

Style = Literal["auto", "plain", "json"]

REFRESH_HZ = 4
FETCH_STEP = 0.1
"""Without a terminal a download is told of at every tenth of it."""


class Progress(Protocol):
    """What the run tells while it goes on."""

    def begin(self, plan: Plan, done: int) -> None:
        """The run starts; `done` cells are there already."""
        ...

    def say(self, text: str) -> None:
        """What happens between cells."""
        ...

    def fetched(self, name: str, done: int, total: int | None) -> None:
        """Bytes of a model that are here."""
        ...

    def cell(self, cell: PlannedCell) -> None:
        """A cell starts."""
        ...

    def count(self, counters: Counters) -> None:
        """Called from the load loop: must return at once."""
        ...

    def ended(self, record: CellRecord) -> None:
        """A cell ended, one way or another."""
        ...

    def close(self) -> None:
        """Leave the terminal as it was found."""
        ...


class _Pace:
    """How far a run is and how long it will take, from the cells that are done."""

    def __init__(self) -> None:
        self.total = 0
        self.number = 0
        self._began_s = time.monotonic()
        self._expected_s = 0.0
        self._first = 0

    def begin(self, plan: Plan, done: int) -> None:
        self.total = len(plan.cells)
        self.number = self._first = done
        self._expected_s = plan.estimate_s * (self.total - done) / max(1, self.total)
        self._began_s = time.monotonic()

    def left_s(self) -> float:
        spent_s = time.monotonic() - self._began_s
        measured = self.number - self._first
        if measured == 0:
            return max(0.0, self._expected_s - spent_s)
        return spent_s / measured * (self.total - self.number)


def _place(key: CellKey) -> str:
    """`four-slots C=8 n=1024 warm repeat 2`."""
    return " ".join([key.arm, *step_words(key), f"repeat {key.repeat}"])


def _cell_line(record: CellRecord) -> str:
    key = record.key
    ok = sum(request.ok for request in record.requests)
    wall_s = (record.ended_ns - record.started_ns) / 1e9
    line = f"{_place(key)}: {record.state}, {ok} ok"
    if ok < len(record.requests):
        line += f", {len(record.requests) - ok} failed"
    line += f", {wall_s:.2f} s"
    if record.quiet is not None and record.quiet.waited_s > 0:
        line += f", waited {record.quiet.waited_s:.1f} s for quiet"
    return line if record.reason is None else f"{line} ({record.reason})"


class PlainProgress:
    """One line per event, for files and pipes."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._pace = _Pace()
        self._told = 0.0

    def begin(self, plan: Plan, done: int) -> None:
        self._pace.begin(plan, done)

    def say(self, text: str) -> None:
        self._write(text)

    def _write(self, line: str) -> None:
        """A reader who went away (`| head`, `| tee` after Ctrl-C) does not end the run."""
        with suppress(BrokenPipeError):
            print(line, file=self._stream, flush=True)

    def fetched(self, name: str, done: int, total: int | None) -> None:
        if not total or (done < total and done / total < self._told + FETCH_STEP):
            return
        self._told = 0.0 if done >= total else done / total
        self.say(f"{name}: {done / 1e6:.0f} of {total / 1e6:.0f} MB")

    def cell(self, cell: PlannedCell) -> None:
        return

    def count(self, counters: Counters) -> None:
        return

    def ended(self, record: CellRecord) -> None:
        self._pace.number += 1
        left = duration_text(self._pace.left_s())
        self.say(f"[{self._pace.number}/{self._pace.total}] {_cell_line(record)}; {left} left")

    def close(self) -> None:
        return


class JsonProgress(PlainProgress):
    """One JSON object per event."""

    def say(self, text: str) -> None:
        self._emit({"event": "message", "text": text})

    def fetched(self, name: str, done: int, total: int | None) -> None:
        if total and done >= total:
            self._emit({"event": "fetched", "name": name, "bytes": done})

    def cell(self, cell: PlannedCell) -> None:
        self._emit({"event": "cell-started", **cell.key.model_dump(exclude_none=True)})

    def ended(self, record: CellRecord) -> None:
        self._pace.number += 1
        self._emit(
            {
                "event": "cell-ended",
                **record.key.model_dump(exclude_none=True),
                "state": record.state,
                "reason": record.reason,
                "ok": sum(request.ok for request in record.requests),
                "requests": len(record.requests),
                "wall_s": (record.ended_ns - record.started_ns) / 1e9,
                "cell": self._pace.number,
                "cells": self._pace.total,
                "left_s": round(self._pace.left_s(), 1),
            }
        )

    def _emit(self, event: dict[str, Any]) -> None:
        self._write(json.dumps(event, ensure_ascii=False))


class LiveProgress:
    """One block that is redrawn: finished cells above it, the running cell and the rest in it."""

    def __init__(self, stream: IO[str]) -> None:
        from rich.console import Console
        from rich.live import Live

        self._pace = _Pace()
        self._now = ""
        self._counters: Counters | None = None
        console = Console(file=stream, highlight=False)
        self._live: Live = Live(
            get_renderable=self._draw,
            console=console,
            refresh_per_second=REFRESH_HZ,
            transient=True,
        )
        self._live.start()

    def _draw(self) -> Group:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.text import Text

        counters = self._counters
        flight = ""
        if counters is not None:
            flight = f"  {counters.done} of {counters.sent} answered, {counters.elapsed_s:.1f} s"
            flight += f", {counters.failed} failed" if counters.failed else ""
        lines: list[Any] = [Text(self._now + flight, no_wrap=True, overflow="ellipsis")]
        if self._pace.total:
            left = duration_text(self._pace.left_s())
            rest = f" cell {self._pace.number} of {self._pace.total}, {left} left"
            room = self._live.console.width - len(rest) - 1
            lines += [
                # Rich puts what follows a bar on the bar's line.
                ProgressBar(self._pace.total, self._pace.number, width=max(1, min(40, room))),
                Text(rest, no_wrap=True, overflow="ellipsis"),
            ]
        return Group(*lines)

    def begin(self, plan: Plan, done: int) -> None:
        self._pace.begin(plan, done)

    def say(self, text: str) -> None:
        self._now, self._counters = text, None

    def fetched(self, name: str, done: int, total: int | None) -> None:
        whole = f" of {total / 1e6:.0f} MB" if total else " MB"
        self.say(f"{name}: {done / 1e6:.0f}{whole}")

    def cell(self, cell: PlannedCell) -> None:
        self.say(_place(cell.key))

    def count(self, counters: Counters) -> None:
        self._counters = counters

    def ended(self, record: CellRecord) -> None:
        from rich.text import Text

        self._pace.number += 1
        self._counters = None
        self._live.console.print(Text(_cell_line(record)))

    def close(self) -> None:
        self._live.stop()


def progress_for(
    style: Style, stream: IO[str], environ_get: Callable[[str], str | None]
) -> Progress:
    """Live on a terminal that is not `dumb` and not a CI job; decided by the stream, not by rich."""
    if style == "json":
        return JsonProgress(stream)
    plain = environ_get("CI") or environ_get("TERM") == "dumb" or not stream.isatty()
    return PlainProgress(stream) if style == "plain" or plain else LiveProgress(stream)
