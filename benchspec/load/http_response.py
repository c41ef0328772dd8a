"""The frame of one HTTP/1.x response: status, body bytes, and where it ends."""

from __future__ import annotations

import httptools

from benchspec.load.capture import Capture, excerpt


class BadResponse(Exception):
    """What the server sent is not an HTTP response that can be read; the message says why."""


class ResponseParser:
    """Feeds a capture's body from raw bytes; one parser per response.

    `complete` is set at the end of the message. A body without a declared length ends when the
    server closes the connection (`at_eof`).
    """

    def __init__(self, capture: Capture, header_bytes: int) -> None:
        self.complete = False
        self.keep_alive = False
        self.on_body = capture.body.extend  # called by the parser without a Python frame
        self._capture = capture
        self._parser = httptools.HttpResponseParser(self)
        self._header_room = header_bytes
        self._in_header = True
        self._declared_length = False

    def feed(self, data: bytes) -> None:
        """Take what one read returned. Raises BadResponse."""
        if self._in_header:
            self._header_room -= len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            raise BadResponse("the server switched to another protocol") from None
        except httptools.HttpParserError as error:
            if self.complete:  # bytes after the end: the answer stands, the connection does not
                self.keep_alive = False
                return
            raise BadResponse(
                f"the server's answer is not valid HTTP ({error}): {excerpt(data, 80)}"
            ) from None
        if self._in_header and self._header_room < 0:
            raise BadResponse("the header of the server's answer is too large")

    def at_eof(self) -> bool:
        """The server closed the connection: True when that is the proper end of the body."""
        if not self.complete and not self._in_header and not self._declared_length:
            self.complete = True
            self.keep_alive = False
        return self.complete

    def on_header(self, name: bytes, value: bytes) -> None:
        lower = name.lower()
        if lower in {b"content-length", b"transfer-encoding"}:
            self._declared_length = True
        elif lower == b"content-type":
            self._capture.content_type = excerpt(value, 60)

    def on_headers_complete(self) -> None:
        self._capture.status = self._parser.get_status_code()
        self._in_header = False

    def on_message_complete(self) -> None:
        status = self._capture.status or 0
        if 100 <= status < 200:  # an interim response; the real one follows
            self._in_header = True
            return
        if self.complete:  # a second response nobody asked for
            self.keep_alive = False
            return
        self.complete = True
        self.keep_alive = self._parser.should_keep_alive()
