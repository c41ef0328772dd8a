"""What the client can do here and now, measured against a server of known timing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from benchspec.engines.base import Endpoint
from benchspec.errors import EngineFailure
from benchspec.load.clock import now_ns
from benchspec.load.driver import CellTrace, Load, run_cell
from benchspec.load.known_timing import Timing
from benchspec.load.target import Sampling, request_body, target_of

_PACED_STREAMS = 64
_FLAT_OUT_STREAMS = 32
_GAP_MS = 5.0
# Rough event rate of one core when flat out; only the length of the trial depends on it.
_FLAT_OUT_EVENTS_S = 150_000


@dataclass(frozen=True)
class Errors:
    """What the client says minus what the server was told to do, in ms. Absolute for gaps.

    The server's own lateness is in it: an upper bound on the client's error.
    """

    first_token_ms_p50: float
    first_token_ms_p99: float
    gap_ms_p50: float
    gap_ms_p99: float


@dataclass(frozen=True)
class Calibration:
    """The client's limits on this machine.

    `cpu_us_per_event` is processor time per server-sent event at one event per read;
    `ceiling_events_s` is the rate at which that alone would fill one core (never more than what
    was reached flat out); `flat_out_events_s` is the rate when the server does not pause, where
    events coalesce. `kernel_stamp_share` is the share of reads stamped by the kernel.
    """

    cpu_us_per_event: float
    ceiling_events_s: float
    flat_out_events_s: float
    kernel_stamp_share: float
    send_lateness_ms_p99: float
    read_lag_ms_p99: float | None
    errors: Errors


def calibrate(seconds: float = 0.7) -> Calibration:
    """Measure for about `seconds` and the start of two processes. Raises EngineFailure.

    Two child processes serve on loopback: one paced (64 streams, 5 ms apart: 12,800 events a
    second), one flat out (32 streams).
    """
    paced = Timing(first_ms=20.0, gap_ms=_GAP_MS, tokens=max(10, round(seconds * 400 / _GAP_MS)))
    tokens = max(100, round(seconds * 0.2 * _FLAT_OUT_EVENTS_S / _FLAT_OUT_STREAMS))
    with known_server(paced) as to_paced, known_server(Timing(0, 0, tokens, True)) as to_flat_out:
        steady = burst(to_paced, _PACED_STREAMS)
        flat = burst(to_flat_out, _FLAT_OUT_STREAMS)
    per_event_us = steady.client.cpu_s / steady.client.events * 1e6
    flat_out = flat.client.events / flat.client.wall_s
    return Calibration(
        cpu_us_per_event=per_event_us,
        ceiling_events_s=min(1e6 / per_event_us, flat_out),
        flat_out_events_s=flat_out,
        kernel_stamp_share=steady.client.kernel_stamps / steady.client.reads,
        send_lateness_ms_p99=steady.client.send_lateness_ms_p99 or 0.0,
        read_lag_ms_p99=steady.client.read_lag_ms_p99,
        errors=errors(steady, paced),
    )


def burst(endpoint: Endpoint, streams: int) -> CellTrace:
    """One wave against a server of known timing. Raises EngineFailure if any request failed."""
    asked = Sampling(max_tokens=1)
    body = request_body(endpoint.dialect, "calibration", asked, engine="openai")
    trace = run_cell(target_of(endpoint), [body] * streams, Load("burst"), origin_ns=now_ns())
    if trace.state != "done" or not all(request.ok for request in trace.requests):
        failed = next((one.error for one in trace.requests if one.error), trace.reason)
        raise EngineFailure(f"the client could not be calibrated: {failed}")
    return trace


def errors(trace: CellTrace, timing: Timing) -> Errors:
    """Compare a trace with the timing that its server kept to."""
    first = [
        (request.first_token_ns - request.sent_ns) / 1e6 - timing.first_ms
        for request in trace.requests
        if request.first_token_ns is not None and request.sent_ns is not None
    ]
    stamps = [
        trace.samples[request.samples_start :][: request.samples_count]
        for request in trace.requests
    ]
    gaps = np.abs(np.concatenate([np.diff(own) for own in stamps]) / 1e6 - timing.gap_ms)
    return Errors(*map(float, (*np.percentile(first, [50, 99]), *np.percentile(gaps, [50, 99]))))


@contextmanager
def known_server(timing: Timing) -> Iterator[Endpoint]:
    """A server of known timing in a child process, ended on leaving. Raises EngineFailure.

    It ends when its standard input closes, hence also when this process is killed; and it is
    in a session of its own, so that Ctrl-C reaches it only through us.
    """
    command = [sys.executable, "-m", "benchspec.load.known_timing", "--until-stdin-closes"]
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
