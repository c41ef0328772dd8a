"""From captures to the records of one cell: pure."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import merge
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from benchspec.load.answer import Answer, read_answer
from benchspec.load.capture import Capture
from benchspec.load.clock import ReadStats
from benchspec.load.prefixes import prefix_digests
from benchspec.load.repetition import measure
from benchspec.load.target import prompt_sha256
from benchspec.store.records import ClientRecord, RequestRecord


@dataclass(frozen=True)
class CellTrace:
    """What one cell yielded.

    `samples` is one flat int64 array of token arrival stamps in ns from the origin; each request's
    part is [`samples_start`, + `samples_count`). `started_ns` is the first dispatch, `ended_ns` the
    last end. `state` is `aborted` when it was asked to stop, `failed` when nothing succeeded.
    """

    requests: list[RequestRecord]
    samples: NDArray[np.int64]
    client: ClientRecord
    started_ns: int
    ended_ns: int
    state: Literal["done", "aborted", "failed"]
    reason: str | None

    @property
    def sent_per_s(self) -> float | None:
        """Arrivals per second between the first and the last dispatch; None below two of them.

        Later turns of a conversation are answers to answers and arrive by no schedule.
        """
        first = (one for one in self.requests if one.turn in {None, 1})
        sent = [one.sent_ns for one in first if one.sent_ns is not None]
        span_ns = max(sent) - min(sent) if sent else 0
        return (len(sent) - 1) * 1e9 / span_ns if span_ns else None


@dataclass(frozen=True)
class Understood:
    """A request's record (without its place in the cell) and its stamps."""

    record: RequestRecord
    intended_ns: int
    token_ns: array[int]
    coalesced_reads: int


@dataclass(slots=True)
class Sent:
    """One request as issued: when it was meant to go out, and what was captured.

    `intended_ns` is the scheduled moment in an open loop and the moment a place became free in a
    closed one; only the former is a schedule that latency counts from. `turn` counts from 1 within
    a conversation. `understood` where it was read before the cell's end. `request` is what was
    sent, where its answer is to be compared with that of another arm.
    """

    intended_ns: int
    capture: Capture
    scheduled: bool = False
    turn: int | None = None
    request: bytes | None = None
    understood: Understood | None = None


@dataclass(frozen=True)
class Share:
    """What one process did of a cell: its requests as they were issued, and what it cost.

    Moments are ns from the origin; `cpu_s` is the processor time of the thread that did it.
    """

    requests: list[Understood]
    reads: ReadStats
    cpu_s: float
    started_ns: int
    ended_ns: int
    aborted: bool
    reason: str | None


def understand(sent: Sent, origin_ns: int, line_bytes: int) -> Understood:
    """Read one capture. Times become ns from `origin_ns`."""
    capture = sent.capture
    answer = read_answer(capture, line_bytes)
    tokens = answer.token_ns

    def since_origin(moment_ns: int | None) -> int | None:
        return None if moment_ns is None else moment_ns - origin_ns

    record = RequestRecord(
        index=0,
        turn=sent.turn,
        scheduled_ns=since_origin(sent.intended_ns) if sent.scheduled else None,
        sent_ns=since_origin(capture.sent_ns),
        first_token_ns=since_origin(tokens[0] if tokens else None),
        last_token_ns=since_origin(tokens[-1] if tokens else None),
        end_ns=since_origin(capture.end_ns),
        status=capture.status,
        ok=answer.error is None,
        error=answer.error,
        finish_reason=answer.finish_reason,
        output_sha256=answer.text_sha256,
        output_prefixes=prefix_digests(answer.pieces) if sent.request else None,
        prompt_sha256=prompt_sha256(sent.request) if sent.request else None,
        text=measure("".join(answer.pieces)) if answer.pieces else None,
        **_reported(answer),
    )
    return Understood(
        record,
        sent.intended_ns - origin_ns,
        array("q", (ns - origin_ns for ns in tokens)),
        answer.coalesced_reads,
    )


