"""What the client can do here and now, measured against a server of known timing."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchspec.engines.base import Endpoint
from benchspec.errors import EngineFailure
from benchspec.load.driver import CellTrace, Load, run_cell
from benchspec.load.known_timing import Timing
from benchspec.load.target import Sampling, request_body, target_of

_FIRST_MS = 20.0
_STREAMS = 64
_GAP_MS = 5.0
_FLAT_OUT_STREAMS = 32
# Rough event rate of one core when flat out; only the length of the trial depends on it.
_FLAT_OUT_EVENTS_S = 150_000
_ANSWER_S = 10.0

CEILING_STREAMS = 16
"""With fewer, most of the time between two events is spent on waking up: what an event costs then
says nothing about a busy client."""

Moments = NDArray[np.int64]
"""CLOCK_MONOTONIC, ns: the same for every process of a machine."""


@dataclass(frozen=True)
class Errors:
    """What the client says minus what the server did, in ms: of the time to first token, of the
    gaps between tokens (absolute), and of the moment that each token's stamp names."""

    first_token_ms_p50: float
    first_token_ms_p99: float
    gap_ms_p50: float
    gap_ms_p99: float
    stamp_ms_p50: float
    stamp_ms_p99: float


@dataclass(frozen=True)
class Paced:
    """One wave against a server that paces its tokens. Shares are of reads; `cpu_share` 1.0 is one
    core. `server_late_ms_p99` is how late the server wrote, which is in no error."""

    streams: int
    events_s: float
    cpu_us_per_event: float
    cpu_share: float
    send_lateness_ms_p99: float
    read_lag_ms_p99: float | None
    coalesced_share: float
    kernel_stamp_share: float
    server_late_ms_p99: float
    errors: Errors


@dataclass(frozen=True)
class Calibration:
    """The client's limits on this machine; `flat_out_events_s` is the rate of one process when the
    server does not pause, where events coalesce."""

    paced: tuple[Paced, ...]
    flat_out_events_s: float

    @property
    def cpu_us_per_event(self) -> float:
        """Processor time per event at about one event per read: the least that was seen."""
        return min(one.cpu_us_per_event for one in self.paced)

    @property
    def ceiling_events_s(self) -> float | None:
        """The rate at which that alone would fill a core, never more than was reached flat out; of
        the waves with enough streams, None where there is none."""
        costs = [one.cpu_us_per_event for one in self.paced if one.streams >= CEILING_STREAMS]
        return min(1e6 / min(costs), self.flat_out_events_s) if costs else None


def calibrate(
    seconds: float = 0.7, streams: Sequence[int] = (_STREAMS,), gap_ms: float = _GAP_MS
) -> Calibration:
    """Measure for about `seconds` per number of streams, and the start of two processes.

    Two child processes serve on loopback: one paced (a token every `gap_ms`: 64 streams and 5 ms
    make 12,800 events a second), one flat out (32 streams). Raises EngineFailure.
    """
    timing = Timing(_FIRST_MS, gap_ms, max(10, round(seconds * 1e3 / gap_ms)))
    tokens = max(100, round(seconds * 0.2 * _FLAT_OUT_EVENTS_S / _FLAT_OUT_STREAMS))
    with known_server(timing) as to_paced, known_server(Timing(0, 0, tokens, True)) as to_flat_out:
        steps = tuple(paced(to_paced, timing, count) for count in streams)
        flat = burst(to_flat_out, _FLAT_OUT_STREAMS).client
    return Calibration(steps, flat.events / flat.wall_s)


def paced(endpoint: Endpoint, timing: Timing, streams: int) -> Paced:
    """One wave of `streams` against a server of this timing. Raises EngineFailure."""
    writes_ns(endpoint)
    trace = burst(endpoint, streams)
    written = writes_ns(endpoint)
    client = trace.client
    return Paced(
        streams=streams,
        events_s=client.events / client.wall_s,
        cpu_us_per_event=client.cpu_s / client.events * 1e6,
        cpu_share=client.cpu_share,
        send_lateness_ms_p99=client.send_lateness_ms_p99 or 0.0,
        read_lag_ms_p99=client.read_lag_ms_p99,
        coalesced_share=client.coalesced_reads / client.reads,
        kernel_stamp_share=client.kernel_stamps / client.reads,
        server_late_ms_p99=float(np.percentile(late_ms(written, timing), 99)),
        errors=errors(trace, written),
    )


def writes_ns(endpoint: Endpoint) -> Moments:
    """What a server of known timing did since it was last asked: (requests, 1 + tokens) moments, the
    request's arrival first."""
    connection = http.client.HTTPConnection(endpoint.host, endpoint.port, timeout=_ANSWER_S)
    with closing(connection):
        connection.request("GET", "/writes")
        return np.array(json.load(connection.getresponse()), dtype=np.int64)


def late_ms(written: Moments, timing: Timing) -> NDArray[np.float64]:
    """How late the server wrote each token, (requests, tokens)."""
    told_ms = timing.first_ms + timing.gap_ms * np.arange(written.shape[1] - 1)
    return (written[:, 1:] - written[:, :1]) / 1e6 - told_ms


def burst(endpoint: Endpoint, streams: int) -> CellTrace:
    """One wave against a server of known timing, in moments of its clock. Raises EngineFailure if
    any request failed."""
    asked = Sampling(max_tokens=1)
    body = request_body(endpoint.dialect, "calibration", asked, engine="openai")
    trace = run_cell(target_of(endpoint), [body] * streams, Load("burst"), origin_ns=0)
    if trace.state != "done" or not all(request.ok for request in trace.requests):
        failed = next((one.error for one in trace.requests if one.error), trace.reason)
        raise EngineFailure(f"the client could not be calibrated: {failed}")
    return trace


def errors(trace: CellTrace, written: Moments) -> Errors:
    """Compare a burst, of which every request was answered, with what its server did.

    The requests of one process arrive in the order in which they were sent.
    """
    sent = np.array([one.sent_ns for one in trace.requests], dtype=np.int64)[:, np.newaxis]
    stamps = trace.samples.reshape(len(sent), -1)
    seen = np.hstack([sent, stamps])[np.argsort(sent[:, 0], kind="stable")]
    true = written[np.argsort(written[:, 0], kind="stable")]
    first = (seen[:, 1] - seen[:, 0]) - (true[:, 1] - true[:, 0])
    gaps = np.abs(np.diff(seen[:, 1:]) - np.diff(true[:, 1:]))
    late = seen[:, 1:] - true[:, 1:]
    return Errors(
        *(float(q) for ns in (first, gaps, late) for q in np.percentile(ns, [50, 99]) / 1e6)
    )


@contextmanager
def known_server(timing: Timing) -> Iterator[Endpoint]:
    """A server of known timing in a child process, ended on leaving. Raises EngineFailure.

    It ends when its standard input closes, hence also when this process is killed; and it is
    in a session of its own, so that Ctrl-C reaches it only through us.
    """
    command = [sys.executable, "-P", "-m", "benchspec.load.known_timing", "--until-stdin-closes"]
    command += ["--first-ms", str(timing.first_ms), "--gap-ms", str(timing.gap_ms)]
    command += ["--tokens", str(timing.tokens), "--fail-every", str(timing.fail_every)]
    command += ["--flat-out"] if timing.flat_out else []
    command += ["--fail-silently"] if timing.fail_silently else []
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            port = child.stdout.readline().strip()
            if not port.isdecimal():
                raise EngineFailure("the built-in server of known timing did not start")
            yield Endpoint("127.0.0.1", int(port), False, "", "completions")
        finally:
            child.stdin.close()
