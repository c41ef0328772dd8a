"""Source `engine`: what the server counts of itself, asked beside the load.

The numbers are the server's own: they explain (who waited, how full the cache was), and never stand
in for what the client measured. Rates that a server averages itself are not read: llama.cpp resets
them at every question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchspec.errors import BenchspecError
from benchspec.store.tracks import CounterRecord, Kind, Track
from benchspec.telemetry.base import Clock, Families, Reading, absent

SHORTEST_S = 1.0
"""A server answers between two batches: asked more often, it would be measured answering."""

Ask = Callable[[], Mapping[str, float]]


@dataclass(frozen=True)
class _Row:
    """`theirs` is the name under which every adapter of `engines/` gives the number."""

    theirs: str
    name: str
    unit: str
    kind: Kind = "gauge"


ROWS = (
    _Row("requests_processing", "running", "count"),
    _Row("requests_deferred", "waiting", "count"),
    _Row("slots_busy", "slots_busy", "count"),
    _Row("kv_cache_usage", "kv_usage", "ratio"),
    _Row("preemptions_total", "preemptions", "1/s", "cumulative"),
    _Row("prompt_tokens_total", "tokens_prompt", "tok/s", "cumulative"),
    _Row("tokens_predicted_total", "tokens_generated", "tok/s", "cumulative"),
    _Row("spec_decode_num_draft_tokens_total", "acceptance_drafted", "tok/s", "cumulative"),
    _Row("spec_decode_num_accepted_tokens_total", "acceptance_accepted", "tok/s", "cumulative"),
)


class EngineCounters:
    """Asks `ask` (an engine's `counters`); `what` says where that looks, for the record."""

    name = "engine"

    def __init__(self, families: Families, ask: Ask, *, what: str = "/slots, /metrics") -> None:
        self._families = families
        self._ask = ask
        self._what = what
        self._rows: list[_Row] = []

    def open(self, clock: Clock) -> Sequence[CounterRecord]:
        wanted = [row for row in ROWS if self._families.want(row.name)]
        values, trouble = self._values()
        self._rows = [row for row in wanted if row.theirs in values]
        return [
            *(self._record(row) for row in self._rows),
            *(self._lacking(row, trouble) for row in wanted if row not in self._rows),
        ]

    def _lacking(self, row: _Row, trouble: str | None) -> CounterRecord:
        why = trouble or f"the server shows no {row.theirs} in {self._what}"
        judged = self._families.judge(row.name, of_device=False)
        return absent(row.name, self.name, why, judged=judged)

    def _record(self, row: _Row) -> CounterRecord:
        return CounterRecord(
            name=row.name,
            unit=row.unit,
            kind=row.kind,
            source=self.name,
            read_as=row.theirs,
            judged=self._families.judge(row.name, of_device=False),
        )

    def interval_s(self, asked_s: float) -> float:
        return max(asked_s, SHORTEST_S)

    def sample(self, clock: Clock) -> Iterator[Reading]:
        values, trouble = self._values()
        at_ns = clock()
        for number, row in enumerate(self._rows):
            yield Reading(number, at_ns, values.get(row.theirs), trouble)

    def _values(self) -> tuple[Mapping[str, float], str | None]:
        """What the server says, or why it does not; RuntimeError once its connection is closed."""
        try:
            values = self._ask()
        except BenchspecError as error:
            return {}, error.message
        except RuntimeError as error:
            return {}, str(error)
        return values, None if values else "the server did not answer in time"

    def close(self) -> None:
        pass


def maxima(tracks: Iterable[Track], begin_ns: int, end_ns: int) -> dict[str, float]:
    """The largest value of each of the server's numbers in a span, by the server's name + `_max`."""
    found: dict[str, float] = {}
    for track in tracks:
        if track.counter.source != EngineCounters.name or track.counter.kind != "gauge":
            continue
        pairs = zip(track.at_ns, track.values, strict=True)
        inside = [v for at_ns, v in pairs if v is not None and begin_ns <= at_ns <= end_ns]
        if inside:
            found[f"{track.counter.read_as}_max"] = max(inside)
    return found
