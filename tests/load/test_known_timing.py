"""The server of known timing, and what is derived from running against it."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.error
import urllib.request
from functools import partial

import pytest

from benchspec.load.calibration import burst, calibrate, errors, known_server
from benchspec.load.driver import Load
from benchspec.load.known_timing import Timing
from benchspec.load.target import target_of
from benchspec.load.timer import Timer
from tests.load.conftest import StartServer
from tests.load.wire import LOOPS, LoopFactory, bodies, run


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
        assert all(since_sent_ms >= [40.0 + 5.0 * number for number in range(12)])


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


def test_health_lateness_and_nothing_else(start_server: StartServer) -> None:
    endpoint = start_server(Timing(1.0, 1.0, 5))
    burst(endpoint, 2)

    def get(path: str) -> dict[str, object]:
        with urllib.request.urlopen(f"http://127.0.0.1:{endpoint.port}{path}") as answer:
            found: dict[str, object] = json.load(answer)
            return found

    assert get("/health") == {"status": "ok"}
    assert get("/v1/models")["object"] == "list"
    assert set(get("/lateness")) == {"first_p50", "first_p99", "all_p50", "all_p99"}
    assert get("/lateness") == {}
    with pytest.raises(urllib.error.HTTPError, match="404"):
        get("/v1/anything")


def test_errors_are_measured_minus_told() -> None:
    timing = Timing(first_ms=30.0, gap_ms=4.0, tokens=6)
    with known_server(timing) as endpoint:
        trace = burst(endpoint, 2)
    exact = errors(trace, timing)
    shifted = errors(trace, Timing(first_ms=10.0, gap_ms=4.0, tokens=6))
    assert shifted.first_token_ms_p50 == pytest.approx(exact.first_token_ms_p50 + 20.0)
    assert exact.first_token_ms_p50 >= 0
    assert exact.gap_ms_p50 >= 0


def test_calibration_measures_here_and_now() -> None:
    found = calibrate(0.2, [2, 5])
    assert [one.streams for one in found.paced] == [2, 5]
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
