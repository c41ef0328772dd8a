"""Server-sent events out of a whole response body (WHATWG HTML, section 9.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


class BadStream(Exception):
    """The body breaks a bound of the stream format; the message says which."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event that carried data. `end` is the offset in the body just after its last byte."""

    kind: str
    data: bytes
    end: int


def events(body: bytes, line_bytes: int, *, whole: bool = True) -> Iterator[Event]:
    """The events of a body, in order.

    CR, LF and CRLF end lines; comments (`:`) and unknown fields are skipped; several `data` lines
    are joined. An event without its closing blank line at the end of a `whole` body is kept,
    because servers that close the connection tend to forget it. `error:` as a field name (old
    llama.cpp) is an event of kind `error`. Raises BadStream for a line longer than `line_bytes`.
    """
    kind, data, end = "message", [], 0
    offset = 3 if body.startswith(b"\xef\xbb\xbf") else 0
    for raw in body[offset:].splitlines(keepends=True):
        offset += len(raw)
        if len(raw) > line_bytes:
            raise BadStream(f"a line of the stream is longer than {line_bytes} bytes")
        line = raw.rstrip(b"\r\n")
        if line:
            field, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if field in {b"data", b"error"}:
                data.append(value)
                end = offset
            if field == b"error" or (field == b"event" and value == b"error"):
                kind = "error"
        else:
            if data:
                yield Event(kind, b"\n".join(data), offset)
            kind, data = "message", []
    if data and whole:
        yield Event(kind, b"\n".join(data), end)
