"""The frame of a response: where it begins and ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchspec.load.capture import Capture
from benchspec.load.http_response import BadResponse, ResponseParser

SIZED = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 5\r\n\r\nhello"
CHUNKED = (
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"
)
INTERIM = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
UNSIZED = b"HTTP/1.0 200 OK\r\n\r\nhello"


def parsed(*reads: bytes, header_bytes: int = 1000) -> tuple[ResponseParser, Capture]:
    capture = Capture()
    parser = ResponseParser(capture, header_bytes)
    for data in reads:
        parser.feed(data)
    return parser, capture


@pytest.mark.parametrize("wire", [SIZED, CHUNKED, INTERIM + SIZED, INTERIM + CHUNKED])
@given(place=st.integers(0, 200))
def test_any_split_gives_the_same_response(wire: bytes, place: int) -> None:
    place %= len(wire)
    parser, capture = parsed(*filter(None, (wire[:place], wire[place:])))
    assert parser.complete
    assert parser.keep_alive
    assert (capture.status, bytes(capture.body)) == (200, b"hello")


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    parser, capture = parsed(UNSIZED)
    assert not parser.complete
    assert parser.at_eof()
    assert not parser.keep_alive
    assert bytes(capture.body) == b"hello"


@pytest.mark.parametrize("wire", [SIZED[:-1], CHUNKED[:-5], SIZED[:20], b""])
def test_the_end_of_the_connection_completes_nothing_else(wire: bytes) -> None:
    parser, _ = parsed(*filter(None, [wire]))
    assert not parser.at_eof()


def test_bytes_after_the_end_leave_the_answer_but_not_the_connection() -> None:
    for trailing in (b"garbage", SIZED):
        parser, _ = parsed(SIZED, trailing)
        assert parser.complete
        assert not parser.keep_alive


def test_connection_close_is_respected() -> None:
    parser, _ = parsed(SIZED.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
    assert parser.complete
    assert not parser.keep_alive


def test_a_header_beyond_the_bound_is_refused_before_it_ends() -> None:
    with pytest.raises(BadResponse, match="too large"):
        parsed(b"HTTP/1.1 200 OK\r\n", *[b"A: b\r\n" * 20] * 10)


def test_a_long_first_read_of_header_and_body_is_fine() -> None:
    body = b"x" * 5000
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n"
    assert parsed(head + body)[1].body == body


@pytest.mark.parametrize(
    "wire",
    [
        b"hello\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_what_is_not_http_is_refused(wire: bytes) -> None:
    with pytest.raises(BadResponse, match="not valid HTTP"):
        parsed(wire)


@given(st.lists(st.binary(min_size=1, max_size=60), max_size=5))
def test_no_bytes_raise_anything_else(reads: list[bytes]) -> None:
    try:
        parser, _ = parsed(*reads)
    except BadResponse as error:
        assert str(error).isprintable()
    else:
        parser.at_eof()
