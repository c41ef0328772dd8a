"""The server of known timing, and what is derived from running against it."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.error
import urllib.request
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray

from benchspec.load.calibration import (
    burst,
    calibrate,
    errors,
    late_ms,
    writes_ns,
)
from benchspec.load.driver import Load
from benchspec.load.known_timing import Timing
from benchspec.load.target import target_of
from benchspec.load.timer import Timer
from benchspec.load.trace import CellTrace
from benchspec.run.resolved import calibration_data
from benchspec.store.records import ClientRecord, RequestRecord
from tests.load.conftest import StartServer
from tests.load.wire import LOOPS, LoopFactory, bodies, run

_CLOCKS_MS = 0.5
"""The kernel stamps on another clock: between the two readings that compare them a process may wait."""


@pytest.mark.parametrize("dialect", ["completions", "chat"])
def test_it_never_answers_early_and_counts_its_tokens(
    start_server: StartServer, dialect: str
) -> None:
    timing = Timing(first_ms=40.0, gap_ms=5.0, tokens=12)
    endpoint = start_server(timing, dialect)
    trace = run(target_of(endpoint), Load("burst"), bodies(3, dialect))
    for request in trace.requests:
        assert request.error is None
        assert request.completion_tokens == request.samples_count == 12
        own = trace.samples[request.samples_start :][:12]
        since_sent_ms = (own - (request.sent_ns or 0)) / 1e6
        due_ms = [40.0 + 5.0 * number - _CLOCKS_MS for number in range(12)]
        assert all(since_sent_ms >= due_ms)


def test_flat_out_sends_everything(start_server: StartServer) -> None:
    endpoint = start_server(Timing(0.0, 0.0, 3000, flat_out=True))
    trace = burst(endpoint, 4)
    assert len(trace.samples) == 4 * 3000
    assert trace.client.reads < trace.client.events


def test_every_nth_request_fails_where_asked(start_server: StartServer) -> None:
    endpoint = start_server(Timing(1.0, 1.0, 5, fail_every=3))
    trace = run(target_of(endpoint), Load("sustained", concurrency=1), bodies(6))
    assert [request.ok for request in trace.requests] == [True, True, False] * 2
    assert trace.requests[2].error == (
        "the server answered HTTP 500 Internal Server Error: on purpose"
    )


def test_it_answers_like_an_engine(start_server: StartServer) -> None:
    endpoint = start_server(Timing(1.0, 1.0, 5))

    def get(path: str) -> dict[str, object]:
        with urllib.request.urlopen(f"http://127.0.0.1:{endpoint.port}{path}") as answer:
            found: dict[str, object] = json.load(answer)
            return found

    assert get("/health") == {"status": "ok"}
    assert get("/v1/models")["object"] == "list"
    with pytest.raises(urllib.error.HTTPError, match="404"):
        get("/v1/anything")


def test_it_tells_when_it_wrote(start_server: StartServer) -> None:
    timing = Timing(30.0, 4.0, 6)
    endpoint = start_server(timing)
    trace = burst(endpoint, 3)
    written = writes_ns(endpoint)
    assert written.shape == (3, 7)
    assert (late_ms(written, timing) >= 0).all()
    ends = [one.end_ns for one in trace.requests if one.end_ns is not None]
    assert min(one.sent_ns or 0 for one in trace.requests) <= written.min()
    assert written.max() <= max(ends)
    assert writes_ns(endpoint).size == 0


def test_errors_are_what_the_client_says_minus_what_the_server_did() -> None:
    """Two requests sent at 0 and 10 ms, in the order in which they arrived 1 ms later."""
    written = ms([[11, 111, 131, 151], [1, 101, 121, 141]])
    requests = [RequestRecord(index=n, sent_ns=10 * n * MS) for n in range(2)]
    samples = ms([[101, 122, 142], [113, 131, 151]]).ravel()
    client = ClientRecord(
        cpu_s=0, wall_s=0, cpu_share=0, events=6, reads=6, kernel_stamps=6, coalesced_reads=0
    )
    found = errors(CellTrace(requests, samples, client, 0, 0, "done", None), written)
    assert found.first_token_ms_p50 == 2.0  # 101 and 103 ms, where it was 100
    assert found.first_token_ms_p99 == pytest.approx(2.98)
    assert found.gap_ms_p50 == 0.5  # off by 1, 0, 2 and 0 ms
    assert found.stamp_ms_p50 == 0.5  # late by 0, 1, 1, 2, 0 and 0 ms


MS = 1_000_000


def ms(moments: list[list[int]]) -> NDArray[np.int64]:
    return np.array(moments, dtype=np.int64) * MS


def test_a_ceiling_is_that_of_the_waves_with_enough_streams() -> None:
    found = calibrate(0.2, [16])
    (full,) = found.paced
    # A wave of few streams may look cheaper or dearer; neither moves the ceiling.
    for cost in (0.1, 1e3):
        few = replace(full, streams=15, cpu_us_per_event=cost)
        assert replace(found, paced=(few, full)).ceiling_events_s == found.ceiling_events_s
        alone = replace(found, paced=(few,))
        assert alone.ceiling_events_s is None
        assert "ceiling_events_s" not in calibration_data(alone)
    assert calibration_data(found)["ceiling_events_s"] == found.ceiling_events_s


def test_calibration_measures_here_and_now() -> None:
    found = calibrate(0.2, [2, 16])
    assert [one.streams for one in found.paced] == [2, 16]
    assert found.ceiling_events_s is not None
    assert 0 < found.ceiling_events_s <= found.flat_out_events_s
    assert found.ceiling_events_s <= 1e6 / found.cpu_us_per_event
    for one in found.paced:
        assert one.cpu_us_per_event >= found.cpu_us_per_event > 0
        assert 0 <= one.coalesced_share <= 1
        assert 0 <= one.kernel_stamp_share <= 1
        assert one.errors.first_token_ms_p50 <= one.errors.first_token_ms_p99
        assert one.events_s <= one.streams * 200


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
@pytest.mark.parametrize("fine", [True, False], ids=["timerfd", "call_later"])
def test_a_timer_fires_in_order_and_never_early(
    loop: LoopFactory, fine: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not fine:
        monkeypatch.setattr("benchspec.load.timer.sys.platform", "other")

    async def wake() -> list[tuple[int, int]]:
        timer = Timer()
        base = time.monotonic_ns()
        dues = [base + offset for offset in (30_000_000, 10_300_000, 20_700_000, 10_300_000, -5)]
        woken: list[tuple[int, int]] = []

        def note(due: int) -> None:
            woken.append((due, time.monotonic_ns()))

        for due in dues:
            timer.call_at(due, partial(note, due))
        await timer.until(max(dues))
        timer.close()
        assert [due for due, _ in woken] == sorted(dues)
        return woken

    with asyncio.Runner(loop_factory=loop) as runner:
        assert all(due <= moment for due, moment in runner.run(wake()))
