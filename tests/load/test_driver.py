"""The driver: how requests are issued, and that every one of them is accounted for."""

from __future__ import annotations

import time

import numpy as np

from benchspec.load.driver import CellTrace, Load, Progress, Stop, run_cell
from benchspec.load.target import Sampling, request_body, target_of
from tests.load.conftest import StartServer


def bodies(count: int, dialect: str = "completions") -> list[bytes]:
    asked = Sampling(max_tokens=8)
    return [request_body(dialect, f"prompt {n}", asked, engine="openai") for n in range(count)]


def assert_conserved(trace: CellTrace, sent: int) -> None:
    """Sent = ok + failed, each request once, each stamp in exactly one request."""
    assert [request.index for request in trace.requests] == list(range(sent))
    assert all(request.ok == (request.error is None) for request in trace.requests)
    assert sum(request.samples_count for request in trace.requests) == len(trace.samples)
    starts = np.cumsum([0, *(request.samples_count for request in trace.requests)])[:-1]
    assert [request.samples_start for request in trace.requests] == starts.tolist()


def test_a_burst_sends_one_request_per_body_and_nothing_after(start_server: StartServer) -> None:
    target = target_of(start_server("--first-ms", "50", "--gap-ms", "5", "--tokens", "8"))
    origin_ns = time.monotonic_ns()
    trace = run_cell(target, bodies(12), Load("burst"), origin_ns=origin_ns)
    assert_conserved(trace, 12)
    assert trace.state == "done"
    assert trace.reason is None
    last_sent = max(request.sent_ns or 0 for request in trace.requests)
    assert all(last_sent < (request.first_token_ns or 0) for request in trace.requests)
    assert {request.completion_tokens for request in trace.requests} == {8}
    assert {request.finish_reason for request in trace.requests} == {"length"}
