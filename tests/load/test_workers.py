"""Several processes send a cell: together they send all of it once, at one moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchspec.errors import EnvironmentFailure
from benchspec.load.arrivals import schedule_ns
from benchspec.load.conversation import Conversation
from benchspec.load.driver import Limits, Load, Progress, Stop
from benchspec.load.known_timing import Timing
from benchspec.load.target import Sampling, request_body, target_of
from benchspec.load.workers import Workers, processes_for, split
from tests.load.conftest import Play, ScriptedServer, StartServer
from tests.load.wire import assert_conserved, bodies


@pytest.fixture
def workers() -> Iterator[Workers]:
    with Workers() as made:
        yield made


def children() -> list[psutil.Process]:
    """Measuring processes of this test that still run."""
    alive = [one for one in psutil.Process().children() if one.status() != psutil.STATUS_ZOMBIE]
    return [one for one in alive if "benchspec.load.worker" in one.cmdline()]


@pytest.mark.parametrize(
    ("events_s", "cores", "processes"),
    [
        (0, 8, 1),
        (1000, 8, 1),
        (1001, 8, 2),
        (4500, 8, 5),
        (90_000, 8, 7),
        (90_000, 2, 1),
        (1, 1, 1),
    ],
)
def test_as_many_as_bear_the_load_and_leave_a_core(
    events_s: float, cores: int, processes: int
) -> None:
    assert processes_for(events_s, 1000.0, cores) == processes


@given(requests=st.integers(0, 50), places=st.integers(1, 20), parts=st.integers(1, 6))
def test_places_and_work_are_dealt_out_completely(requests: int, places: int, parts: int) -> None:
    work = [bytes([number]) for number in range(requests)]
    dealt = split(work, Load("sustained", concurrency=places), min(parts, places))
    assert Counter(one for part, _ in dealt for one in part) == Counter(work)
    shares = [load.concurrency or 0 for _, load in dealt]
    assert sum(shares) == places
    assert max(shares) - min(shares) <= 1


@given(requests=st.integers(0, 50), parts=st.integers(1, 6))
def test_a_schedule_is_dealt_with_its_work(requests: int, parts: int) -> None:
    work = [bytes([number]) for number in range(requests)]
    schedule = [10 * number for number in range(requests)]
    dealt = split(work, Load("open", schedule_ns=schedule), parts)
    pairs = [pair for part, load in dealt for pair in zip(part, load.schedule_ns, strict=True)]
    assert sorted(pairs) == list(zip(work, schedule, strict=True))


@pytest.mark.parametrize("mode", ["burst", "sustained", "open"])
def test_a_cell_of_several_processes_is_a_cell(
    workers: Workers, start_server: StartServer, mode: str
) -> None:
    target = target_of(start_server(Timing(50, 2, 8)))
    loads = {
        "burst": Load("burst"),
        "sustained": Load("sustained", concurrency=5),
        "open": Load("open", schedule_ns=schedule_ns("poisson", 100.0, seed=1, requests=15)),
    }
    origin_ns = time.monotonic_ns()
    trace = workers.run(
        3,
        target,
        bodies(15),
        loads[mode],
        origin_ns=origin_ns,
        limits=Limits(),
        ceiling_events_s=1000.0,
    )
    assert_conserved(trace, 15)
    assert trace.state == "done"
    assert all(one.ok and one.completion_tokens == 8 for one in trace.requests)
    assert trace.client.processes == 3
    assert trace.client.events == 15 * 8
    assert trace.client.ceiling_events_s == 3000.0
    sent = [one.sent_ns or 0 for one in trace.requests]
    assert 0 < trace.started_ns <= min(sent)
    if mode == "open":
        offsets = [(one.scheduled_ns or 0) - trace.started_ns for one in trace.requests]
        assert offsets == sorted(loads[mode].schedule_ns)


def test_all_start_together(workers: Workers, start_server: StartServer) -> None:
    """No process sends before every one has its connections: all requests go out before the first
    answer, which takes longer than the start of a process."""
    target = target_of(start_server(Timing(1500, 1, 2)))
    trace = workers.run(2, target, bodies(6), Load("burst"), origin_ns=0, limits=Limits())
    last_sent = max(one.sent_ns or 0 for one in trace.requests)
    assert all(last_sent < (one.first_token_ns or 0) for one in trace.requests)


def test_conversations_go_to_other_processes(workers: Workers, start_server: StartServer) -> None:
    ask = partial(request_body, "completions", sampling=Sampling(4), engine="openai")
    work = [Conversation((f"{n}a", f"{n}b"), ask) for n in range(4)]
    load = Load("sustained", concurrency=2)
    target = target_of(start_server(Timing(5, 1, 4)))
    trace = workers.run(2, target, work, load, origin_ns=0, limits=Limits())
    assert sorted(one.turn or 0 for one in trace.requests) == [1] * 4 + [2] * 4
    assert all(one.ok for one in trace.requests)


def test_progress_is_that_of_all(workers: Workers, start_server: StartServer) -> None:
    target = target_of(start_server(Timing(400, 1, 4)))
    told: list[Progress] = []
    load = Load("sustained", concurrency=2)
    workers.run(2, target, bodies(4), load, origin_ns=0, limits=Limits(), on_progress=told.append)
    assert told[-1].planned == 4
    assert max(one.sent for one in told) >= 2


def test_a_failing_server_fails_the_cell(workers: Workers, play: Play) -> None:
    server = play(lambda conn: conn.sendall(b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"))
    trace = workers.run(
        2, target_of(server.endpoint), bodies(4), Load("burst"), origin_ns=0, limits=Limits()
    )
    assert_conserved(trace, 4)
    assert trace.state == "failed"


@pytest.mark.parametrize("interrupts", [1, 2])
def test_interrupts_reach_every_process(play: Play, interrupts: int) -> None:
    server: ScriptedServer = play(lambda conn: server.hang())
    stop = Stop()

    def interrupt(progress: Progress) -> None:
        while progress.sent == 2 and stop.level < interrupts:
            signal.raise_signal(signal.SIGINT)

    with Workers() as made:
        trace = made.run(
            2,
            target_of(server.endpoint),
            bodies(4),
            Load("sustained", concurrency=2),
            origin_ns=0,
            limits=Limits(drain_s=0.2 if interrupts == 1 else 1000.0),
            on_progress=interrupt,
            stop=stop,
        )
    assert trace.state == "aborted"
    assert {one.error for one in trace.requests} == {"interrupted before it was finished"}
    assert not children()


def test_an_interrupt_before_the_start_ends_a_cell_without_requests(play: Play) -> None:
    stop = Stop()
    stop.request()
    server: ScriptedServer = play(lambda conn: server.hang())
    with Workers() as made:
        trace = made.run(
            2,
            target_of(server.endpoint),
            bodies(2),
            Load("burst"),
            origin_ns=0,
            limits=Limits(),
            stop=stop,
        )
        assert (trace.state, trace.requests) == ("aborted", [])
    assert not children()


def test_a_process_that_is_killed_is_an_environment_failure(play: Play) -> None:
    server: ScriptedServer = play(lambda conn: server.hang())

    def kill(_: Progress) -> None:
        os.kill(children()[0].pid, signal.SIGKILL)

    with Workers() as made, pytest.raises(EnvironmentFailure, match="measuring process ended"):
        made.run(
            2,
            target_of(server.endpoint),
            bodies(2),
            Load("burst"),
            origin_ns=0,
            limits=Limits(),
            on_progress=kill,
        )
    assert not children()


def test_a_process_that_breaks_says_why(workers: Workers, play: Play) -> None:
    server = play(lambda conn: None)
    nonsense: list[Any] = [1, 2]
    with pytest.raises(EnvironmentFailure, match=r"measuring process ended .*Error: "):
        workers.run(
            2,
            target_of(server.endpoint),
            nonsense,
            Load("burst"),
            origin_ns=0,
            limits=Limits(),
        )


def test_processes_are_kept_for_the_next_cell_and_end_with_the_block(
    start_server: StartServer,
) -> None:
    target = target_of(start_server(Timing(5, 1, 4)))
    with Workers() as made:
        for _ in range(2):
            made.run(2, target, bodies(4), Load("burst"), origin_ns=0, limits=Limits())
            seen = {one.pid for one in children()}
            assert len(seen) == 2
        assert {one.pid for one in children()} == seen
    assert not children()


STARTER = """
import time
from benchspec.load.workers import Workers
with Workers() as workers:
    workers.start(2)
    print("started", flush=True)
    time.sleep(60)
"""


def test_no_process_outlives_the_one_that_started_it() -> None:
    with subprocess.Popen([sys.executable, "-c", STARTER], stdout=subprocess.PIPE) as starter:
        assert starter.stdout is not None
        starter.stdout.readline()
        theirs = psutil.Process(starter.pid).children()
        assert len(theirs) == 2
        starter.kill()
    gone, alive = psutil.wait_procs(theirs, timeout=60)
    assert (len(gone), alive) == (2, [])
