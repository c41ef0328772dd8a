"""Prompts: reproducible, of the length asked for, and sharing nothing unless asked to."""

from __future__ import annotations

import json
import re
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchspec.errors import EngineFailure, UsageError
from benchspec.load.materials import MATERIALS
from benchspec.load.materials.english import OPENERS
from benchspec.load.prompts import (
    PromptShape,
    make_prompts,
    piece_count,
    prompts_from_jsonl,
)

VOCABULARY: dict[str, int] = {}


def word_ids(text: str) -> list[int] | None:
    """A tokeniser with two tokens per word: its first letter, and the rest."""
    pieces = (piece for word in text.split() for piece in (word[0], word[1:]))
    return [VOCABULARY.setdefault(piece, len(VOCABULARY)) for piece in pieces]


def texts(count: int, shape: PromptShape, label: str = "a", seed: int = 1) -> list[str]:
    prompts = make_prompts(count, shape, label=label, seed=seed, tokens_per_piece=1.0)
    assert all(isinstance(prompt, str) for prompt in prompts)
    return [str(prompt) for prompt in prompts]


@given(label=st.text(max_size=10), seed=st.integers(), tokens=st.integers(1, 200))
def test_the_same_label_and_seed_give_the_same_bytes(label: str, seed: int, tokens: int) -> None:
    shape = PromptShape(tokens)
    assert texts(3, shape, label, seed) == texts(3, shape, label, seed)


def test_the_bytes_are_pinned() -> None:
    """A change here makes every published run irreproducible."""
    assert texts(1, PromptShape(14)) == [
        "Dark Dark Expected The spare painter carried the valley beside the lucky maple. The"
    ]


@given(label=st.text(max_size=10), seed=st.integers())
def test_no_two_prompts_of_a_label_begin_with_the_same_word(label: str, seed: int) -> None:
    prompts = texts(len(OPENERS), PromptShape(8), label, seed)
    assert len({prompt.split()[0] for prompt in prompts}) == len(OPENERS) >= 256


def test_beyond_that_the_first_two_words_differ() -> None:
    prompts = texts(3 * len(OPENERS), PromptShape(8))
    assert len({tuple(prompt.split()[:2]) for prompt in prompts}) == 3 * len(OPENERS)


def test_labels_and_seeds_give_other_prompts() -> None:
    shape = PromptShape(20)
    sets = [set(texts(50, shape, label, seed)) for label in "abc" for seed in (1, 2)]
    assert all(not one & other for one, other in combinations(sets, 2))


@pytest.mark.parametrize("tokens", [1, 2, 3, 64, 1001])
def test_with_token_ids_the_length_is_exact(tokens: int) -> None:
    shape = PromptShape(tokens)
    for prompt in make_prompts(4, shape, label="a", seed=1, token_ids=word_ids):
        assert not isinstance(prompt, str)
        assert len(prompt) == tokens


def test_a_server_without_tokeniser_gets_text() -> None:
    (prompt,) = make_prompts(1, PromptShape(10), label="a", seed=1, token_ids=lambda _: None)
    assert isinstance(prompt, str)


