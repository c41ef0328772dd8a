"""Samples all sources beside the measurement, on the run's clock, and cuts out what a cell needs.

Every source has a thread of its own: an engine's endpoint and some drivers block, and must not
delay the others. The threads' own processor time is a counter like any other.
"""

from __future__ import annotations

import math
import threading
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from benchspec.store.tracks import CounterRecord, Raw, Track
from benchspec.telemetry.base import Families, Reading, Source, WithChild, absent

OWN = "sampler"
"""Source name of what the sampling itself costs."""

PATIENCE_S = 5.0
"""How long the end of a block of cells waits for a source that does not answer."""


@dataclass
class _Log:
    """What was read of one counter so far; `trouble` is when and why it first failed."""

    counter: CounterRecord
    at_ns: list[int] = field(default_factory=list)
    values: list[Raw] = field(default_factory=list)
    trouble: tuple[int, str] | None = None

    def add(self, at_ns: int, value: Raw, trouble: str | None = None) -> None:
        """Keep one reading; one that is not newer than the last is a repetition."""
        if self.at_ns and at_ns <= self.at_ns[-1]:
            return
        self.at_ns.append(at_ns)
        self.values.append(value)
        if value is None and self.trouble is None:
            self.trouble = (at_ns, trouble or "the reading failed")

    def cut(self, begin_ns: int, end_ns: int) -> Track:
        first, last = bisect_left(self.at_ns, begin_ns), bisect_right(self.at_ns, end_ns)
        values = self.values[first:last]
        known = self.trouble is not None and self.trouble[0] <= end_ns
        return Track(
            counter=self.counter,
            at_ns=self.at_ns[first:last],
            values=values,
            trouble=self.trouble[1]
            if self.trouble and known and (not values or None in values)
            else None,
        )

    def forget(self, before_ns: int) -> None:
        count = bisect_left(self.at_ns, before_ns)
        del self.at_ns[:count], self.values[:count]


class Sampler:
    """Use as a context manager; `cut` and `forget` may be called at any time in between.

    Without sources it has no thread and no tracks.
    """

    def __init__(
        self, sources: Sequence[Source], families: Families, *, origin_ns: int, interval_s: float
    ) -> None:
        self._sources = sources
        self._families = families
        self._origin_ns = origin_ns
        self._interval_s = interval_s
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._logs: list[_Log] = []
        self._threads: dict[int, threading.Thread] = {}

    def clock(self) -> int:
        """Nanoseconds from the run's origin."""
        return time.monotonic_ns() - self._origin_ns

    def __enter__(self) -> Sampler:
        opened = [[*source.open(self.clock)] for source in self._sources]
        records = [record for some in opened for record in some]
        for source, some in zip(self._sources, opened, strict=True):
            self._start(source, [_Log(record) for record in some])
        self._logs = [log for log in self._logs if not _met_elsewhere(log.counter, records)]
        if self._sources:
            self._logs += [_Log(record) for record in _nobody_has(records, self._families)]
        return self

    def _start(self, source: Source, logs: list[_Log]) -> None:
        cost = _Log(_own_time(source))
        self._logs += logs
        if all(log.counter.not_measured for log in logs):
            return
        self._logs.append(cost)
        thread = threading.Thread(
            target=self._run,
            args=(source, logs, cost),
            name=f"telemetry-{source.name}",
            daemon=True,
        )
        self._threads[id(source)] = thread
        thread.start()

    def __exit__(self, *exc: object) -> None:
        self._ended.set()
        for source in self._sources:
            thread = self._threads.get(id(source))
            if thread is not None:
                thread.join(timeout=PATIENCE_S)
            if thread is None or not thread.is_alive():
                source.close()

    def _run(self, source: Source, logs: Sequence[_Log], cost: _Log) -> None:
        """Sample on a fixed grid; what a slow reading has missed is not made up for."""
        interval_s = source.interval_s(self._interval_s)
        due_s = time.monotonic()
        while not self._ended.wait(max(0.0, due_s - time.monotonic())):
            readings: list[tuple[_Log, Reading]] = []
            why = self._sample(source, logs, readings)
            child_ns = source.child_ns() if isinstance(source, WithChild) else 0
            with self._lock:
                for log, reading in readings:
                    log.add(reading.at_ns, reading.value, reading.trouble)
                if why is not None:
                    _fail(logs, self.clock(), why)
                cost.add(self.clock(), time.thread_time_ns() + child_ns)
            behind_s = time.monotonic() - due_s
            due_s += interval_s * max(1, math.floor(behind_s / interval_s))

    def _sample(
        self, source: Source, logs: Sequence[_Log], into: list[tuple[_Log, Reading]]
    ) -> str | None:
        """Append what `source` reads now, each with its log; why it broke off, where it did.

        A source says itself what its machine lacks; whatever else it raises is a defect. That must
        neither end its thread without a word nor print into the run: it is asked again.
        """
        try:
            for reading in source.sample(self.clock):
                into.append((logs[reading.counter], reading))
        except Exception as defect:  # noqa: BLE001
            said = " ".join(str(defect).split())[:200] or "no further word"
            return f"the source {source.name} broke off: {type(defect).__name__}, {said}"
        return None

    def cut(self, begin_ns: int, end_ns: int) -> list[Track]:
        """A track per counter with what was read from `begin_ns` to `end_ns`, both included."""
        with self._lock:
            return [log.cut(begin_ns, end_ns) for log in self._logs]

    def forget(self, before_ns: int) -> None:
        """Drop older readings: a run may take days."""
        with self._lock:
            for log in self._logs:
                log.forget(before_ns)


def _fail(logs: Iterable[_Log], at_ns: int, why: str) -> None:
    """A failed reading of every counter that this source has."""
    for log in logs:
        if log.counter.not_measured is None:
            log.add(at_ns, None, why)


_AND_CHILD = " + processor time of the program that it runs"


def _own_time(source: Source) -> CounterRecord:
    return CounterRecord(
        name=f"sampling_{source.name}",
        unit="%",
        kind="cumulative",
        source=OWN,
        read_as=f"CLOCK_THREAD_CPUTIME_ID{_AND_CHILD if isinstance(source, WithChild) else ''}",
        scale=100 / 1e9,
        judged=False,
    )


def cpu_share(tracks: Iterable[Track]) -> float | None:
    """Processor time that the sampling threads and their programs took per wall time, 1.0 being one
    core; None where nothing was sampled twice."""
    shares = [
        ((track.values[-1] or 0) - (track.values[0] or 0)) / (track.at_ns[-1] - track.at_ns[0])
        for track in tracks
        if track.counter.source == OWN and len(track.at_ns) > 1
    ]
    return sum(shares) if shares else None


def _met_elsewhere(record: CounterRecord, all_of_them: Iterable[CounterRecord]) -> bool:
    """True for a counter that one source lacks while another reads it."""
    wanted = Families((record.name,))
    return record.not_measured is not None and any(
        wanted.want(other.name)
        and other.not_measured is None
        and other.source != record.source
        and record.device in (None, other.device)
        for other in all_of_them
    )


def _nobody_has(records: Sequence[CounterRecord], families: Families) -> list[CounterRecord]:
    """Families that the spec names and that no source has ever heard of."""
    return [
        absent(name, "spec", "no source that this spec names has such a counter")
        for name in families.named
        if not any(Families((name,)).want(record.name) for record in records)
    ]
