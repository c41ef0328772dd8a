"""One cell on a running engine: wait for quiet, send, look at the machine before and after."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from http.client import OK
from typing import Literal

from benchspec.engines.base import Engine
from benchspec.errors import EngineFailure
from benchspec.judge.thresholds import limit
from benchspec.load.arrivals import schedule_ns
from benchspec.load.driver import CellTrace, Limits, Load, Stop, Work, run_cell
from benchspec.load.target import target_of
from benchspec.load.workers import Workers, processes_for
from benchspec.run.interrupts import Interrupts
from benchspec.run.plan import PlannedCell
from benchspec.run.progress import Progress
from benchspec.run.requests import RequestSource
from benchspec.run.trust import is_loopback
from benchspec.run.watch import Watch
from benchspec.store.bundle import Bundle
from benchspec.store.records import CellRecord, RequestRecord, TelemetryRecord
from benchspec.store.tracks import Track
from benchspec.telemetry.engine import maxima
from benchspec.telemetry.host import PATIENCE_S, Host, listeners
from benchspec.telemetry.sampler import Sampler, cpu_share
from benchspec.telemetry.sources import Wanted

FIRST_BYTE_S = 600.0
"""Longest wait for a first token where the spec names no timeout: a long prompt behind a queue."""

SILENCE_S = 60.0
"""Longest silence between two tokens where the spec names no timeout."""

SPARE = 1.5
"""Bodies made ready for a cell that a duration ends, over what the warm-up says can be served."""

MOST_BODIES = 100_000

ENDS_S = 5.0
"""How long a process whose connections broke may take until its end is known."""

State = Literal["done", "aborted", "failed"]

Span = tuple[int, int]
"""Begin and end of an idle window, ns of the run's clock."""


@dataclass
class Patience:
    """How long a whole run may still wait for quiet: on a machine that is never quiet the waiting
    must not take more time than the measuring."""

    left_s: float


@dataclass(frozen=True)
class Conditions:
    """What all cells of a run share. `idle_s` is the idle window next to every cell."""

    bundle: Bundle
    origin_ns: int
    idle_s: float
    timeout_s: float | None
    ceiling_events_s: float | None
    telemetry: Wanted
    arrival: str
    burstiness: float | None
    connections: Literal["fresh", "kept"]
    patience: Patience
    interrupts: Interrupts
    progress: Progress

    @property
    def limits(self) -> Limits:
        """The spec's timeout bounds a whole request, and every wait inside it."""
        if self.timeout_s is None:
            return Limits(first_byte_s=FIRST_BYTE_S, idle_s=SILENCE_S)
        return Limits(
            first_byte_s=self.timeout_s,
            idle_s=min(SILENCE_S, self.timeout_s),
            total_s=self.timeout_s,
        )


