"""Conversations: every turn carries what was said before it, and every turn is accounted for."""

from __future__ import annotations

import json
import socket
from functools import partial
from typing import Any

import pytest

from benchspec.load.conversation import Conversation
from benchspec.load.driver import Load
from benchspec.load.known_timing import Timing
from benchspec.load.target import Sampling, request_body, target_of
from tests.load.conftest import Play, ScriptedServer, StartServer
from tests.load.wire import DONE, assert_conserved, delta, run, stream, text, usage

LOADS = [
    Load("sustained", concurrency=2),
    Load("sustained", concurrency=2, connections="kept"),
    Load("open", schedule_ns=[0, 50_000_000]),
]


def conversation(name: str, turns: int, dialect: str) -> Conversation:
    prompts = tuple(f"{name}{turn}" for turn in range(1, turns + 1))
    body = partial(request_body, dialect, sampling=Sampling(8), engine="openai")
    return Conversation(prompts, body)


def answering(play: Play, *answers: bytes) -> ScriptedServer:
    """Gives one of these answers per connection or request, in turn, and the last from then on."""

    def script(conn: socket.socket) -> None:
        conn.sendall(answers[min(len(server.requests), len(answers)) - 1])
        if server.read_request(conn):
            script(conn)

    server: ScriptedServer = play(script)
    return server


def bodies_of(server: ScriptedServer) -> list[dict[str, Any]]:
    return [json.loads(request.partition(b"\r\n\r\n")[2]) for request in server.requests]


COMPLETION = stream(text("yes"), text("", "length"), usage(5, 2), DONE)
CHAT = stream(
    delta(role="assistant", content=""),
    delta(reasoning_content="hm"),
    delta(content="yes"),
    delta("length"),
    usage(5, 2),
    DONE,
)


@pytest.mark.parametrize("load", LOADS, ids=lambda load: f"{load.mode}-{load.connections}")
def test_a_turn_carries_the_turns_before_it(play: Play, load: Load) -> None:
    server = answering(play, COMPLETION)
    trace = run(target_of(server.endpoint), load, [conversation(n, 3, "completions") for n in "ab"])
    assert_conserved(trace, 6)
    assert trace.state == "done"
    assert sorted(one.turn or 0 for one in trace.requests) == [1, 1, 2, 2, 3, 3]
    prompts = {body["prompt"] for body in bodies_of(server)}
    assert {"a1", "a1yes\n\na2", "a1yes\n\na2yes\n\na3"} < prompts


def test_in_a_chat_the_roles_alternate_and_thoughts_are_not_carried_on(play: Play) -> None:
    server = answering(play, CHAT)
    target = target_of(server.endpoint)
    run(target, Load("sustained", concurrency=1), [conversation("a", 2, "chat")])
    assert bodies_of(server)[1]["messages"] == [
        {"role": "user", "content": "a1"},
        {"role": "assistant", "content": "yes"},
        {"role": "user", "content": "a2"},
    ]


def test_half_a_character_is_carried_on_as_a_question_mark(play: Play) -> None:
    broken = stream(text("\ud83d"), text("", "length"), DONE)
    server = answering(play, broken)
    work = [conversation("a", 2, "completions")]
    run(target_of(server.endpoint), Load("sustained", concurrency=1), work)
    assert bodies_of(server)[1]["prompt"] == "a1?\n\na2"


def test_after_a_failed_turn_the_rest_are_failed_requests(play: Play) -> None:
    refusal = b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"
    server = answering(play, COMPLETION, refusal, COMPLETION)
    work = [conversation("a", 4, "completions"), conversation("b", 1, "completions")]
    trace = run(target_of(server.endpoint), Load("sustained", concurrency=1), work)
    assert_conserved(trace, 5)
    assert [(one.turn, one.ok) for one in trace.requests] == [
        (1, True),
        (2, False),
        (3, False),
        (4, False),
        (1, True),
    ]
    assert trace.requests[3].error == "not sent: an earlier turn of its conversation failed"
    assert trace.requests[3].sent_ns is None
    assert len(server.requests) == 3


def test_only_first_turns_arrive_by_the_schedule(start_server: StartServer) -> None:
    target = target_of(start_server(Timing(20, 1, 4)))
    work = [conversation(str(n), 2, "completions") for n in range(3)]
    schedule = [n * 100_000_000 for n in range(3)]
    trace = run(target, Load("open", schedule_ns=schedule), work)
    assert all((one.scheduled_ns is None) == (one.turn == 2) for one in trace.requests)
    first = [one.sent_ns or 0 for one in trace.requests if one.turn == 1]
    assert trace.sent_per_s == pytest.approx(2e9 / (max(first) - min(first)))


def test_a_conversation_does_not_outlast_the_step(start_server: StartServer) -> None:
    target = target_of(start_server(Timing(50, 1, 2)))
    load = Load("sustained", concurrency=1, duration_s=2.0)
    trace = run(target, load, [conversation("a", 1000, "completions")])
    assert trace.state == "done"
    assert 1 < len(trace.requests) < 1000
    assert all(one.ok for one in trace.requests)
