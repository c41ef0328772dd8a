"""From a journal to Observations: pure but for the callback that loads token stamps.

The last finished record of a cell wins; a cell that never finished is kept with its state. Times
become seconds from the cell's first dispatch. The same journal gives the same Observations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Literal

import numpy as np
from pydantic import ValidationError

from benchspec.observations.agreements import agreements
from benchspec.observations.answers import Text
from benchspec.observations.interference import Stamps, interference_of, token_stamps
from benchspec.observations.model import (
    SLOT_SETTINGS,
    ArmObservation,
    Client,
    Distribution,
    LinkProbe,
    LogLine,
    Observations,
    Quiet,
    Request,
    Setting,
    Step,
    Window,
)
from benchspec.observations.series import joules, not_measured, series_of
from benchspec.store.records import (
    CellRecord,
    EngineRecord,
    LogFinding,
    QuietRecord,
    Record,
    RequestRecord,
    TroubleRecord,
)
from benchspec.store.tracks import Track

WAITING_COUNTER = "requests_deferred_max"
"""Under which every engine's adapter keeps the largest number of requests that waited for a slot."""


def reduce(
    records: Sequence[Record],
    samples: Callable[[str], Stamps],
    tracks: Callable[[str], Sequence[Track]] | None = None,
) -> Observations:
    """Observations of a run.

    `records` are the journal's, in order; `samples(name)` gives the int64 token stamps (ns from
    the run's origin) of the sample file `name` of a cell, `tracks(name)` its counters' samples.
    """
    engines = [r for r in records if isinstance(r, EngineRecord)]
    arms = dict.fromkeys(r.arm for r in engines)
    trouble = _trouble(records)
    cells = _winners(r for r in records if isinstance(r, CellRecord))
    seen = [
        (cell, tracks(cell.telemetry.file) if cell.telemetry and tracks else ()) for cell in cells
    ]
    return Observations(
        origin="run",
        arms={
            arm: _arm([r for r in engines if r.arm == arm], trouble.get(arm, ())) for arm in arms
        },
        steps=[_step(cell, samples, beside) for cell, beside in seen],
        link_probes=_link_probes(engines),
        series=[
            *(s for cell, beside in seen for s in series_of(cell, beside, _origin(cell))),
            *not_measured(seen),
        ],
        agreement=agreements(cells),
    )


def _link_probes(starts: Sequence[EngineRecord]) -> list[LinkProbe]:
    """What a probe had timed between the machine's cards when the last engine was started; kept
    figures that are none are passed over."""
    stated = starts[-1].facts.get("link_probes") if starts else None
    found = []
    for one in stated if isinstance(stated, list) else []:
        with suppress(ValidationError):
            found.append(LinkProbe.model_validate(one))
    return found


def _winners(cells: Iterable[CellRecord]) -> list[CellRecord]:
    """One record per cell: the last that is done, else the last."""
    won: dict[str, CellRecord] = {}
    for cell in cells:
        old = won.get(cell.key.id)
        if old is None or cell.state == "done" or old.state != "done":
            won[cell.key.id] = cell
    return list(won.values())


def _trouble(records: Iterable[Record]) -> dict[str, list[LogFinding]]:
    """What each arm's engine logged while its cells were measured."""
    found: dict[str, list[LogFinding]] = {}
    for record in records:
        if isinstance(record, TroubleRecord):
            found.setdefault(record.arm, []).extend(record.findings)
    return found


def _arm(starts: Sequence[EngineRecord], trouble: Iterable[LogFinding]) -> ArmObservation:
    """What the starts of one arm's engine had in common; the last start speaks for the settings."""
    last = starts[-1]
    log = dict.fromkeys([*(f for start in starts for f in start.findings), *trouble])
    slots, source = _slots(last)
    context = _fact(last, "ctx-size-per-slot") or last.facts.get("context_per_slot")
    return ArmObservation(
        settings=[Setting(**s.model_dump()) for s in last.settings],
        log=[LogLine(**f.model_dump()) for f in log],
        identity=_identity(starts),
        slots=slots,
        slots_source=source,
        context_per_slot=context if isinstance(context, int) else None,
        kv_tokens=_kv_tokens(last),
        kv_bytes=_kv_bytes(last),
        weights_bytes=_whole(last, "weights_bytes"),
        replicas=_whole(last, "replicas"),
        model_bytes=_model_bytes(last),
        loaded_on=_loaded_on(last),
    )


def _whole(start: EngineRecord, name: str) -> int | None:
    stated = start.facts.get(name)
    return stated if isinstance(stated, int) and stated > 0 else None


def _model_bytes(start: EngineRecord) -> float | None:
    """Bytes of the loaded model's tensors, where the engine says that it has no experts and its log
    that they lie in one place: of a part on the cards nobody knows what each memory is read for."""
    size = start.facts.get("model_bytes")
    if not isinstance(size, int) or start.facts.get("experts") != 0 or _loaded_on(start) is None:
        return None
    return size


