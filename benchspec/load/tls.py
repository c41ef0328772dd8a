"""TLS over a socket that we read ourselves, so that the kernel's stamps are not lost."""

from __future__ import annotations

import asyncio
import socket
import ssl

_READ_BYTES = 65536


class TlsChannel:
    """Turns wire bytes into plain bytes and back. A TLS record may span several reads."""

    def __init__(self, context: ssl.SSLContext, host: str) -> None:
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)

    async def handshake(self, sock: socket.socket) -> None:
        """Run the handshake on a connected non-blocking socket. Raises ssl.SSLError, OSError."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                self._tls.do_handshake()
                done = True
            except ssl.SSLWantReadError:
                done = False
            if self._outgoing.pending:
                await loop.sock_sendall(sock, self._outgoing.read())
            if done:
                return
            data = await loop.sock_recv(sock, _READ_BYTES)
            if not data:
                raise ConnectionResetError("the server closed the connection during the handshake")
            self._incoming.write(data)

    def encrypt(self, plain: bytes) -> bytes:
        """The records that carry `plain`."""
        self._tls.write(plain)
        return self._outgoing.read()

    def decrypt(self, wire: bytes) -> bytes:
        """Plain bytes that are complete after `wire` arrived. Raises ssl.SSLError."""
        self._incoming.write(wire)
        plain = bytearray()
        try:
            while chunk := self._tls.read(_READ_BYTES):
                plain += chunk
        except (ssl.SSLWantReadError, ssl.SSLZeroReturnError):
            pass
        return bytes(plain)
