"""The driver: how requests are issued, and that every one of them is accounted for."""

from __future__ import annotations

import signal
import socket
import sys
import time

import pytest

from benchspec.load.arrivals import schedule_ns
from benchspec.load.driver import Limits, Load, Progress, Stop, run_cell
from benchspec.load.known_timing import Timing
from benchspec.load.target import target_of
from tests.load.conftest import Play, ScriptedServer, StartServer
from tests.load.wire import GOOD, assert_conserved, bodies, run


def test_a_burst_sends_one_request_per_body_and_nothing_after(start_server: StartServer) -> None:
    target = target_of(start_server(Timing(300, 5, 8)))
    origin_ns = time.monotonic_ns()
    trace = run_cell(target, bodies(12), Load("burst"), origin_ns=origin_ns)
    assert_conserved(trace, 12)
    assert trace.state == "done"
    assert trace.reason is None
    last_sent = max(request.sent_ns or 0 for request in trace.requests)
    assert all(last_sent < (request.first_token_ns or 0) for request in trace.requests)
    assert {request.completion_tokens for request in trace.requests} == {8}
    assert {request.finish_reason for request in trace.requests} == {"length"}


def test_sustained_keeps_the_number_in_flight(start_server: StartServer) -> None:
    target = target_of(start_server(Timing(20, 2, 4)))
    trace = run(target, Load("sustained", concurrency=3), bodies(12))
    assert_conserved(trace, 12)
    assert trace.state == "done"
    edges = sorted(
        edge
        for request in trace.requests
        for edge in ((request.sent_ns or 0, 1), (request.end_ns or 0, -1))
    )
    in_flight = [sum(step for _, step in edges[: n + 1]) for n in range(len(edges))]
    assert max(in_flight) == 3


def test_sustained_ends_after_its_duration(start_server: StartServer) -> None:
    target = target_of(start_server(Timing(20, 2, 4)))
    endless = (bodies(1)[0] for _ in iter(int, 1))
    trace = run(target, Load("sustained", concurrency=2, duration_s=0.3), endless)
    assert_conserved(trace, len(trace.requests))
    assert trace.state == "done"
    last_sent_ns = max(request.sent_ns or 0 for request in trace.requests)
    assert last_sent_ns < trace.started_ns + 30e9
    # Nothing begins after 0.3 s; the answer that is read then may have been stamped a cycle before.
    assert trace.ended_ns > trace.started_ns + 0.2e9


@pytest.mark.parametrize("promise", [b"", b"Connection: close\r\n", b"Keep-Alive: timeout=5\r\n"])
def test_a_server_that_closes_after_each_answer_loses_nothing(play: Play, promise: bytes) -> None:
    """llama.cpp promises to keep the connection and closes it all the same."""
    answer = GOOD.replace(b"\r\n", b"\r\n" + promise, 1)
    server = play(lambda conn: conn.sendall(answer))
    trace = run(target_of(server.endpoint), Load("sustained", concurrency=2), bodies(6))
    assert all(request.ok for request in trace.requests)
    assert server.accepted == 6


@pytest.mark.parametrize(
    "load",
    [
        Load("sustained", concurrency=2, connections="kept"),
        Load("open", schedule_ns=[n * 300_000_000 for n in range(4)], connections="kept"),
    ],
    ids=lambda load: load.mode,
)
def test_connections_are_kept_where_asked(play: Play, load: Load) -> None:
    def script(conn: socket.socket) -> None:
        conn.sendall(GOOD)
        while server.read_request(conn):
            conn.sendall(GOOD)

    server: ScriptedServer = play(script)
    trace = run(target_of(server.endpoint), load, bodies(4))
    assert all(request.ok for request in trace.requests)
    assert server.accepted < len(server.requests) == 4


def test_an_open_loop_sends_at_the_scheduled_moments(start_server: StartServer) -> None:
    target = target_of(start_server(Timing(50, 5, 4)))
    schedule = schedule_ns("poisson", 100.0, seed=1, requests=20)
    trace = run(target, Load("open", schedule_ns=schedule), bodies(20))
    assert_conserved(trace, 20)
    assert trace.state == "done"
    offsets = [(request.scheduled_ns or 0) - trace.started_ns for request in trace.requests]
    assert offsets == schedule
    assert all((one.sent_ns or 0) >= (one.scheduled_ns or 0) for one in trace.requests)


def test_an_open_loop_does_not_wait_for_answers(start_server: StartServer) -> None:
    target = target_of(start_server(Timing(400, 1, 2)))
    schedule = schedule_ns("constant", 200.0, seed=1, requests=20)
    trace = run(target, Load("open", schedule_ns=schedule), bodies(20))
    assert max(one.sent_ns or 0 for one in trace.requests) < min(
        one.first_token_ns or 0 for one in trace.requests
    )


def test_a_request_to_stop_drains_what_is_in_flight(start_server: StartServer) -> None:
    target = target_of(start_server(Timing(600, 1, 4)))
    stop = Stop()
    load = Load("sustained", concurrency=2)
    trace = run_cell(
        target, bodies(50), load, origin_ns=0, stop=stop, on_progress=lambda _: stop.request()
    )
    assert trace.state == "aborted"
    assert trace.reason == "it was interrupted"