def test_where_words_merge_more_of_them_are_taken() -> None:
    def pairs(text: str) -> list[int]:
        return list(range(len(text.split()) // 2))

    (prompt,) = make_prompts(1, PromptShape(10), label="a", seed=1, token_ids=pairs)
    assert prompt == list(range(10))


def test_a_tokeniser_that_drops_words_is_a_failure() -> None:
    with pytest.raises(EngineFailure, match="gave 1 tokens for a text of 30 words"):
        make_prompts(1, PromptShape(10), label="a", seed=1, token_ids=lambda _: [7])


@pytest.mark.parametrize("material", MATERIALS)
def test_text_is_corrected_by_what_the_server_counted(material: str) -> None:
    shape = PromptShape(1000, material=material)
    (first,) = make_prompts(1, shape, label="a", seed=1)
    counted = len(str(first).encode())  # a server whose tokens are bytes
    ratio = counted / piece_count(material, 1000)
    (second,) = make_prompts(1, shape, label="b", seed=1, tokens_per_piece=ratio)
    assert len(str(second).encode()) == pytest.approx(1000, rel=0.05)


def triples(text: str) -> list[int] | None:
    """A tokeniser that spends three tokens on a character beyond ASCII, and one on a word."""
    ids: list[int] = []
    for word in re.findall(r"[^\x00-\x7f]|\s*[\x00-\x7f]+?\b|\s*[\x00-\x7f]", text):
        ids += [ord(word[-1])] * (1 if word.isascii() else 3)
    return ids


@pytest.mark.parametrize("tokens", [1, 2, 3, 64, 65, 1001])
@pytest.mark.parametrize("material", MATERIALS)
def test_text_is_cut_to_an_exact_length(material: str, tokens: int) -> None:
    asked: list[str] = []

    def counting(text: str) -> list[int] | None:
        asked.append(text)
        return triples(text)

    shape = PromptShape(tokens, material=material)
    made = make_prompts(8, shape, label="a", seed=1, token_ids=counting, as_text=True)
    counts = [len(triples(str(prompt)) or []) for prompt in made]
    if tokens > 2 or material != "chinese-prose":  # whose first character is three tokens
        assert set(counts) == {tokens}
    assert all(str(prompt) == str(prompt).strip() for prompt in made)
    assert len(asked) <= 8 * 12


@given(shared=st.integers(0, 40))
def test_a_shared_prefix_of_cut_text(shared: int) -> None:
    shape = PromptShape(40, shared_prefix=shared)
    texts = make_prompts(2, shape, label="a", seed=1, token_ids=triples, as_text=True)
    first, second = (triples(str(text)) or [] for text in texts)
    assert len(first) == len(second) == 40
    assert first[:shared] == second[:shared]
    assert (texts[0] == texts[1]) == (shared == 40)


def test_prompts_that_are_not_unique_are_all_the_same() -> None:
    assert len(set(texts(5, PromptShape(20, unique=False)))) == 1


@given(shared=st.integers(1, 30))
def test_a_shared_prefix_is_shared_and_no_more(shared: int) -> None:
    first, second = (
        prompt.split() for prompt in texts(2, PromptShape(30 + shared, shared_prefix=shared))
    )
    assert first[:shared] == second[:shared]
    assert first[shared] != second[shared]


@given(shared=st.integers(0, 40))
def test_a_shared_prefix_of_ids_is_exact(shared: int) -> None:
    shape = PromptShape(40, shared_prefix=shared)
    first, second = make_prompts(2, shape, label="a", seed=1, token_ids=word_ids)
    assert len(first) == len(second) == 40
    assert list(first[:shared]) == list(second[:shared])


def test_prompts_from_a_file() -> None:
    data = b'{"prompt": "a", "note": 1}\n\n{"prompt": "\xe4\xb8\x96"}\r\n'
    assert prompts_from_jsonl(data, "p.jsonl") == ["a", "世"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "p.jsonl holds 0 prompts"),
        (b"\n\n", "p.jsonl holds 0 prompts"),
        (b'{"prompt": "a"}\nhello\n', r"p.jsonl:2: this line is not JSON"),
        (b'{"prompt": "\xff"}\n', r"p.jsonl:1: this line is not JSON"),
        (b"[" * 100_000, r"p.jsonl:1: this line is not JSON"),
        (b'"a"\n', r"p.jsonl:1: a line must be an object"),
        (b'{"text": "a"}\n', r"p.jsonl:1: a line must be an object"),
        (b'{"prompt": ""}\n', r"p.jsonl:1: a line must be an object"),
        (b'{"prompt": ["a"]}\n', r"p.jsonl:1: a line must be an object"),
        (json.dumps({"prompt": "a"}).encode() + b"\n", None),
    ],
)
def test_a_file_that_holds_no_prompts_is_refused(data: bytes, reason: str | None) -> None:
    if reason is None:
        assert prompts_from_jsonl(data, "p.jsonl") == ["a"]
        return
    with pytest.raises(UsageError, match=reason):
        prompts_from_jsonl(data, "p.jsonl")
