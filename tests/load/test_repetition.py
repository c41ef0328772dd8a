"""Texts that go round in circles, and texts that only look alike: prose, code, tables, lists."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchspec.load.repetition import MOST_CHARS, measure

LETTERS = "abcdefghijklmnopqrstuvwxyz"

PROSE = (
    "The lighthouse keeper counted the ships that passed before breakfast, wrote their names in a "
    "ledger bound in green cloth, and went down the hundred and twelve steps to feed his goat. "
    "On Thursdays nobody came. On Fridays a boat brought flour, paraffin and the newspapers."
)
CHINESE = (
    "清晨的雾还没有散去，卖豆浆的老人已经把炉子推到了巷口。孩子们背着书包从他身边跑过，"
    "有人停下来买两根油条，有人只是笑着喊一声早。太阳升起来以后，青石板上的水慢慢干了。"
)
CODE = '''def median(values):
    """The middle one; of two middle ones their mean."""
    ordered = sorted(values)
    half, odd = divmod(len(ordered), 2)
    if odd:
        return ordered[half]
                                        # ----------------
    return (ordered[half - 1] + ordered[half]) / 2
'''
JSON = (
    '[{"id": 1, "name": "Ada", "tags": ["a", "b"], "ok": true}, {"id": 2, "name": "Grace", '
    '"tags": [], "ok": true}, {"id": 3, "name": "Edsger", "tags": ["c"], "ok": false}, '
    '{"id": 4, "name": "Barbara", "tags": ["a"], "ok": true}]'
)
TABLE = (
    "| Planet | Moons |\n|--------|-------|\n| Earth | 1 |\n| Mars | 2 |\n| Jupiter | 95 |\n"
    "| Saturn | 146 |\n| Uranus | 28 |\n| Neptune | 16 |\n"
)
COUNTING = "\n".join(f"{n}. {n}" for n in range(1, 60))
# What a model of 135 million parameters said greedily: dull, and no circle yet.
DULL = (
    ".\n\nThe cottage was a small, rustic cottage with a single door. The door was open, and the "
    "cottage was filled with the sounds of children laughing and playing. The children were dressed "
    "in their Sunday best, and they were all dressed in their Sunday best."
)
SHORT = ("Hola.", "42", "Paris is the capital of France.", "No, no, no.", "1. Apples\n2. Pears")

SANE = (PROSE, CHINESE, CODE, JSON, TABLE, COUNTING, DULL, *SHORT)


def looped(text: str) -> float:
    measured = measure(text)
    return measured.looped_chars / max(1, measured.chars)


@pytest.mark.parametrize("text", SANE)
@pytest.mark.parametrize("length", [40, 64, 120, None])
def test_no_part_of_an_ordinary_text_is_a_loop(text: str, length: int | None) -> None:
    assert looped(text[:length]) < 0.4
    if len(text[:length]) >= 32:
        assert measure(text[:length]).entropy_bits > 2.5


# Said by that model, where its length was forced or not; the last four by broken servers.
CIRCLES = (
    ". It was a gate of the past." * 5,
    "la femme au martyre, la femme au martyre, la femme au martyre, la femme au martyre, la fem",
    "的2023年12月11日" * 9,
    "# \n" * 20,
    " the" * 16,
    "?" * 16,
    "早节" * 30,
    "\n" * 32,
)


@pytest.mark.parametrize("text", CIRCLES)
def test_a_text_that_goes_round_is_seen(text: str) -> None:
    assert looped(text) > 0.9


def test_a_word_over_and_over_has_less_entropy_than_a_sentence_over_and_over() -> None:
    bits = [measure(text).entropy_bits for text in ("?" * 40, "?! " * 20, " the" * 20)]
    assert bits == sorted(bits)
    assert bits[-1] < 2.5 < measure("He was a man of the earth. " * 8).entropy_bits


def test_a_text_that_ends_in_circles_is_looped_from_there_on() -> None:
    circle = "And then he went home. " * 20
    measured = measure(PROSE + " " + circle)
    assert abs(measured.looped_chars - len(circle)) < 5
    assert measured.chars == len(PROSE + circle)


def test_one_or_two_characters_by_chance_are_no_loop_but_have_no_entropy() -> None:
    draw = random.Random(7)
    soup = "".join(draw.choice("?!") for _ in range(400))
    assert looped(soup) < 0.5
    assert measure(soup).entropy_bits == pytest.approx(1.0, abs=0.02)


texts = st.text(max_size=400) | st.text(alphabet="ab ", max_size=400)


@given(texts)
def test_the_measures_are_of_this_world(text: str) -> None:
    measured = measure(text)
    assert 0 <= measured.looped_chars <= measured.chars <= len(text)
    assert 0 <= measured.entropy_bits <= 21
    assert measure(text) == measured


@given(st.text(alphabet=LETTERS, min_size=1, max_size=40), st.integers(4, 12))
def test_a_block_four_times_in_a_row_is_a_loop(block: str, times: int) -> None:
    text = block * times
    if len(text) >= 16:
        assert measure(text).looped_chars == len(text)


@given(st.integers(0, 2**32), st.integers(20, 300))
def test_letters_by_chance_are_no_loop(seed: int, length: int) -> None:
    draw = random.Random(seed)
    assert measure("".join(draw.choice(LETTERS) for _ in range(length))).looped_chars == 0


@given(st.lists(st.sampled_from(["word", "a", "of", "it"]), max_size=60))
def test_white_space_does_not_count(words: list[str]) -> None:
    assert measure("\n\t ".join(words)) == measure(" ".join(words))


def _fibonacci() -> str:
    one, other = "a", "ab"
    while len(other) < MOST_CHARS:
        one, other = other, other + one
    return other


@pytest.mark.parametrize("text", ["x" * 10**6, "ab " * 10**6, _fibonacci(), "\ud800" * 100])
def test_no_text_of_a_server_takes_long_or_fails(text: str) -> None:
    assert measure(text).chars <= MOST_CHARS