class CellRunner:
    """Runs the cells of one engine start, one after another."""

    def __init__(
        self,
        conditions: Conditions,
        engine: Engine,
        requests: RequestSource,
        sampler: Sampler,
        workers: Workers,
    ) -> None:
        self._conditions = conditions
        self._engine = engine
        self._requests = requests
        self._sampler = sampler
        self._workers = workers
        self._target = target_of(engine.endpoint)
        local = is_loopback(engine.endpoint.host)
        self._port = engine.endpoint.port if local and not engine.pids() else None
        self._attached = listeners(self._port) if self._port is not None else []
        self._host = Host(self._pids, local=local)
        self._last_share: float | None = None
        self._alone_s: float | None = None
        self._alone_events_s: float | None = None
        self.lost = False
        """True once the engine cannot serve another cell."""

    def _pids(self) -> list[int]:
        """The engine's processes; those of an attached server of this machine were found once, by
        its port, because looking for them takes longer than a token."""
        return self._engine.pids() or self._attached

    def warm_up(self, cell: PlannedCell, count: int) -> None:
        """Send `count` requests like those of `cell`, one after another; they are no observations.

        Raises EngineFailure when none of them is answered, Interrupted.
        """
        if count == 0:
            return
        bodies = self._requests.bodies(cell, count, "warm-up")
        trace = self._one_by_one(bodies)
        self._conditions.interrupts.check()
        answered = [request for request in trace.requests if request.ok]
        if not answered:
            raise EngineFailure(
                f"The engine is up but answers no request: {(trace.reason or '').rstrip('.')}.",
                hint=_refusal_hint(trace.requests[0].status if trace.requests else None),
            )
        self._requests.learn(answered)
        alike = [one for one in answered if one.index >= len(bodies) - count] or answered
        self._alone_s = min(map(_duration_s, alike))
        self._alone_events_s = max(map(_events_s, answered))

    def run(self, cell: PlannedCell) -> CellRecord:
        """Send the cell's requests once the machine is quiet. Whatever the engine does is in the
        record. Raises Interrupted before anything is sent, StorageFailure when the stamps cannot be
        kept."""
        load = self._load(cell)
        count = self._count(cell, load)
        work = self._requests.work(cell, count)
        if too_short := self._requests.too_short(cell):
            self._conditions.progress.say(too_short)
        if cell.key.cache == "warm":
            self._one_by_one(self._requests.bodies(cell, count, "prime"))
        processes = self._processes(cell)
        self._workers.start(processes if processes > 1 else 0)
        before, waited_s = self._settle()
        idle_before = self._idle_span(before)
        self._conditions.interrupts.check()
        stop, pids, begin = Stop(), self._pids(), self._host.read()
        with Watch(self._engine, pids, stop) as watch:
            trace = self._send(work, load, stop, processes)
        end = self._host.read()
        state, reason = self._outcome(trace, watch, stop)
        after = self._idle_after(state)
        tracks = self._tracks(trace, idle_before)
        quiet = self._host.quiet_record(begin, end, before=before, after=after, waited_s=waited_s)
        name, digest = self._conditions.bundle.write_samples(cell.key.id, trace.samples)
        return CellRecord(
            key=cell.key,
            state=state,
            reason=reason,
            mode=cell.mode,
            started_ns=trace.started_ns,
            ended_ns=trace.ended_ns,
            planned_requests=len(trace.requests) if load.duration_s else count,
            achieved_rate=trace.sent_per_s if load.mode == "open" else None,
            requests=trace.requests,
            client=trace.client,
            quiet=quiet,
            telemetry=self._telemetry(cell, tracks, idle_before, self._idle_span(after)),
            samples_file=name,
            samples_sha256=digest,
            engine_pid_before=next(iter(pids), None),
            engine_pid_after=self._pid_after(pids),
            counters=maxima(tracks, trace.started_ns, trace.ended_ns),
        )

    def _pid_after(self, before: Sequence[int]) -> int | None:
        """The first of the engine's processes `before`, or another where it runs no more. An attached
        server is looked for again: someone may have restarted it inside the cell."""
        if self._port is not None and self._attached:
            self._attached = listeners(self._port)
        now = self._pids()
        return before[0] if before and before[0] in now else next(iter(now), None)

    def _count(self, cell: PlannedCell, load: Load) -> int:
        """How many requests to have ready. Where a duration ends the cell, more than can be served:
        with C in flight nothing is served faster than a request alone, as the warm-up was."""
        if cell.requests is not None:
            return cell.requests
        if load.mode == "open":
            return len(load.schedule_ns) * cell.work.turns
        in_flight, duration_s = cell.key.concurrency or 1, cell.duration_s or 0.0
        served = duration_s / self._alone_s if self._alone_s else cell.expected_requests
        return min(MOST_BODIES, math.ceil(SPARE * in_flight * (served + cell.work.turns)))

    def _one_by_one(self, bodies: list[bytes]) -> CellTrace:
        stop = Stop()
        trace = self._send(bodies, Load("sustained", concurrency=1), stop)
        self._conditions.interrupts.heed(stop)
        return trace

    def _load(self, cell: PlannedCell) -> Load:
        if cell.key.rate is None:
            return Load(
                "burst" if cell.mode == "burst" else "sustained",
                concurrency=cell.key.concurrency,
                duration_s=cell.duration_s,
                connections=self._conditions.connections,
            )
        requests = None if cell.requests is None else cell.requests // cell.work.turns
        schedule = schedule_ns(
            self._conditions.arrival,
            cell.key.rate,
            seed=cell.key.repeat if cell.key.seed is None else cell.key.seed,
            requests=requests,
            duration_s=cell.duration_s,
            shape=self._conditions.burstiness,
        )
        return Load("open", schedule_ns=schedule, connections=self._conditions.connections)

    def _processes(self, cell: PlannedCell) -> int:
        """How many measuring processes bear the cell at the share of their ceiling above which a
        verdict is withheld. No stream gets more tokens than the one of the warm-up, alone, did."""
        if cell.key.rate is not None:
            expected = cell.key.rate * cell.work.max_tokens
        else:
            expected = (cell.key.concurrency or 1) * (self._alone_events_s or 0.0)
        bears = (self._conditions.ceiling_events_s or math.inf) * limit("client.load")
        return min(processes_for(expected, bears, os.cpu_count() or 1), cell.expected_requests)

    def _send(self, work: Sequence[Work], load: Load, stop: Stop, processes: int = 1) -> CellTrace:
        conditions = self._conditions
        send = run_cell if processes == 1 else partial(self._workers.run, processes)
        return send(
            self._target,
            work,
            load,
            origin_ns=conditions.origin_ns,
            limits=conditions.limits,
            on_progress=conditions.progress.count,
            stop=stop,
            ceiling_events_s=conditions.ceiling_events_s,
        )

    def _settle(self) -> tuple[float | None, float]:
        """Wait for quiet, at most PATIENCE_S, and no longer than the run's patience lasts."""
        patience = self._conditions.patience
        share, waited_s = self._host.settle(
            self._conditions.idle_s,
            min(PATIENCE_S, patience.left_s),
            self._last_share,
            lambda: self._conditions.interrupts.requested,
        )
        patience.left_s = max(0.0, patience.left_s - waited_s)
        return share, waited_s

    def _idle_after(self, state: State) -> float | None:
        """The idle window after a cell is also the one before the next."""
        wanted = state == "done" and self._conditions.idle_s > 0
        self._last_share = self._host.idle_share(self._conditions.idle_s) if wanted else None
        return self._last_share

    def _idle_span(self, share: float | None) -> Span | None:
        """When the idle window was that gave `share`."""
        if share is None or self._host.idle_s is None:
            return None
        begin_s, end_s = self._host.idle_s
        origin_ns = self._conditions.origin_ns
        return round(begin_s * 1e9) - origin_ns, round(end_s * 1e9) - origin_ns

    def _tracks(self, trace: CellTrace, idle_before: Span | None) -> list[Track]:
        """What the counters showed from the idle window before the cell until now. Older samples
        are dropped; those of the idle window after it are the next cell's, too."""
        first_ns = trace.started_ns if idle_before is None else idle_before[0]
        tracks = self._sampler.cut(first_ns, time.monotonic_ns() - self._conditions.origin_ns)
        self._sampler.forget(trace.ended_ns)
        return tracks

    def _telemetry(
        self, cell: PlannedCell, tracks: list[Track], before: Span | None, after: Span | None
    ) -> TelemetryRecord | None:
        """Keep the samples in the bundle; None where nothing is sampled."""
        if not tracks:
            return None
        file, digest = self._conditions.bundle.write_tracks(cell.key.id, tracks)
        return TelemetryRecord(
            file=file,
            sha256=digest,
            idle_before_ns=before,
            idle_after_ns=after,
            cpu_share=cpu_share(tracks),
        )

    def _outcome(self, trace: CellTrace, watch: Watch, stop: Stop) -> tuple[State, str | None]:
        trouble = watch.trouble
        patience_s = ENDS_S if _broke_off(trace) and not stop.level else 0.0
        if trouble is None and not self._engine.alive(patience_s):
            trouble = "the engine's process ended"
        if trouble is not None:
            self.lost = True
            return "failed", trouble
        self._conditions.interrupts.heed(stop)
        return trace.state, trace.reason


