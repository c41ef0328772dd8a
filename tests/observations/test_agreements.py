"""How far two arms' answers agree, from digests alone, against texts that the test knows."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from benchspec.observations.agreements import agreements, common_tokens
from benchspec.observations.model import Agreement, Bounds
from benchspec.store.records import PREFIX_CHARS, CellRecord, RequestRecord
from tests.observations.test_from_bundle import cell


def answer(
    *events: str, prompt: str = "p", tokens: int | None = None, kept: int = 128, **rest: Any
) -> RequestRecord:
    """An answer in events as the client records it, one token each unless `tokens` says more."""
    digests = [sha256("".join(events[: n + 1]).encode()).hexdigest() for n in range(len(events))]
    base: dict[str, Any] = {
        "index": 0,
        "ok": True,
        "completion_tokens": len(events) if tokens is None else tokens,
        "samples_count": len(events),
        "output_sha256": digests[-1] if digests else None,
        "output_prefixes": "".join(one[:PREFIX_CHARS] for one in digests[:kept]),
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
    ours = [answer("a", "b", "c", "d"), answer("x", "y", prompt="q"), answer("!", prompt="r")]
    theirs = [answer("x", "y", prompt="q"), answer("a", "b", "C", "d"), answer("?", prompt="r")]
    found = only(arms(ours, theirs))
    assert found.arms == ["A", "B"]
    assert (found.common_prefix_tokens, found.whole_tokens) == ([2, 0], [2])


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
    assert common_tokens(answer("a", "b"), answer("a", "b", "c")) == 2
    ended = answer("a", "b", tokens=3)  # the third is the end of the text, which no event shows
    assert common_tokens(ended, answer("a", "b", "c")) == Bounds(low=2, high=3)


def test_events_of_several_tokens_leave_an_interval() -> None:
    fine = answer(*"abcdefgh")
    coarse = answer("ab", "cd", "xy", "zz", tokens=8)
    assert common_tokens(fine, coarse) == Bounds(low=4, high=6)
    whole = answer("abc", tokens=40), answer("abd", tokens=50)
    assert common_tokens(*whole) == Bounds(low=0, high=40)


def test_beyond_the_digests_that_were_kept_nothing_is_known() -> None:
    one, other = answer(*"abcdef", kept=3), answer(*"abcdeX", kept=3)
    assert common_tokens(one, other) == Bounds(low=3, high=6)


def test_acceptance_is_work_over_work_at_the_places_that_both_have() -> None:
    ours = [answer("a", draft_tokens=10, accepted_tokens=5), answer("b", draft_tokens=0)]
    theirs = [answer("b", draft_tokens=30, accepted_tokens=3)]
    assert only(arms(ours, theirs)).acceptance == [0.5, 0.1]
    assert only(arms(ours, [answer("a")])).acceptance == [], "one arm drafts nothing"


tokens = st.lists(st.sampled_from("ab"), min_size=1, max_size=12)


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
        kept = data.draw(st.integers(0, 12))
        return answer(*(e for e in events if e), tokens=len(parts), kept=kept)

    if one != other:
        found = common_tokens(sent(one), sent(other))
        low, high = (found.low, found.high) if isinstance(found, Bounds) else (found, found)
        assert low <= true <= high