def stop_during(progress_calls: int, play: Play, limits: Limits) -> tuple[int, list[str | None]]:
    """Interrupt a cell whose server never answers; the requests sent and their errors."""
    server: ScriptedServer = play(lambda conn: server.hang())
    interrupts = iter(range(progress_calls))

    def interrupt(progress: Progress) -> None:
        if progress.sent == 2 and next(interrupts, None) is not None:
            signal.raise_signal(signal.SIGINT)

    load = Load("sustained", concurrency=2)
    before = signal.getsignal(signal.SIGINT)
    trace = run_cell(
        target_of(server.endpoint),
        bodies(9),
        load,
        origin_ns=time.monotonic_ns(),
        limits=limits,
        on_progress=interrupt,
    )
    assert signal.getsignal(signal.SIGINT) is before
    assert_conserved(trace, 2)
    assert trace.state == "aborted"
    return len(trace.requests), [request.error for request in trace.requests]


def test_draining_has_a_deadline(play: Play) -> None:
    sent, errors = stop_during(1, play, Limits(drain_s=0.2))
    assert errors == ["interrupted before it was finished"] * sent


def test_a_second_interrupt_ends_at_once(play: Play) -> None:
    sent, errors = stop_during(2, play, Limits(drain_s=1000.0))
    assert errors == ["interrupted before it was finished"] * sent


def test_an_interrupted_open_loop_sends_nothing_more(start_server: StartServer) -> None:
    target = target_of(start_server(Timing(10, 1, 2)))
    stop = Stop()
    trace = run_cell(
        target,
        bodies(1000),
        Load("open", schedule_ns=schedule_ns("constant", 20.0, seed=1, requests=1000)),
        origin_ns=0,
        stop=stop,
        on_progress=lambda progress: stop.request() if progress.sent >= 2 else None,
    )
    assert trace.state == "aborted"
    assert 2 <= len(trace.requests) < 100
    assert all(request.ok for request in trace.requests)


def test_the_client_accounts_for_itself(start_server: StartServer) -> None:
    endpoint = start_server(Timing(20, 4, 16), "chat")
    trace = run_cell(
        target_of(endpoint), bodies(4, "chat"), Load("burst"), origin_ns=0, ceiling_events_s=7e4
    )
    client = trace.client
    assert client.events == len(trace.samples) == 64
    assert client.reads >= client.kernel_stamps
    assert client.processes == 1
    assert client.ceiling_events_s == 7e4
    assert client.cpu_s > 0
    assert client.send_lateness_ms_p50 is not None
    assert client.send_lateness_ms_p50 >= 0


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's stamps are Linux's")
def test_every_read_on_loopback_is_stamped_by_the_kernel(start_server: StartServer) -> None:
    target = target_of(start_server(Timing(20, 4, 16)))
    client = run(target, Load("burst"), bodies(4)).client
    assert client.stamp_source == "kernel"
    assert client.reads == client.kernel_stamps > 0
    assert client.read_lag_ms_p99 is not None
    assert client.read_lag_ms_p99 >= 0


def test_answers_beyond_the_memory_bound_are_read_as_they_end(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchspec.load.cell._RETAINED_BYTES", 0)
    trace = run(target_of(start_server(Timing(10, 1, 4))), Load("burst"), bodies(3))
    assert_conserved(trace, 3)
    assert [request.samples_count for request in trace.requests] == [4, 4, 4]


@pytest.mark.parametrize("retained", [0, 2**20])
def test_texts_are_measured_and_the_first_answers_can_be_compared(
    retained: int, start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchspec.load.cell._RETAINED_BYTES", retained)
    monkeypatch.setattr("benchspec.load.cell._COMPARED", 2)
    sent = bodies(4)
    trace = run(target_of(start_server(Timing(10, 1, 40))), Load("sustained", 1), sent)
    assert all(one.text and one.text.chars > 40 for one in trace.requests)
    first = trace.requests[:2]
    assert len({one.prompt_sha256 for one in first}) == 2
    assert all(one.output_prefixes for one in first)
    assert all((r.prompt_sha256, r.output_prefixes) == (None, None) for r in trace.requests[2:])


def test_an_answer_in_crumbs_is_the_same_answer(play: Play) -> None:
    def script(conn: socket.socket) -> None:
        conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for start in range(0, len(GOOD), 7):
            conn.sendall(GOOD[start : start + 7])

    whole, crumbs = (
        run(target_of(play(served).endpoint), Load("burst"), bodies(1)).requests[0]
        for served in (lambda conn: conn.sendall(GOOD), script)
    )
    assert crumbs.error is None
    assert crumbs.output_sha256 == whole.output_sha256
    assert (crumbs.samples_count, crumbs.prompt_tokens, crumbs.completion_tokens) == (2, 5, 2)


def test_nothing_to_send_is_a_failed_cell(start_server: StartServer) -> None:
    trace = run(target_of(start_server(Timing())), Load("burst"), [])
    assert (trace.state, trace.reason) == ("failed", "there was nothing to send")
    assert len(trace.samples) == 0
