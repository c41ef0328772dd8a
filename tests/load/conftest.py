"""Two servers for the tests of the measured path: one of known timing, one that plays a script."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace

import pytest

from benchspec.engines.base import Endpoint
from benchspec.load.calibration import known_server

StartServer = Callable[..., Endpoint]
Script = Callable[[socket.socket], None]
Play = Callable[..., "ScriptedServer"]


@pytest.fixture
def start_server() -> Iterator[StartServer]:
    """`start_server(Timing(...))` starts one in a child process and says where it listens."""
    with ExitStack() as servers:
        yield lambda timing, dialect="completions": replace(
            servers.enter_context(known_server(timing)), dialect=dialect
        )


class ScriptedServer:
    """Accepts connections and hands each, after its first request arrived, to `script`.

    The script may read further requests with `read_request`; the connection is closed after it.
    """

    def __init__(self, script: Script, tls: ssl.SSLContext | None = None) -> None:
        self.accepted = 0
        self.requests: list[bytes] = []
        self._script, self._tls = script, tls
        self._released = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.endpoint = Endpoint(
            "127.0.0.1", self._listener.getsockname()[1], tls is not None, "", "completions"
        )
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def read_request(self, conn: socket.socket) -> bool:
        """Take one request from the connection; False when it was closed instead."""
        head = b""
        while b"\r\n\r\n" not in head:
            data = conn.recv(65536)
            if not data:
                return False
            head += data
        head, _, body = head.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split()[0])
        while len(body) < length:
            body += conn.recv(65536)
        self.requests.append(head + b"\r\n\r\n" + body)
        return True

    def hang(self) -> None:
        """Hold the connection open without a word until the test has ended."""
        self._released.wait(30)

    def close(self) -> None:
        self._released.set()
        with suppress(OSError):  # closed already
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        while True:
            try:
                conn, _ = self._listener.accept()
            except OSError:
                return
            self.accepted += 1
            thread = threading.Thread(target=self._serve, args=(conn,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, conn: socket.socket) -> None:
        with suppress(OSError):
            if self._tls is not None:
                conn = self._tls.wrap_socket(conn, server_side=True)
            if self.read_request(conn):
                self._script(conn)
        with suppress(OSError):
            conn.close()


@pytest.fixture
def play() -> Iterator[Play]:
    """`play(script)` starts a scripted server on loopback."""
    servers: list[ScriptedServer] = []

    def start(script: Script, tls: ssl.SSLContext | None = None) -> ScriptedServer:
        servers.append(ScriptedServer(script, tls))
        return servers[-1]

    yield start
    for server in servers:
        server.close()