def _loaded_on(start: EngineRecord) -> Literal["cards", "host"] | None:
    """Where the log says that all layers are: `offloaded 33/33 layers to GPU`. A log of the load
    without such a line is that of an engine that offloads none."""
    layers, total = start.facts.get("offloaded_layers"), start.facts.get("offloadable_layers")
    if layers is None:
        return "host" if "n_ctx" in start.facts else None
    if layers == 0:
        return "host"
    return "cards" if layers == total else None


def _kv_bytes(start: EngineRecord) -> float | None:
    """What the KV cache takes, where the engine's log says it in MiB."""
    size = start.facts.get("kv_mib")
    return size * 2**20 if isinstance(size, int | float) else None


def _kv_tokens(start: EngineRecord) -> int | None:
    """Tokens that all requests together may keep, where the engine says so."""
    total = _fact(start, "ctx-size") if _fact(start, "kv-unified") in (True, "true") else None
    stated = start.facts.get("kv_tokens", total)
    return stated if isinstance(stated, int) else None


def _slots(start: EngineRecord) -> tuple[int | None, str | None]:
    for setting in start.settings:
        if setting.name in SLOT_SETTINGS and isinstance(setting.found, int):
            return setting.found, setting.found_source
    stated = start.facts.get("slots")
    if isinstance(stated, int):
        return stated, str(start.facts.get("slots_source") or "the live server")
    return None, None


def _fact(start: EngineRecord, name: str) -> object:
    return next((s.found for s in start.settings if s.name == name), start.facts.get(name))


def _identity(starts: Sequence[EngineRecord]) -> dict[str, str | int | float | bool | None]:
    """What two arms must share to be compared; two builds within one arm are both named."""
    identity: dict[str, str | int | float | bool | None] = {}
    for name in ("engine", "build", "model", "model_sha256"):
        seen = dict.fromkeys(v for s in starts if (v := getattr(s, name)) is not None)
        if seen:
            identity[name] = " and ".join(seen)
    return identity | _devices(starts[-1].facts.get("hardware"))


def _devices(hardware: object) -> dict[str, str | int | float | bool | None]:
    """`gpu0.memory_clock_mhz` and the like, of every device of the machine."""
    if not isinstance(hardware, dict):
        return {}
    return {
        f"{device}.{name}": fact
        for device, facts in hardware.items()
        if isinstance(facts, dict)
        for name, fact in facts.items()
        if isinstance(fact, str | int | float | bool)
    }


def _step(cell: CellRecord, samples: Callable[[str], Stamps], beside: Sequence[Track]) -> Step:
    origin = _origin(cell)
    requests = [_request(r, origin) for r in cell.requests]
    stamps = samples(cell.samples_file) if cell.samples_file else np.empty(0, np.int64)
    ends = [r.end_s for r in requests if r.ok and r.end_s is not None]
    return Step(
        **cell.key.model_dump(exclude={"id"}),
        mode=cell.mode,
        state=cell.state,
        reason=cell.reason,
        planned_requests=cell.planned_requests,
        achieved_rate=cell.achieved_rate,
        wall_s=max(ends) if ends else None,
        requests=requests,
        itl_ms=_pooled_itl(cell.requests, stamps),
        interference=interference_of(cell.requests, stamps),
        window=_window(cell, stamps, origin),
        samples=cell.samples_file,
        client=_client(cell),
        quiet=_quiet(cell.quiet),
        waiting_max=cell.counters.get(WAITING_COUNTER),
        engine_restarted=_restarted(cell),
        joules_per_token=_joules_per_token(cell, beside),
    )


def _origin(cell: CellRecord) -> int:
    sent = [r.sent_ns for r in cell.requests if r.sent_ns is not None]
    return min(sent, default=cell.started_ns)


def _seconds(moment_ns: int | None, origin_ns: int) -> float | None:
    return None if moment_ns is None else (moment_ns - origin_ns) / 1e9


def _request(record: RequestRecord, origin_ns: int) -> Request:
    begin = record.scheduled_ns if record.scheduled_ns is not None else record.sent_ns
    first, last = record.first_token_ns, record.last_token_ns
    return Request(
        turn=record.turn,
        start_s=_seconds(record.sent_ns, origin_ns),
        scheduled_s=_seconds(record.scheduled_ns, origin_ns),
        first_token_s=_seconds(first, origin_ns),
        last_token_s=_seconds(last, origin_ns),
        end_s=_seconds(record.end_ns, origin_ns),
        ttft_ms=None if first is None or begin is None else (first - begin) / 1e6,
        itl_ms=_mean_gap_ms(first, last, record.completion_tokens),
        tokens=record.completion_tokens,
        prompt_tokens=record.prompt_tokens,
        cached_tokens=record.cached_tokens,
        draft_tokens=record.draft_tokens,
        accepted_tokens=record.accepted_tokens,
        self_reported_tok_s=record.server_decode_tok_s,
        server_prefill_ms=record.server_prefill_ms,
        finish_reason=record.finish_reason,
        output_sha256=record.output_sha256,
        text=None if record.text is None else Text(**record.text.model_dump()),
        ok=record.ok,
        error=record.error,
    )


def _mean_gap_ms(first: int | None, last: int | None, tokens: int | None) -> float | None:
    if first is None or last is None or tokens is None or tokens < 2:
        return None
    return (last - first) / 1e6 / (tokens - 1)


