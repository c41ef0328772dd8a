"""A server whose timing is known, to measure the measuring client against.

    python -m benchspec.load.known_timing --port 0 --first-ms 100 --gap-ms 20 --tokens 128

It answers /v1/completions and /v1/chat/completions in OpenAI's streaming format: the first token
`first-ms` after the request reached this machine's kernel, every further one exactly `gap-ms`
later on an absolute schedule, one event per write. `--flat-out` sends as fast as the client takes
it instead; `--fail-every N` answers every Nth request with HTTP 500, or with `--fail-silently` not
at all. `GET /writes` tells when it really wrote, which is the truth to measure a client against.
`GET /health` and `/v1/models` answer as
an engine's do, so that a run can be attached to it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import sys
from array import array
from contextlib import suppress
from dataclasses import dataclass, field, fields
from typing import Any

import httptools

from benchspec.load.clock import ANCILLARY_BYTES, ReadStats, enable_stamps, now_ns
from benchspec.load.limits import allow_sockets
from benchspec.load.timer import Timer

_MOST_CLIENTS = 16_384

_STREAM_HEADER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
)
_ENGINE_ANSWERS: dict[str, object] = {
    "/health": {"status": "ok"},
    "/v1/models": {"object": "list", "data": [{"id": "known-timing", "object": "model"}]},
}


@dataclass(frozen=True)
class Timing:
    """What every request gets. `flat_out` ignores the two times. `fail_every` 0 means never; to fail
    silently is to say nothing at all."""

    first_ms: float = 100.0
    gap_ms: float = 20.0
    tokens: int = 128
    flat_out: bool = False
    fail_every: int = 0
    fail_silently: bool = False


@dataclass
class Server:
    """What all connections share: the ready-made answers, one timer, and when they wrote.

    `writes` has an array per request: when the kernel received it, then when each token was written.
    """

    timing: Timing
    timer: Timer
    reads: ReadStats = field(default_factory=ReadStats)
    writes: list[array[int]] = field(default_factory=list)
    asked: int = 0

    def __post_init__(self) -> None:
        self.answers = {
            "/v1/completions": _chunks(self.timing.tokens, chat=False),
            "/v1/chat/completions": _chunks(self.timing.tokens, chat=True),
        }

    def fails(self) -> bool:
        """Count a request; whether it is one that fails."""
        self.asked += 1
        return self.timing.fail_every > 0 and self.asked % self.timing.fail_every == 0

    def told(self) -> list[list[int]]:
        """`writes` since this was last asked."""
        writes, self.writes = self.writes, []
        return [one.tolist() for one in writes]


class Connection:
    """One client connection; requests one after another.

    On a raw socket for two reasons: the schedule starts when the kernel received the request, not
    when this loop got round to reading it, and a write goes out at once.
    """

    def __init__(self, server: Server, sock: socket.socket) -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._sock = sock
        self._parser = httptools.HttpRequestParser(self)
        self._answer: list[bytes] = []
        self._next = self._arrived_ns = self._due_ns = 0
        self._unsent = b""
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        enable_stamps(sock)
        self._loop.add_reader(sock.fileno(), self._on_readable)

    def on_url(self, url: bytes) -> None:
        self._path = url.decode("latin-1")

    def on_message_complete(self) -> None:
        answer = self._server.answers.get(self._path)
        if answer is None:
            self._answer_get()
            return
        if self._server.fails():
            self._fail()
            return
        timing = self._server.timing
        self._answer, self._next = answer, 0
        self._writes = array("q", [self._arrived_ns])
        self._server.writes.append(self._writes)
        self._write(_STREAM_HEADER + answer[0])
        self._due_ns = self._arrived_ns + round(timing.first_ms * 1e6)
        if timing.flat_out:
            self._flood()
        else:
            self._server.timer.call_at(self._due_ns, self._write_token)

    def _fail(self) -> None:
        if not self._server.timing.fail_silently:
            message = {"error": {"message": "on purpose"}}
            self._answer_json(b"500 Internal Server Error", message)

    def _answer_get(self) -> None:
        if self._path == "/writes":
            self._answer_json(b"200 OK", self._server.told())
        elif self._path in _ENGINE_ANSWERS:
            self._answer_json(b"200 OK", _ENGINE_ANSWERS[self._path])
        else:
            self._answer_json(b"404 Not Found", {})

    def _answer_json(self, status: bytes, message: object) -> None:
        body = json.dumps(message).encode()
        head = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        self._write(head % (status, len(body)) + body)

    def _more(self) -> bool:
        return self._next < len(self._answer) - 1

    def _write_token(self) -> None:
        if not self._more():  # the client has gone
            return
        self._next += 1
        self._writes.append(now_ns())
        self._write(self._answer[self._next])
        if self._more():
            self._due_ns += round(self._server.timing.gap_ms * 1e6)
            self._server.timer.call_at(self._due_ns, self._write_token)

    def _flood(self) -> None:
        """One event per turn of the loop, so that streams interleave and events stay apart."""
        if self._more() and not self._unsent:
            self._next += 1
            self._write(self._answer[self._next])
            if not self._unsent:
                self._loop.call_soon(self._flood)

    def _on_readable(self) -> None:
        try:
            data, ancillary, _, _ = self._sock.recvmsg(65536, ANCILLARY_BYTES)
            self._arrived_ns = self._server.reads.arrival_ns(ancillary, 0)
            self._parser.feed_data(data)
        except BlockingIOError:
            return
        except (OSError, httptools.HttpParserError):
            data = b""
        if not data:
            self._close()

    def _write(self, data: bytes) -> None:
        try:
            written = 0 if self._unsent else self._sock.send(data)
        except BlockingIOError:
            written = 0
        except OSError:
            return  # reading will find the connection closed
        if written < len(data):
            self._unsent += data[written:]
            self._loop.add_writer(self._sock.fileno(), self._on_writable)

    def _on_writable(self) -> None:
        self._loop.remove_writer(self._sock.fileno())
        data, self._unsent = self._unsent, b""
        self._write(data)
        if self._server.timing.flat_out:
            self._flood()

    def _close(self) -> None:
        if self._sock.fileno() >= 0:
            self._loop.remove_reader(self._sock.fileno())
            self._loop.remove_writer(self._sock.fileno())
            self._sock.close()
        self._answer = []


def _chunks(tokens: int, *, chat: bool) -> list[bytes]:
    """What is written at once (a role for chat), then one item per token; the last ends it all."""
    usage = {"prompt_tokens": 0, "completion_tokens": tokens, "total_tokens": tokens}
    role = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}
    items = [_event(role) if chat else b""]
    for number in range(tokens):
        text = f" w{number}"
        choice: dict[str, Any] = {"delta": {"content": text}} if chat else {"text": text}
        items.append(_event({"object": "chunk", "choices": [{"index": 0} | choice]}))
    last: dict[str, Any] = {"index": 0, "finish_reason": "length"}
    last["delta" if chat else "text"] = {} if chat else ""
    items[-1] += _event({"choices": [last]}) + _event({"choices": [], "usage": usage})
    items[-1] += _framed(b"data: [DONE]\n\n") + b"0\r\n\r\n"
    return items


def _event(message: dict[str, Any]) -> bytes:
    return _framed(b"data: " + json.dumps(message).encode() + b"\n\n")


def _framed(body: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(body), body)


async def serve(timing: Timing, port: int, *, until_stdin_closes: bool = False) -> None:
    """Serve on loopback until cancelled; print the port as the first line."""
    allow_sockets(_MOST_CLIENTS)
    loop = asyncio.get_running_loop()
    server = Server(timing, Timer())
    listener = socket.create_server(("127.0.0.1", port), backlog=4096)
    listener.setblocking(False)

    def accept() -> None:
        with suppress(BlockingIOError):
            while True:
                Connection(server, listener.accept()[0])

    loop.add_reader(listener.fileno(), accept)
    sys.stdout.write(f"{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    if until_stdin_closes:
        await loop.run_in_executor(None, sys.stdin.read)
    else:
        await asyncio.Event().wait()


def main() -> None:
    """Parse the command line and serve."""
    parser = argparse.ArgumentParser(prog="known_timing", description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--first-ms", type=float, default=100.0)
    parser.add_argument("--gap-ms", type=float, default=20.0)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--flat-out", action="store_true")
    parser.add_argument("--fail-every", type=int, default=0)
    parser.add_argument("--fail-silently", action="store_true")
    parser.add_argument("--until-stdin-closes", action="store_true")
    given = parser.parse_args()
    timing = Timing(**{one.name: getattr(given, one.name) for one in fields(Timing)})
    work = serve(timing, given.port, until_stdin_closes=given.until_stdin_closes)
    try:
        import uvloop
    except ImportError:
        asyncio.run(work)
    else:
        uvloop.run(work)


if __name__ == "__main__":
    main()