def _reported(answer: Answer) -> dict[str, int | float | None]:
    """What the server says of itself; llama.cpp's `timings` fill what `usage` leaves out."""
    cached = answer.count(
        ("usage", "prompt_tokens_details", "cached_tokens"), ("timings", "cache_n")
    )
    prompt = answer.count(("usage", "prompt_tokens"))
    computed = answer.count(("timings", "prompt_n"))
    if prompt is None and computed is not None:  # prompt_n leaves out what came from the cache
        prompt = computed + (cached or 0)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": answer.count(
            ("usage", "completion_tokens"), ("timings", "predicted_n")
        ),
        "cached_tokens": cached,
        "draft_tokens": answer.count(("timings", "draft_n")),
        "accepted_tokens": answer.count(("timings", "draft_n_accepted")),
        "server_prefill_ms": answer.number(("timings", "prompt_ms")),
        "server_decode_ms": answer.number(("timings", "predicted_ms")),
        "server_decode_tok_s": answer.number(("timings", "predicted_per_second")),
    }


def assemble(shares: Sequence[Share], ceiling_events_s: float | None) -> CellTrace:
    """One cell out of what its processes did, with every request, stamp and read exactly once."""
    parts = list(merge(*(share.requests for share in shares), key=lambda one: one.intended_ns))
    requests, samples = lay_out(parts)
    started_ns = min(share.started_ns for share in shares)
    ended_ns = max(share.ended_ns for share in shares)
    state, reason = _outcome(shares, requests)
    return CellTrace(
        requests,
        samples,
        _client_record(shares, parts, (ended_ns - started_ns) / 1e9, ceiling_events_s),
        started_ns,
        ended_ns,
        state,
        reason,
    )


def lay_out(parts: Iterable[Understood]) -> tuple[list[RequestRecord], NDArray[np.int64]]:
    """Number the records, concatenate the stamps, and tell each record where its own are."""
    records, samples = [], array("q")
    for index, part in enumerate(parts):
        place = {"samples_start": len(samples), "samples_count": len(part.token_ns)}
        records.append(part.record.model_copy(update={"index": index, **place}))
        samples.extend(part.token_ns)
    return records, np.frombuffer(samples, dtype=np.int64) if samples else np.empty(0, np.int64)


def _outcome(
    shares: Sequence[Share], requests: Sequence[RequestRecord]
) -> tuple[Literal["done", "aborted", "failed"], str | None]:
    reason = next((share.reason for share in shares if share.reason), None)
    if any(share.aborted for share in shares):
        return "aborted", reason
    if reason is None and any(request.ok for request in requests):
        return "done", None
    errors = (request.error for request in requests if request.error)
    return "failed", reason or next(errors, "there was nothing to send")


def _client_record(
    shares: Sequence[Share],
    parts: Sequence[Understood],
    wall_s: float,
    ceiling_events_s: float | None,
) -> ClientRecord:
    """The client's own error during the cell."""
    late_ns = [
        part.record.sent_ns - part.intended_ns for part in parts if part.record.sent_ns is not None
    ]
    lateness = _percentiles_ms(late_ns)
    lag = _percentiles_ms([lag for share in shares for lag in share.reads.lag_ns])
    cpu_s = sum(share.cpu_s for share in shares)
    reads = sum(share.reads.reads for share in shares)
    kernel_stamps = sum(share.reads.kernel_stamps for share in shares)
    return ClientRecord(
        processes=len(shares),
        cpu_s=cpu_s,
        wall_s=wall_s,
        cpu_share=cpu_s / wall_s if wall_s > 0 else 0.0,
        events=sum(len(part.token_ns) for part in parts),
        reads=reads,
        kernel_stamps=kernel_stamps,
        coalesced_reads=sum(part.coalesced_reads for part in parts),
        send_lateness_ms_p50=lateness[0],
        send_lateness_ms_p99=lateness[1],
        read_lag_ms_p99=lag[1],
        ceiling_events_s=ceiling_events_s,
        stamp_source=_source(reads, kernel_stamps),
    )


def _source(reads: int, kernel_stamps: int) -> Literal["kernel", "user", "mixed", "none"]:
    if not reads:
        return "none"
    if not kernel_stamps:
        return "user"
    return "kernel" if kernel_stamps == reads else "mixed"


def _percentiles_ms(values_ns: Sequence[int]) -> tuple[float | None, float | None]:
    if not values_ns:
        return None, None
    p50, p99 = np.percentile(np.asarray(values_ns, dtype=np.int64), [50, 99]) / 1e6
    return float(p50), float(p99)
