"""What servers do wrong: each becomes a failed request with one bounded sentence."""

from __future__ import annotations

import re
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from benchspec.load.driver import Limits, Load
from benchspec.load.target import target_of
from benchspec.store.records import RequestRecord
from tests.load.conftest import Play, ScriptedServer
from tests.load.wire import (
    CHUNKED_HEAD,
    GOOD,
    LOOPS,
    STREAM_HEAD,
    LoopFactory,
    assert_conserved,
    bodies,
    chunked,
    delta,
    event,
    run,
    stream,
    text,
)

SMALL = Limits(header_bytes=4096, line_bytes=2000, response_bytes=50_000)
SHORT = replace(SMALL, first_byte_s=0.3, idle_s=0.3, total_s=1.0)
Behave = Callable[[ScriptedServer, socket.socket], None]


def answers(data: bytes) -> Behave:
    """Send this and close."""

    def behave(server: ScriptedServer, conn: socket.socket) -> None:
        conn.sendall(data)

    return behave


def answers_and_hangs(data: bytes) -> Behave:
    def behave(server: ScriptedServer, conn: socket.socket) -> None:
        conn.sendall(data)
        server.hang()

    return behave


def resets_after(data: bytes) -> Behave:
    def behave(server: ScriptedServer, conn: socket.socket) -> None:
        conn.sendall(data)
        conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return behave


def drips(head: bytes, drop: bytes) -> Behave:
    def behave(server: ScriptedServer, conn: socket.socket) -> None:
        conn.sendall(head)
        while True:
            conn.sendall(drop)
            time.sleep(0.05)

    return behave