def _pooled_itl(requests: Sequence[RequestRecord], stamps: Stamps) -> Distribution | None:
    gaps = np.concatenate(
        [np.empty(0, np.int64), *(np.diff(token_stamps(r, stamps)) for r in requests if r.ok)]
    )
    if not len(gaps):
        return None
    p50, p90, p95, p99, most = np.percentile(gaps, [50, 90, 95, 99, 100]) / 1e6
    return Distribution(n=len(gaps), p50=p50, p90=p90, p95=p95, p99=p99, max=most)


def _window(cell: CellRecord, stamps: Stamps, origin_ns: int) -> Window | None:
    """The tokens stamped while the load was on; None where an answer came without stamps."""
    span = _full_span(cell)
    if span is None or span[1] <= span[0]:
        return None
    each = [(r, token_stamps(r, stamps)) for r in cell.requests if r.ok and r.completion_tokens]
    if not all(len(own) for _, own in each):
        return None
    start, end = span
    tokens = sum(_tokens_inside(r, own, start, end) for r, own in each)
    return Window(
        start_s=(start - origin_ns) / 1e9, end_s=(end - origin_ns) / 1e9, tokens=round(tokens)
    )


def _full_span(cell: CellRecord) -> tuple[int, int] | None:
    """Sustained: from when C are first in flight to the last dispatch; ramp and drain are cut."""
    if cell.mode == "open":
        return _schedule_span(cell.requests)
    if cell.mode != "sustained" or cell.key.concurrency is None:
        return None
    sent = [r.sent_ns for r in cell.requests if r.sent_ns is not None]
    start = _first_full(cell.requests, cell.key.concurrency)
    return None if start is None else (start, max(sent))


def _schedule_span(requests: Sequence[RequestRecord]) -> tuple[int, int] | None:
    """Open loop: from the first to the last arrival of the schedule; the drain is cut. None where
    that is shorter than an answer takes: nearly all of it would be cut."""
    due = [r.scheduled_ns for r in requests if r.scheduled_ns is not None]
    took = [
        r.end_ns - r.scheduled_ns
        for r in requests
        if r.ok and r.scheduled_ns is not None and r.end_ns is not None
    ]
    if not took or max(due) - min(due) < sum(took) / len(took):
        return None
    return min(due), max(due)


def _first_full(requests: Sequence[RequestRecord], concurrency: int) -> int | None:
    sent = [r for r in requests if r.sent_ns is not None]
    changes = [(r.sent_ns or 0, 1) for r in sent]
    changes += [(r.end_ns, -1) for r in sent if r.end_ns is not None]
    in_flight = 0
    for moment, change in sorted(changes):
        in_flight += change
        if in_flight >= concurrency:
            return moment
    return None


def _tokens_inside(request: RequestRecord, stamps: Stamps, start: int, end: int) -> float:
    """Tokens stamped in [start, end]; an event that carried several tokens counts for them."""
    if not len(stamps) or request.completion_tokens is None:
        return 0.0
    inside = int(np.count_nonzero((stamps >= start) & (stamps <= end)))
    return inside * request.completion_tokens / len(stamps)


def _joules_per_token(cell: CellRecord, beside: Sequence[Track]) -> float | None:
    tokens = sum(r.completion_tokens or 0 for r in cell.requests if r.ok)
    energy = joules(cell, beside)
    return energy / tokens if energy is not None and tokens else None


def _client(cell: CellRecord) -> Client | None:
    record = cell.client
    if record is None:
        return None
    return Client(
        telemetry_share=cell.telemetry.cpu_share if cell.telemetry else None,
        cpu_share=record.cpu_share,
        events=record.events,
        events_per_s=record.events / record.wall_s if record.wall_s > 0 else None,
        ceiling_events_s=record.ceiling_events_s,
        kernel_stamp_share=record.kernel_stamps / record.reads if record.reads else None,
        coalesced_share=record.coalesced_reads / record.reads if record.reads else None,
        send_lateness_ms_p50=record.send_lateness_ms_p50,
        send_lateness_ms_p99=record.send_lateness_ms_p99,
        read_lag_ms_p99=record.read_lag_ms_p99,
        stamp_source=record.stamp_source,
    )


def _quiet(record: QuietRecord | None) -> Quiet | None:
    if record is None:
        return None
    engine, client, foreign = record.engine_cpu_s, record.client_cpu_s, record.foreign_cpu_s
    needed = None if engine is None or client is None else engine + client
    return Quiet(
        foreign_share=_share(foreign, needed),
        client_share=_share(client, needed),
        busy_share=_share(needed, record.cores * record.wall_s),
        steal_share=_share(record.steal_s, needed),
        idle_before_share=record.idle_before_share,
        idle_after_share=record.idle_after_share,
        waited_s=record.waited_s,
        reason=record.reason,
    )


def _share(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole is not None and whole > 0 else None


def _restarted(cell: CellRecord) -> bool | None:
    if cell.engine_pid_before is None or cell.engine_pid_after is None:
        return None
    return cell.engine_pid_before != cell.engine_pid_after