def _broke_off(trace: CellTrace) -> bool:
    """Whether the request that ended last broke off, as all do that a dying engine leaves behind;
    one with an error's status was answered."""
    last = max(trace.requests, key=_end_ns, default=None)
    return last is not None and last.error is not None and last.status in (None, OK)


def _end_ns(request: RequestRecord) -> int:
    return request.end_ns or 0


def _events_s(request: RequestRecord) -> float:
    """Events per second while the answer was written."""
    span_ns = (request.last_token_ns or 0) - (request.first_token_ns or 0)
    return (request.samples_count - 1) * 1e9 / span_ns if span_ns > 0 else 0.0


def _duration_s(request: RequestRecord) -> float:
    return ((request.end_ns or 0) - (request.sent_ns or 0)) / 1e9


_REFUSALS = {
    400: "Correct what the server objects to: a shorter prompt or output, or a larger context.",
    401: "Put the server's key into a variable and name that in engine.api_key_env.",
    403: "Put a key that may do this into a variable and name that in engine.api_key_env.",
    404: "Correct model.name, or engine.endpoint (completions or chat): it knows one of them not.",
    413: "Make the prompt shorter, or raise what the server or a proxy before it accepts.",
    422: "Correct what the server objects to; engine.endpoint may be chat instead of completions.",
    429: "Lift the server's rate limit: else it is the limit that would be measured.",
}


def _refusal_hint(status: int | None) -> str:
    """What to do about a server that is up and refuses, by the HTTP status of its answer."""
    by_hand = "Try one request by hand; what the engine logged is in the bundle."
    return by_hand if status is None else _REFUSALS.get(status, by_hand)