def http(status: str, kind: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


LONG = b"x" * 100_000
BEGUN = CHUNKED_HEAD + chunked(text("one"), text(" two"))

FAULTS: dict[str, tuple[Behave, str]] = {
    "HTTP 500 with a JSON error": (
        answers(
            http("500 Oops", "application/json", b'{"error":{"message":"out of\\u001b memory"}}')
        ),
        r"the server answered HTTP 500 Internal Server Error: out of memory$",
    ),
    "HTTP 400 with a plain string": (
        answers(http("400 Bad", "application/json", b'{"error":"no such field"}')),
        r"the server answered HTTP 400 Bad Request: no such field$",
    ),
    "HTTP 503 with a page": (
        answers(http("503 No", "text/html", b"<html>\r\n<b>busy</b>" + LONG[:9000])),
        r"HTTP 503 Service Unavailable: <html> <b>busy</b>x+…$",
    ),
    "a page instead of a stream": (
        answers(http("200 OK", "text/html", b"<!doctype html>\n<h1>Welcome</h1>")),
        r"did not stream: text/html, <!doctype html> <h1>Welcome</h1>$",
    ),
    "one JSON document instead of a stream": (
        answers(http("200 OK", "application/json", b'{"choices": [{"text": "hello"}]}')),
        r"did not stream: application/json, ",
    ),
    "an empty body": (answers(stream()), r"did not stream: text/event-stream, an empty body$"),
    "an event that is not JSON": (
        answers(stream(text("one"), b"data: {oops\n\n")),
        r"event 2 of the stream is not JSON: \{oops$",
    ),
    "an event that is nested too deep": (
        answers(stream(b"data: " + b"[" * 1900 + b"\n\n")),
        r"event 1 of the stream is not (JSON|an object)",
    ),
    "an event that is not an object": (
        answers(stream(b"data: 17\n\n")),
        r"event 1 of the stream is not an object$",
    ),
    "an error in the stream": (
        answers(stream(text("one"), event({"error": {"message": "the context is full"}}))),
        r"reported an error in the stream: the context is full$",
    ),
    "an error event": (
        answers(stream(b'event: error\ndata: {"message": "shutting down"}\n\n')),
        r"reported an error in the stream: shutting down$",
    ),
    "no token": (
        answers(stream(delta(role="assistant", content=""), delta("stop"))),
        r"held no generated text$",
    ),
    "no end": (answers(stream(text("one"), text(" two"))), r"ended early: no finish reason"),
    "closed in the middle": (answers(BEGUN), r"closed the connection before the end"),
    "closed in the middle of an event": (
        answers(BEGUN + b"40\r\ndata: {"),
        r"closed the connection before the end",
    ),
    "closed without a word": (answers(b""), r"closed the connection without an answer$"),
    "reset in the middle": (resets_after(BEGUN), r"(reset|closed the connection before the end)"),
    "reset without a word": (resets_after(b""), r"(reset|closed the connection without)"),
    "not HTTP": (answers(b"SSH-2.0-OpenSSH_9.9\r\n"), r"not valid HTTP .*: SSH-2.0-OpenSSH_9.9$"),
    "a header without end": (
        drips(b"HTTP/1.1 200 OK\r\nX: ", LONG[:3000]),
        r"header of the server's answer is too large$",
    ),
    "an answer without end": (
        drips(CHUNKED_HEAD, chunked(text("x" * 1000)) * 20),
        r"answer is longer than 50000 bytes$",
    ),
    "a line without end": (
        answers(stream(b"data: " + LONG[:3000] + b"\n\n")),
        r"line of the stream is longer than 2000 bytes$",
    ),
    "another protocol": (
        answers(b"HTTP/1.1 101 Go\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\0"),
        r"the server answered HTTP 101 Switching Protocols$",
    ),
}


SILENCES: dict[str, tuple[Behave, str]] = {
    "stops streaming": (answers_and_hangs(BEGUN), r"stream stopped: nothing came for 0\.3 s$"),
    "stops in the header": (
        answers_and_hangs(b"HTTP/1.1 200 OK\r\nContent-"),
        r"stream stopped: nothing came for 0\.3 s$",
    ),
    "never answers": (answers_and_hangs(b""), r"no answer within 0\.3 s$"),
    "keeps alive for ever": (
        drips(CHUNKED_HEAD, chunked(b": keep-alive\n\n")),
        r"not finished within 1 s$",
    ),
}


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
@pytest.mark.parametrize(("behave", "sentence"), FAULTS.values(), ids=FAULTS)
def test_a_fault_becomes_a_failed_request(
    play: Play, behave: Behave, sentence: str, loop: LoopFactory
) -> None:
    assert_all_fail(play, behave, sentence, SMALL, loop)


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
@pytest.mark.parametrize(("behave", "sentence"), SILENCES.values(), ids=SILENCES)
def test_silence_ends_at_its_limit(
    play: Play, behave: Behave, sentence: str, loop: LoopFactory
) -> None:
    assert_all_fail(play, behave, sentence, SHORT, loop)


def assert_all_fail(
    play: Play, behave: Behave, sentence: str, limits: Limits, loop: LoopFactory
) -> None:
    server: ScriptedServer = play(lambda conn: behave(server, conn))
    trace = run(target_of(server.endpoint), Load("burst"), bodies(2), limits, loop)
    assert_conserved(trace, 2)
    assert trace.state == "failed"
    for request in trace.requests:
        assert_failed(request, sentence)


def assert_failed(request: RequestRecord, sentence: str) -> None:
    assert request.error is not None
    assert re.search(sentence, request.error), request.error
    assert len(request.error) < 300
    assert request.error.isprintable()
    assert request.end_ns is not None


def test_tokens_before_a_failure_are_kept(play: Play) -> None:
    server = play(lambda conn: conn.sendall(BEGUN))
    trace = run(target_of(server.endpoint), Load("burst"), bodies(1), SMALL)
    assert trace.requests[0].samples_count == 2
    assert not trace.requests[0].ok


def test_a_refused_connection_is_a_failed_request(play: Play) -> None:
    server = play(lambda conn: None)
    server.close()
    trace = run(target_of(server.endpoint), Load("burst"), bodies(3), SMALL)
    assert_conserved(trace, 3)
    assert {request.sent_ns for request in trace.requests} == {None}
    assert_failed(trace.requests[0], r"could not connect to 127\.0\.0\.1:\d+: connection refused$")


def test_a_name_without_address_is_a_failed_request(play: Play) -> None:
    target = replace(target_of(play(lambda conn: None).endpoint), host="no-such-host.invalid")
    trace = run(target, Load("burst"), bodies(1), SMALL)
    assert_failed(trace.requests[0], r"could not connect to no-such-host\.invalid:\d+: ")


def test_one_failure_leaves_the_others_alone(play: Play) -> None:
    def script(conn: socket.socket) -> None:
        failing = b"prompt 1" in server.requests[-1]
        conn.sendall(http("500 Oops", "text/plain", b"no") if failing else GOOD)

    server = play(script)
    load = Load("sustained", concurrency=1)
    trace = run(target_of(server.endpoint), load, bodies(3), SMALL)
    assert_conserved(trace, 3)
    assert [request.ok for request in trace.requests] == [True, False, True]
    assert trace.state == "done"


def test_a_dead_server_ends_a_sustained_cell(play: Play) -> None:
    """Not one failed record per microsecond until the duration is over."""
    server = play(lambda conn: conn.sendall(GOOD))
    server.close()
    load = Load("sustained", concurrency=2, duration_s=60.0)
    trace = run(target_of(server.endpoint), load, iter(bodies(100_000)), SMALL)
    assert trace.state == "failed"
    assert trace.reason == "20 requests failed one after another"
    assert_conserved(trace, 20)


@pytest.mark.parametrize("head", [STREAM_HEAD + b"\r\n", b"HTTP/1.0 200 OK\r\n\r\n"])
def test_a_close_delimited_answer_is_a_good_one(play: Play, head: bytes) -> None:
    server = play(lambda conn: conn.sendall(head + text("one") + text("", "stop")))
    trace = run(target_of(server.endpoint), Load("burst"), bodies(1), SMALL)
    assert trace.requests[0].error is None
    assert trace.requests[0].completion_tokens is None


def test_a_long_request_refused_early_tells_what_the_server_said(play: Play) -> None:
    """The server answers 413 and hangs up while the request is still being sent."""

    def script(conn: socket.socket) -> None:
        conn.recv(1000)
        conn.sendall(http("413 Too Large", "text/plain", b"at most 1 MB"))
        server.hang()

    server: ScriptedServer = play(script)
    server.read_request = lambda conn: True  # type: ignore[method-assign]
    trace = run(target_of(server.endpoint), Load("burst"), [b"x" * 20_000_000], SMALL)
    assert_failed(trace.requests[0], r"HTTP 413 .*: at most 1 MB$")


def test_a_connection_closed_before_the_request_is_a_failed_request(play: Play) -> None:
    server = play(lambda conn: None)
    server.read_request = lambda conn: False  # type: ignore[method-assign]
    trace = run(target_of(server.endpoint), Load("burst"), bodies(1), SMALL)
    assert_failed(trace.requests[0], r"closed the connection before the request was sent$")
