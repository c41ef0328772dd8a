"""Server-sent events out of a body."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchspec.load.sse import BadStream, Event, events

ROOMY = 10_000


def data(body: bytes) -> list[bytes]:
    return [event.data for event in events(body, ROOMY)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [b"a", b"b"]),
        (b"data: a\r\rdata: b\r\r", [b"a", b"b"]),
        (b"data:a\n\n", [b"a"]),
        (b"data:  a\n\n", [b" a"]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b": ping\n\ndata: a\n\n: ping\n\n", [b"a"]),
        (b": ping\ndata: a\nid: 7\nretry: 1\nevent: x\n\n", [b"a"]),
        (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
        (b"data: last one without its blank line", [b"last one without its blank line"]),
        (b"data\n\n", [b""]),
        (b"event: x\n\n", []),
        (b"nonsense\n\n", []),
        (b"", []),
    ],
)
def test_fields_and_lines(body: bytes, expected: list[bytes]) -> None:
    assert data(body) == expected


def test_a_unicode_line_separator_ends_no_line() -> None:
    assert data("data: a\u2028b\x0b\x0c\x85c\n\n".encode()) == ["a\u2028b\x0b\x0c\x85c".encode()]


def test_the_kind_is_error_for_an_error_event_or_field() -> None:
    body = b"event: error\ndata: a\n\ndata: b\n\nerror: c\n\n"
    assert [event.kind for event in events(body, ROOMY)] == ["error", "message", "error"]


def test_a_cut_body_yields_no_cut_event() -> None:
    assert [event.data for event in events(b"data: a\n\ndata: {", ROOMY, whole=False)] == [b"a"]


def test_an_event_ends_with_its_blank_line() -> None:
    body = b"data: a\n\n: ping\n\ndata: b\r\n\r\n"
    first, second = events(body, ROOMY)
    assert first == Event("message", b"a", body.index(b": ping"))
    assert second.end == len(body)


def test_a_line_beyond_the_bound_is_refused() -> None:
    assert data(b"data: " + b"x" * 9000 + b"\n\n")
    with pytest.raises(BadStream, match="longer than 10000 bytes"):
        list(events(b"data: a\n\n" + b"x" * 10_001, ROOMY))


payload = st.binary(max_size=20).filter(lambda line: not set(line) & set(b"\r\n"))


@given(
    payloads=st.lists(payload, max_size=6),
    ending=st.sampled_from([b"\n", b"\r\n", b"\r"]),
    comments=st.booleans(),
)
def test_what_is_put_in_comes_out(payloads: list[bytes], ending: bytes, comments: bool) -> None:
    noise = b": still here" + 2 * ending if comments else b""
    body = b"".join(noise + b"data: " + one + 2 * ending for one in payloads)
    assert data(body) == payloads


@given(st.binary(max_size=300))
def test_no_bytes_raise_anything_else(body: bytes) -> None:
    ends = [event.end for event in events(body, ROOMY)]
    assert ends == sorted(ends)
    assert all(0 < end <= len(body) for end in ends)
