"""Digests of how an answer begins."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from benchspec.load.prefixes import MOST_DIGESTS, STEP_CHARS, prefix_digests


def test_a_digest_counts_the_events_that_end_in_its_characters() -> None:
    pieces = ["x" * 60, "abcd", "y" * 10, "z" * 60]
    assert [events for events, _ in prefix_digests(pieces)] == [2, 3]
    assert prefix_digests(["short"]) == prefix_digests([]) == []


@given(st.text(max_size=300), st.text(max_size=300), st.lists(st.integers(0, 300), max_size=8))
def test_digests_are_equal_as_far_as_the_texts_are(one: str, other: str, cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(one)]
    pieces = [one[a:b] for a, b in pairwise(edges) if one[a:b]]
    pairs = zip(prefix_digests(pieces), prefix_digests([other]), strict=False)
    for number, ((_, ours), (_, theirs)) in enumerate(pairs, 1):
        mark = number * STEP_CHARS
        assert (ours == theirs) == (one[:mark] == other[:mark])
    assert [d for _, d in prefix_digests(pieces)] == [d for _, d in prefix_digests([one])]


def test_what_is_kept_is_bounded_and_no_text_is_refused() -> None:
    assert len(prefix_digests(["\ud800" * 10**5])) == MOST_DIGESTS
