"""What the read callback keeps of one request: bytes and stamps, nothing understood yet."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

_EXCERPT_CHARS = 200


@dataclass(slots=True)
class Capture:
    """One exchange on the wire, in CLOCK_MONOTONIC ns.

    Read i delivered the body up to `ends[i]` and arrived at `stamps_ns[i]`. `complete` says that
    the HTTP message reached its end; otherwise `failure` is the sentence that says why not.
    """

    sent_ns: int | None = None
    end_ns: int | None = None
    status: int | None = None
    content_type: str = ""
    body: bytearray = field(default_factory=bytearray)
    ends: array[int] = field(default_factory=lambda: array("q"))
    stamps_ns: array[int] = field(default_factory=lambda: array("q"))
    complete: bool = False
    failure: str | None = None


def excerpt(text: str | bytes, limit: int = _EXCERPT_CHARS) -> str:
    """Server text made fit for a message: one line, printable, at most `limit` characters."""
    if isinstance(text, bytes):
        text = text[: 4 * limit].decode("utf-8", "replace")
    printable = "".join(char if char.isprintable() else " " for char in text[: 4 * limit])
    line = " ".join(printable.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
