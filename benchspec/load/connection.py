"""One connection: a raw non-blocking socket, the request sent by us, every read stamped."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl

from benchspec.load import clock
from benchspec.load.capture import Capture, excerpt
from benchspec.load.clock import ReadStats
from benchspec.load.http_response import BadResponse, ResponseParser
from benchspec.load.limits import Limits
from benchspec.load.target import Target
from benchspec.load.tls import TlsChannel

_READ_BYTES = 65536
# After a reset, uvloop reports the socket once and then never again, even if that one read
# returned data; so each connection is also looked at by hand this often.
_LOOK_S = 0.5


class ConnectFailed(Exception):
    """No connection; the message is the sentence for the request's record."""


async def connect(target: Target, limits: Limits, reads: ReadStats) -> Connection:
    """Open a connection, with TLS where the target has it. Raises ConnectFailed.

    Names are resolved here, and every address of the name is tried.
    """
    where = target.authority
    try:
        async with asyncio.timeout(limits.connect_s):
            sock = await _connected_socket(target.host, target.port)
            try:
                tls = await _handshake(target, sock)
            except BaseException:
                sock.close()
                raise
    except TimeoutError:
        raise ConnectFailed(f"no connection to {where} within {limits.connect_s:g} s") from None
    except (OSError, ssl.SSLError) as error:
        raise ConnectFailed(f"could not connect to {where}: {_reason(error)}") from None
    return Connection(sock, tls, limits, reads)


async def _connected_socket(host: str, port: int) -> socket.socket:
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    failure: OSError = OSError(f"{host} has no address")
    for family, kind, protocol, _, address in found:
        sock = socket.socket(family, kind, protocol)
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            clock.enable_stamps(sock)
            await loop.sock_connect(sock, address)
        except OSError as error:
            sock.close()
            failure = error
        except BaseException:
            sock.close()
            raise
        else:
            return sock
    raise failure


async def _handshake(target: Target, sock: socket.socket) -> TlsChannel | None:
    if target.tls is None:
        return None
    tls = TlsChannel(target.tls, target.host)
    await tls.handshake(sock)
    return tls


