"""Token stamps to times between tokens beside a prompt that is read, and without."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchspec.observations.interference import interference_of
from benchspec.observations.model import Interference
from benchspec.store.records import RequestRecord

MS = 1_000_000
Stream = tuple[int, list[int]]
"""When it was sent and when its tokens came, in ms."""


def reduced(
    streams: Sequence[Stream], prefill: Sequence[float | None] = (), failed: int | None = None
) -> Interference | None:
    records, at = [], 0
    for index, (sent, tokens) in enumerate(streams):
        records.append(
            RequestRecord(
                index=index,
                sent_ns=sent * MS,
                first_token_ns=tokens[0] * MS,
                last_token_ns=tokens[-1] * MS,
                ok=index != failed,
                server_prefill_ms=prefill[index] if prefill else None,
                samples_start=at,
                samples_count=len(tokens),
            )
        )
        at += len(tokens)
    flat = np.array([t * MS for _, tokens in streams for t in tokens], np.int64)
    return interference_of(records, flat)


STEADY = (0, [100, 120, 140, 160, 260, 280])
"""One answer, a token every 20 ms, and one pause of 100 ms."""


def test_a_pause_beside_a_prompt_is_told_from_the_times_without() -> None:
    found = reduced([STEADY, (165, [255, 300])])
    assert found == Interference(
        alone_ms=20.0,
        beside_ms=100.0,
        alone_n=4,
        beside_n=1,
        prefill_ms=100.0,
        timed_by="first-token",
    )


def test_the_servers_prefill_times_cut_off_the_wait_for_a_slot() -> None:
    waited = (101, [255, 300])
    sent = reduced([STEADY, waited])
    assert sent is not None
    assert (sent.beside_n, sent.prefill_ms, sent.timed_by) == (
        4,
        154.0,
        "first-token",
    )  # of 100 and 154
    found = reduced([STEADY, waited], [100.0, 90.0])
    assert found is not None
    assert (found.beside_n, found.beside_ms, found.timed_by) == (1, 100.0, "server")
    assert (found.alone_ms, found.prefill_ms) == (20.0, 100.0)
    assert reduced([STEADY, waited], [100.0, None]) == sent


def test_one_long_prompt_among_short_ones_is_the_typical_one() -> None:
    """At a random moment of reading it is the long one that is read."""
    answers = [(t, [t + 5, t + 25]) for t in range(0, 200, 50)]
    answer = (0, [5, *range(25, 900, 20)])
    found = reduced([answer, *answers, (300, [800, 820])])
    assert found is not None
    assert found.prefill_ms == 500.0


@pytest.mark.parametrize(
    "streams",
    [
        [],
        [STEADY],
        [(0, [100]), (165, [255])],
        [STEADY, (300, [400, 420])],  # one after the other
        [(0, [100, 120, 140]), (0, [101, 121, 141])],  # prompts that only touch the other answer
    ],
)
def test_without_times_of_both_kinds_there_is_nothing(streams: list[Stream]) -> None:
    assert reduced(streams) is None


def test_a_failed_request_is_no_stream() -> None:
    assert reduced([STEADY, (165, [255, 300])], failed=0) is None


STREAMS = st.lists(
    st.tuples(
        st.integers(0, 300),
        st.lists(st.integers(1, 40), min_size=1, max_size=12),
        st.integers(0, 60),
    ),
    min_size=1,
    max_size=6,
)


@given(STREAMS, st.booleans())
def test_every_time_is_sorted_as_one_by_one(
    drawn: list[tuple[int, list[int], int]], server: bool
) -> None:
    """The same by counting, in every time, the milliseconds in which another prompt is read."""
    streams, prefill = [], []
    for sent, gaps, took in drawn:
        first = sent + took + 5
        streams.append((sent, [first + sum(gaps[:n]) for n in range(len(gaps))]))
        prefill.append(float(took))
    prompts = [
        (tokens[0] - took if server else sent, tokens[0])
        for (sent, tokens), took in zip(streams, prefill, strict=True)
    ]
    beside: list[int] = []
    alone: list[int] = []
    for mine, (_, tokens) in enumerate(streams):
        others = [p for n, p in enumerate(prompts) if n != mine]
        pairs = list(pairwise(tokens))
        read = [sum(any(b <= t < e for b, e in others) for t in range(*pair)) for pair in pairs]
        met = [b - a for (a, b), ms in zip(pairs, read, strict=True) if 0 < b - a <= 2 * ms]
        free = [b - a for (a, b), ms in zip(pairs, read, strict=True) if ms == 0]
        if met and free:
            beside += met
            alone += free
    found = reduced(streams, prefill if server else ())
    if not beside:
        assert found is None
        return
    assert found is not None
    assert (found.beside_n, found.alone_n) == (len(beside), len(alone))
    assert found.beside_ms == pytest.approx(np.percentile(beside, 99))
    assert found.alone_ms == pytest.approx(np.percentile(alone, 99))
