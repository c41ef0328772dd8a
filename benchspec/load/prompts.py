"""Prompts: seeded English prose that differs from its first word on, or is shared on purpose."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from benchspec.errors import EngineFailure, UsageError
from benchspec.load.target import Prompt
from benchspec.load.words import ADJECTIVES, NOUNS, OPENERS, PREPOSITIONS, VERBS

# English in common vocabularies, for a first guess; the server's own count corrects it.
TOKENS_PER_WORD = 1.15
MAX_JSONL_BYTES = 64 * 1024 * 1024
MAX_PROMPTS = 100_000

TokenIds = Callable[[str], list[int] | None]


@dataclass(frozen=True)
class PromptShape:
    """How long prompts are and what they share.

    `unique`: no two begin alike, so that no prefix cache can help; else all are the same one.
    `shared_prefix` tokens in front are the same for all of them on purpose.
    """

    tokens: int
    unique: bool = True
    shared_prefix: int = 0


def make_prompts(
    count: int,
    shape: PromptShape,
    *,
    label: str,
    seed: int,
    token_ids: TokenIds | None = None,
    tokens_per_word: float = TOKENS_PER_WORD,
) -> list[Prompt]:
    """`count` prompts; the same shape, label and seed give the same ones, byte for byte.

    With `token_ids` (the server's tokenisation of a text) each is a list of exactly `shape.tokens`
    ids. Without it, or where it returns None, each is text of about that length, at
    `tokens_per_word` (see `measured_tokens_per_word`). Raises EngineFailure when the tokeniser
    gives fewer ids than the text has words.
    """
    exact = token_ids is not None and token_ids(NOUNS[0]) is not None
    shared = min(shape.shared_prefix, shape.tokens) if shape.unique else 0

    def write(words: Iterator[str], tokens: int) -> Prompt:
        if exact and token_ids is not None:
            return _ids(words, tokens, token_ids)
        return " ".join(islice(words, round(tokens / tokens_per_word)))

    prefix = write(_prose(f"{label}|{seed}|prefix"), shared)
    prompts = [
        _join(prefix, write(_opened(label, seed, index), shape.tokens - shared))
        for index in range(count if shape.unique else min(count, 1))
    ]
    return prompts if shape.unique else prompts * count


def measured_tokens_per_word(prompt: str, prompt_tokens: int) -> float:
    """The ratio to ask for next, from what the server counted for a prompt made here."""
    return prompt_tokens / max(1, len(prompt.split()))


def prompts_from_jsonl(data: bytes, name: str) -> list[str]:
    """One prompt per line, `{"prompt": "..."}`; empty lines are skipped.

    Raises UsageError, with `name` and the line, for anything else, more than 64 MiB, more than
    100,000 prompts, or none.
    """
    if len(data) > MAX_JSONL_BYTES:
        raise UsageError(f"{name} is larger than {MAX_JSONL_BYTES // 2**20} MiB")
    lines = [(number, line) for number, line in enumerate(data.splitlines(), 1) if line.strip()]
    if not 0 < len(lines) <= MAX_PROMPTS:
        raise UsageError(f"{name} holds {len(lines)} prompts; 1 to {MAX_PROMPTS} can be used")
    return [_jsonl_prompt(line, f"{name}:{number}") for number, line in lines]


def _jsonl_prompt(line: bytes, where: str) -> str:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        raise UsageError(f"{where}: this line is not JSON") from None
    prompt = entry.get("prompt") if isinstance(entry, dict) else None
    if not isinstance(prompt, str) or not prompt:
        raise UsageError(f'{where}: a line must be an object like {{"prompt": "..."}}')
    return prompt


def _ids(words: Iterator[str], tokens: int, token_ids: TokenIds) -> list[int]:
    ids = token_ids(" ".join(islice(words, tokens))) or []  # a word is at least one token
    if len(ids) < tokens:
        raise EngineFailure(
            f"the server's tokeniser gave {len(ids)} tokens for a text of {tokens} words",
            hint="take prompts from a file instead of asking for a number of tokens",
        )
    return ids[:tokens]


def _join(prefix: Prompt, rest: Prompt) -> Prompt:
    if isinstance(prefix, str) and isinstance(rest, str):
        return f"{prefix} {rest}".strip()
    return [*prefix, *rest]


def _opened(label: str, seed: int, index: int) -> Iterator[str]:
    """Prose after three opening words.

    Within one label the first words of `len(OPENERS)` successive prompts all differ, the first two
    words of the square of that; the third separates labels.
    """
    digest = hashlib.sha256(f"{label}|{seed}".encode()).digest()
    place = int.from_bytes(digest[:4], "big")
    high, low = divmod(index, len(OPENERS))
    for number in (place + low, place + high, int.from_bytes(digest[4:8], "big")):
        yield OPENERS[number % len(OPENERS)]
    yield from _prose(f"{label}|{seed}|{index}")


def _prose(seed: str) -> Iterator[str]:
    """Words of endless plain sentences."""
    rng = random.Random(seed)

    def pick(words: tuple[str, ...]) -> str:
        return words[int(rng.random() * len(words))]  # random() is the one method that is pinned

    while True:
        yield from ("The", pick(ADJECTIVES), pick(NOUNS), pick(VERBS), "the", pick(NOUNS))
        yield from (pick(PREPOSITIONS), "the", pick(ADJECTIVES), pick(NOUNS) + ".")
