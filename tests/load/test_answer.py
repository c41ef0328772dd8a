"""What a captured response says, however its bytes were cut into reads."""

from __future__ import annotations

from array import array
from hashlib import sha256
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchspec.load.answer import Answer, read_answer
from benchspec.load.capture import Capture, excerpt
from benchspec.load.http_response import ResponseParser
from tests.load.wire import DONE, GOOD, chunked, delta, event, stream, text, usage

LINE = 100_000


def captured(reads: list[bytes]) -> Capture:
    """A capture as the connection makes it, read i arriving at 1000 + i."""
    capture = Capture(sent_ns=0)
    parser = ResponseParser(capture, 10_000)
    for number, data in enumerate(reads):
        before = len(capture.body)
        parser.feed(data)
        if len(capture.body) > before:
            capture.ends.append(len(capture.body))
            capture.stamps_ns.append(1000 + number)
    capture.complete = parser.complete
    return capture


def answer(*reads: bytes) -> Answer:
    return read_answer(captured(list(reads)), LINE)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted({place % len(data) for place in places}), len(data)]
    return [data[low:high] for low, high in pairwise(edges) if low < high]


CHAT = stream(
    delta(role="assistant", content=None),
    b": keep-alive\r\n\r\n",
    delta(reasoning_content="Hm"),
    delta(reasoning="m. ") + delta(content=""),
    delta(content="Grüße, 世界 🌍"),
    delta("stop"),
    usage(9, 6, prompt_tokens_details={"cached_tokens": 3}),
    DONE,
)


@given(places=st.lists(st.integers(0, 10_000), max_size=12))
def test_any_split_of_the_bytes_gives_the_same_answer(places: list[int]) -> None:
    reads = cut(CHAT, places)
    seen = answer(*reads)
    assert seen.error is None
    assert seen.finish_reason == "stop"
    assert len(seen.token_ns) == 3
    assert seen.pieces == ["Hm", "m. ", "Grüße, 世界 🌍"]
    assert seen.content == "Grüße, 世界 🌍"
    assert seen.text_sha256 == sha256("Hmm. Grüße, 世界 🌍".encode()).hexdigest()
    assert seen.count(("usage", "completion_tokens")) == 6
    assert seen.count(("usage", "prompt_tokens_details", "cached_tokens")) == 3
    assert list(seen.token_ns) == sorted(seen.token_ns)
    assert set(seen.token_ns) <= set(range(1000, 1000 + len(reads)))


def test_byte_by_byte_a_token_is_stamped_when_its_event_is_complete() -> None:
    reads = [bytes([byte]) for byte in GOOD]
    seen = answer(*reads)
    ends = [
        GOOD.index(word) + GOOD[GOOD.index(word) :].index(b"\n\n") + 1 for word in (b"one", b"two")
    ]
    assert list(seen.token_ns) == [1000 + end for end in ends]
    assert seen.coalesced_reads == 0


def test_reads_with_several_tokens_are_counted_once_each() -> None:
    begun, two = GOOD[: GOOD.index(b"\r\n\r\n") + 4], chunked(text("a"), text("b"), text("c"))
    seen = answer(begun, two, two, chunked(text("d")), chunked(text("", "stop")), b"0\r\n\r\n")
    assert list(seen.token_ns) == [1001] * 3 + [1002] * 3 + [1003]
    assert seen.coalesced_reads == 2


def test_the_role_empty_pieces_and_keep_alives_are_not_tokens() -> None:
    seen = answer(
        stream(
            delta(role="assistant", content=""),
            b": ping\n\n",
            event({"choices": []}),
            event({"choices": [{"delta": None}]}),
            event({"prompt_progress": {"processed": 10}}),
            delta(content="only"),
            delta("stop", content=""),
        )
    )
    assert len(seen.token_ns) == 1


def test_a_tool_call_is_generated_text() -> None:
    call = [{"index": 0, "function": {"arguments": "{"}}]
    assert len(answer(stream(delta(tool_calls=call), delta("tool_calls"))).token_ns) == 1


def test_the_last_usage_counts() -> None:
    """Some servers report zeros until the end."""
    seen = answer(stream(text("a") + usage(0, 0), text("", "stop"), usage(7, 1), DONE))
    assert seen.count(("usage", "prompt_tokens")) == 7


def test_done_is_optional_and_so_is_a_finish_reason_before_it() -> None:
    assert answer(stream(text("a"), text("", "length"))).error is None
    assert answer(stream(text("a"), DONE)).error is None


def test_timings_of_llama_cpp() -> None:
    timings = {"cache_n": 4, "prompt_n": 12, "prompt_ms": 30.5, "predicted_n": 3, "draft_n": 8}
    seen = answer(stream(text("a"), event({"choices": [], "timings": timings}), DONE))
    assert seen.count(("usage", "completion_tokens"), ("timings", "predicted_n")) == 3
    assert seen.number(("timings", "prompt_ms")) == 30.5
    assert seen.count(("timings", "draft_n_accepted")) is None


@pytest.mark.parametrize("value", [True, -1, "7", None, 2**60, [], {}, 1.5])
def test_a_count_that_is_none_is_absent_and_never_zero(value: object) -> None:
    seen = answer(stream(text("a"), event({"usage": {"completion_tokens": value}}), DONE))
    assert seen.count(("usage", "completion_tokens")) is None


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-1", "1e999", '"3"', "true", "9" * 400])
def test_a_number_that_is_none_is_absent(value: str) -> None:
    odd = b'data: {"timings": {"prompt_ms": %s}}\n\n' % value.encode()
    assert answer(stream(text("a"), odd, DONE)).number(("timings", "prompt_ms")) is None


hostile = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "delta",
                    "text",
                    "content",
                    "usage",
                    "timings",
                    "error",
                    "finish_reason",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(messages=st.lists(hostile, max_size=4))
def test_no_message_raises(messages: list[object]) -> None:
    seen = answer(stream(*map(event, messages)))
    assert seen.error is None or (len(seen.error) < 320 and seen.error.isprintable())


@given(st.binary(max_size=200), st.integers(100, 599))
def test_no_body_and_status_raise(body: bytes, status: int) -> None:
    capture = Capture(status=status, body=bytearray(body), complete=True)
    capture.ends, capture.stamps_ns = array("q", [len(body)]), array("q", [1])
    seen = read_answer(capture, LINE)
    assert seen.error is None or seen.error.isprintable()


@given(st.text(max_size=500) | st.binary(max_size=2000))
def test_an_excerpt_is_one_bounded_printable_line(said: str | bytes) -> None:
    line = excerpt(said)
    assert len(line) <= 200
    assert line.isprintable()
