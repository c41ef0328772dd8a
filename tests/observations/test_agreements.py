"""How far two arms' answers agree, from digests alone, against texts that the test knows."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from benchspec.load.prefixes import prefix_digests
from benchspec.observations.agreements import agreements, common_tokens
from benchspec.observations.answers import Agreement
from benchspec.observations.node import Bounds
from benchspec.store.records import CellRecord, RequestRecord
from tests.observations.test_from_bundle import cell

WORD = 16
"""Characters of a token in these answers: four of them to a digest."""


def answer(
    *events: str, prompt: str = "p", tokens: int | None = None, **rest: Any
) -> RequestRecord:
    """An answer in events as the client records it: a letter is a token of 16 characters, and an
    event has its letters' tokens; `tokens` is what the server counts."""
    pieces = ["".join(letter * WORD for letter in event) for event in events]
    base: dict[str, Any] = {
        "index": 0,
        "ok": True,
        "completion_tokens": sum(map(len, events)) if tokens is None else tokens,
        "samples_count": len(events),
        "output_sha256": sha256("".join(pieces).encode()).hexdigest(),
        "output_prefixes": prefix_digests(pieces),
        "prompt_sha256": sha256(prompt.encode()).hexdigest(),
    }
    return RequestRecord(**base | rest)


def arms(one: Sequence[RequestRecord], other: Sequence[RequestRecord], **key: Any) -> list[Any]:
    return [
        cell(*one, name="A", key={"arm": "A"}),
        cell(*other, name="B", key={"arm": "B", **key}),
    ]


def only(cells: list[CellRecord]) -> Agreement:
    (found,) = agreements(cells)
    return found


def test_answers_that_part_and_answers_that_do_not() -> None:
    ours = [answer(*"abcdefgh"), answer("x", "y", prompt="q"), answer("!", prompt="r")]
    theirs = [answer("x", "y", prompt="q"), answer(*"abcdEfgh"), answer("?", prompt="r")]
    found = only(arms(ours, theirs))
    assert found.arms == ["A", "B"]
    assert found.common_prefix_tokens == [Bounds(low=4, high=8), Bounds(low=0, high=1)]
    assert found.whole_tokens == [2]


def test_only_what_was_asked_alike_at_the_same_place_is_compared() -> None:
    same = [answer("a")]
    assert only(arms(same, same)).whole_tokens == [1]
    assert agreements(arms(same, [answer("a", prompt="other")])) == []
    assert agreements(arms(same, same, repeat=2)) == []
    assert agreements(arms(same, [answer("a", ok=False)])) == []
    old = RequestRecord(index=0, ok=True, output_sha256="f" * 64, completion_tokens=3)
    assert agreements(arms([old], [old])) == [], "a bundle of a version that kept no digests"


def test_a_prompt_that_is_sent_again_is_compared_in_the_order_of_sending() -> None:
    ours, theirs = [answer("a"), answer("b")], [answer("a"), answer("b"), answer("c")]
    assert only(arms(ours, theirs)).whole_tokens == [1, 1]


def test_an_unfinished_cell_is_not_compared() -> None:
    first, second = arms([answer("a")], [answer("a")])
    assert agreements([first, second.model_copy(update={"state": "aborted"})]) == []


def test_an_answer_that_ends_where_the_other_goes_on() -> None:
    assert common_tokens(answer(*"abcd"), answer(*"abcdefgh")) == 4
    ended = answer(*"abcd", tokens=5)  # the fifth is the end of the text, which no event shows
    assert common_tokens(ended, answer(*"abcdefgh")) == Bounds(low=4, high=5)


def test_where_they_part_is_known_to_a_digest() -> None:
    assert common_tokens(answer(*"abcdefgh"), answer(*"abcdefgH")) == Bounds(low=4, high=8)
    assert common_tokens(answer(*"abcdefgh"), answer(*"Abcdefgh")) == Bounds(low=0, high=4)


def test_events_of_several_tokens_leave_a_wider_interval() -> None:
    coarse = answer("abcd", "efgh", "i"), answer("abcd", "efgH", "i")
    assert common_tokens(*coarse) == Bounds(low=1, high=8)
    assert common_tokens(answer(*"abcdefghi"), coarse[1]) == Bounds(low=4, high=8)
    one_event = answer("abcdefgh", tokens=8), answer("abcdefgH", tokens=9)
    assert common_tokens(*one_event) == Bounds(low=0, high=8)


def test_beyond_the_digests_that_are_kept_nothing_is_known() -> None:
    long = "abcd" * 20
    assert common_tokens(answer(*long, "x"), answer(*long, "y")) == Bounds(low=64, high=81)


def test_acceptance_is_work_over_work_at_the_places_that_both_have() -> None:
    ours = [answer("a", draft_tokens=10, accepted_tokens=5), answer("b", draft_tokens=0)]
    theirs = [answer("b", draft_tokens=30, accepted_tokens=3)]
    assert only(arms(ours, theirs)).acceptance == [0.5, 0.1]
    assert only(arms(ours, [answer("a")])).acceptance == [], "one arm drafts nothing"


tokens = st.lists(st.sampled_from("ab"), min_size=1, max_size=24)


@given(tokens, tokens, st.data())
def test_the_interval_holds_the_truth_however_tokens_are_put_together(
    one: list[str], other: list[str], data: st.DataObject
) -> None:
    """Tokens that are the same text are the same token here, as in greedy decoding."""
    true = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    true = min(len(one), len(other)) if true is None else true

    def sent(parts: list[str]) -> RequestRecord:
        cuts = data.draw(st.lists(st.booleans(), min_size=len(parts), max_size=len(parts)))
        events = [""]
        for part, cut in zip(parts, cuts, strict=True):
            events = [*events, part] if cut else [*events[:-1], events[-1] + part]
        return answer(*(e for e in events if e))

    if one != other:
        found = common_tokens(sent(one), sent(other))
        low, high = (found.low, found.high) if isinstance(found, Bounds) else (found, found)
        assert low <= true <= high