class Connection:
    """Sends one request at a time and captures the answer.

    The read callback does the least that keeps the response's frame: stamp, strip the HTTP frame,
    append. Nothing is parsed as JSON and no task is woken until the response has ended.
    `usable` says whether another request may be sent.
    """

    def __init__(
        self, sock: socket.socket, tls: TlsChannel | None, limits: Limits, reads: ReadStats
    ) -> None:
        self.usable = True
        self._loop = asyncio.get_running_loop()
        self._sock = sock
        self._fd = sock.fileno()
        self._tls = tls
        self._limits = limits
        self._reads = reads
        self._look_s = min(_LOOK_S, limits.first_byte_s, limits.idle_s, limits.total_s)
        self._capture: Capture | None = None
        self._unsent = memoryview(b"")
        self._loop.add_reader(self._fd, self._on_readable)

    def start(self, request: bytes, capture: Capture) -> asyncio.Future[None]:
        """Send `request` now; the future resolves when `capture` is complete or has failed."""
        self._capture = capture
        self._parser = ResponseParser(capture, self._limits.header_bytes)
        self._done: asyncio.Future[None] = self._loop.create_future()
        self._last_ns = self._started_ns = clock.now_ns()
        self._heard = False
        self._timer = self._loop.call_later(self._look_s, self._look)
        if not self.usable:
            self._fail("the server closed the connection before the request was sent")
            return self._done
        self._unsent = memoryview(self._tls.encrypt(request) if self._tls else request)
        self._send()
        return self._done

    def abort(self, why: str) -> None:
        """End the request in flight as a failure with the sentence `why`."""
        self._fail(why)

    def close(self) -> None:
        """Close the socket; idempotent."""
        self.usable = False
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            self._loop.remove_writer(self._fd)
            self._sock.close()
            self._fd = -1

    def _send(self) -> None:
        capture = self._capture
        if capture is None:
            return
        try:
            while self._unsent:
                capture.sent_ns = clock.now_ns()
                self._unsent = self._unsent[self._sock.send(self._unsent) :]
        except (BlockingIOError, InterruptedError):
            self._loop.add_writer(self._fd, self._on_writable)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the server may have refused a long request early: reading tells what it said
        except OSError as error:
            self._fail(f"the request could not be sent: {_reason(error)}")

    def _on_writable(self) -> None:
        self._loop.remove_writer(self._fd)
        self._send()

    def _on_readable(self) -> bool:
        """Read once; True when there may be more to read."""
        try:
            data, ancillary, _, _ = self._sock.recvmsg(_READ_BYTES, clock.ANCILLARY_BYTES)
        except (BlockingIOError, InterruptedError):
            return False
        except OSError as error:
            self._fail(f"the connection broke: {_reason(error)}")
            return False
        if self._capture is None:
            self._take_unasked(data)
        elif data:
            self._last_ns = self._reads.arrival_ns(ancillary, self._last_ns)
            self._take(data, self._capture)
        else:
            self._last_ns = clock.now_ns()
            self._at_eof()
        return self._capture is not None

    def _take_unasked(self, data: bytes) -> None:
        """TLS sends session tickets while nothing is asked; all else makes the connection void."""
        try:
            if data and self._tls and not self._tls.decrypt(data):
                return
        except ssl.SSLError:
            pass
        self.close()

    def _take(self, data: bytes, capture: Capture) -> None:
        self._heard = True
        before = len(capture.body)
        try:
            self._parser.feed(self._tls.decrypt(data) if self._tls else data)
        except BadResponse as error:
            self._fail(str(error))
            return
        except ssl.SSLError as error:
            self._fail(f"the encrypted stream is damaged: {_reason(error)}")
            return
        if len(capture.body) > before:
            capture.ends.append(len(capture.body))
            capture.stamps_ns.append(self._last_ns)
        if self._parser.complete:
            self._complete()
        elif len(capture.body) > self._limits.response_bytes:
            self._fail(f"the answer is longer than {self._limits.response_bytes} bytes")

    def _at_eof(self) -> None:
        self.usable = False
        if self._parser.at_eof():
            self._complete()
        elif self._heard:
            self._fail("the server closed the connection before the end of its answer")
        else:
            self._fail("the server closed the connection without an answer")

    def _complete(self) -> None:
        if self._capture is not None:
            self._capture.complete = True
            self.usable = self.usable and self._parser.keep_alive and not self._unsent
            self._finish(self._capture)

    def _fail(self, why: str) -> None:
        self.usable = False
        if self._capture is not None:
            self._capture.failure = why
            self._last_ns = clock.now_ns()
            self._finish(self._capture)
        else:
            self.close()

    def _finish(self, capture: Capture) -> None:
        capture.end_ns = self._last_ns
        self._capture = None
        self._timer.cancel()
        if not self.usable:
            self.close()
        if not self._done.done():
            self._done.set_result(None)

    def _look(self) -> None:
        if clock.now_ns() - self._last_ns >= self._look_s * 1e9:
            while self._on_readable():
                pass
        if self._capture is None:
            return
        now, limits = clock.now_ns(), self._limits
        silence_s = (now - self._last_ns) / 1e9
        if (now - self._started_ns) / 1e9 >= limits.total_s:
            self._fail(f"the answer was not finished within {limits.total_s:g} s")
        elif self._heard and silence_s >= limits.idle_s:
            self._fail(f"the stream stopped: nothing came for {limits.idle_s:g} s")
        elif not self._heard and silence_s >= limits.first_byte_s:
            self._fail(f"no answer within {limits.first_byte_s:g} s")
        else:
            self._timer = self._loop.call_later(self._look_s, self._look)


def _reason(error: OSError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({excerpt(error.verify_message, 80)})"
    if error.errno is not None and not isinstance(error, (ssl.SSLError, socket.gaierror)):
        return os.strerror(error.errno).lower()
    return excerpt(error.strerror or str(error), 120)
