"""Source `dmon`: starts `nvidia-smi dmon` and reads what it prints, once a second.

For machines where the program is there and NVML's library is not reachable from here. What NVML
counts between two readings, dmon does not see: see `dmon_log.PCIE_WINDOW_S`.
"""

from __future__ import annotations

import os
import selectors
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import psutil

from benchspec.spec.models import Device
from benchspec.store.tracks import CounterRecord
from benchspec.telemetry.base import Clock, Families, Reading, unavailable
from benchspec.telemetry.devices import identified
from benchspec.telemetry.dmon_log import COLUMNS, SILENT, Parser, Row, counter_of

COMMAND = ("nvidia-smi", "dmon", "-s", "pucvmt", "-d", "1", "-o", "T")
"""Power and temperature, utilisation, clocks, violations, memory, PCIe; every second."""

NAMES = tuple(dict.fromkeys(column.name for column in COLUMNS.values()))
OPEN_S = 4.0
"""How long the first lines are waited for: one per card and second."""
READ_BYTES = 1 << 16
STOP_S = 2.0


@dataclass(frozen=True)
class _Card:
    """dmon says no more of a card than its index."""

    index: int
    name: str | None = None
    pci_id: str | None = None


class Dmon:
    """The cards that the spec's `devices` are, in dmon's order, or all that it lists."""

    name = "dmon"

    def __init__(self, families: Families, devices: Sequence[Device] = ()) -> None:
        self._families = families
        self._devices = devices
        self._process: subprocess.Popen[bytes] | None = None
        self._child_ns = 0
        self._parser = Parser()
        self._rest = b""
        self._said = ""
        self._counters: dict[tuple[int, str], int] = {}

    def open(self, clock: Clock) -> Sequence[CounterRecord]:
        program = shutil.which(COMMAND[0])
        if program is None:
            return self._unavailable("nvidia-smi is not installed here")
        try:
            self._process = subprocess.Popen(
                [program, *COMMAND[1:]],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        except OSError as error:
            return self._unavailable(f"nvidia-smi does not start: {error.strerror}")
        rows = self._first_rows()
        if not rows:
            silent = "nothing, and ends" if self._ended() else f"nothing in {OPEN_S:g} s"
            said = self._said or silent
            return self._unavailable(f"nvidia-smi dmon says: {said}")
        known = identified(self._devices, [_Card(gpu) for gpu in sorted({r.gpu for r in rows})])
        return list(self._records(rows, known))

    def _unavailable(self, reason: str) -> list[CounterRecord]:
        return unavailable(self.name, NAMES, self._families, reason)

    def _first_rows(self) -> list[Row]:
        """Rows until a card comes a second time, so that all cards have been seen."""
        deadline = time.monotonic() + OPEN_S
        rows: list[Row] = []
        while time.monotonic() < deadline and len({row.gpu for row in rows}) == len(rows):
            new = list(self._new_rows(deadline - time.monotonic()))
            if not new and self._ended():
                break
            rows += new
        return rows

    def _records(self, rows: Sequence[Row], known: dict[int, str]) -> Iterator[CounterRecord]:
        columns = {gpu: row.values for row in rows if (gpu := row.gpu) in known}
        number = 0
        for gpu, values in sorted(columns.items()):
            for printed, value in values.items():
                name = COLUMNS[printed].name
                if not self._families.want(name):
                    continue
                self._counters[gpu, printed] = number
                number += 1
                judged = self._families.judge(name, of_device=True)
                silent = SILENT if value is None else None
                yield counter_of(printed, known[gpu], judged=judged, not_measured=silent)

    def interval_s(self, asked_s: float) -> float:
        return max(asked_s, 0.2)

    def sample(self, clock: Clock) -> Iterator[Reading]:
        """Every line that has come in; its time is that of its arrival."""
        rows = list(self._new_rows(0.0)) if self._counters else []
        at_ns = clock()
        for row in rows:
            for printed, value in row.values.items():
                number = self._counters.get((row.gpu, printed))
                if number is not None and value is not None:
                    yield Reading(number, at_ns, value)
        if self._counters and self._ended():
            why = f"nvidia-smi dmon ended: {self._said or 'without a word'}"
            yield from (Reading(number, at_ns, None, why) for number in self._counters.values())
            self._counters = {}

    def _new_rows(self, wait_s: float) -> Iterator[Row]:
        """Rows of what can be read now, or within `wait_s`; other text is kept as what it said."""
        assert self._process is not None
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            if not selector.select(max(0.0, wait_s)):
                return
        data = os.read(self._process.stdout.fileno(), READ_BYTES)
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._rest = self._rest[-READ_BYTES:]
        for line in lines:
            text = line.decode("utf-8", "replace")
            row = self._parser.row(text)
            if row is not None:
                yield row
            elif text.strip() and not text.lstrip().startswith("#") and not self._said:
                self._said = " ".join(text.split())[:200]

    def _ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def child_ns(self) -> int:
        """Processor time of nvidia-smi so far, which is as much a cost of sampling as a thread's;
        once it has ended, what was last known."""
        if self._process is not None and not self._ended():
            try:
                times = psutil.Process(self._process.pid).cpu_times()
            except psutil.Error:
                return self._child_ns
            self._child_ns = max(self._child_ns, round((times.user + times.system) * 1e9))
        return self._child_ns

    def close(self) -> None:
        process = self._process
        if process is None:
            return
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
