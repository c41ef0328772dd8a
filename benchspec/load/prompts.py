"""Prompts: seeded text that differs from its first word on, or is shared on purpose."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from benchspec.errors import EngineFailure, UsageError
from benchspec.load.materials import MATERIALS
from benchspec.load.target import Prompt

MAX_JSONL_BYTES = 64 * 1024 * 1024
MAX_PROMPTS = 100_000

MOST_TRIES = 3
"""A text of so many times the words that tokens are asked for, and the tokeniser does not count."""

TokenIds = Callable[[str], list[int] | None]


@dataclass(frozen=True)
class PromptShape:
    """How long prompts are, what they are made of and what they share.

    `material` is a name of MATERIALS. `unique`: no two begin alike, so that no prefix cache can
    help; else all are the same one. `shared_prefix` tokens in front are the same for all of them on
    purpose.
    """

    tokens: int
    unique: bool = True
    shared_prefix: int = 0
    material: str = "english-prose"


def make_prompts(
    count: int,
    shape: PromptShape,
    *,
    label: str,
    seed: int,
    token_ids: TokenIds | None = None,
    tokens_per_piece: float | None = None,
) -> list[Prompt]:
    """`count` prompts; the same shape, label and seed give the same ones, byte for byte.

    With `token_ids` (the server's tokenisation of a text) each is a list of exactly `shape.tokens`
    ids. Without it, or where it returns None, each is text of about that length, at
    `tokens_per_piece` (see `measured_tokens_per_piece`; the material's own guess if None). Raises
    EngineFailure when the tokeniser gives far fewer ids than the text has words.
    """
    material = MATERIALS[shape.material]
    exact = token_ids is not None and token_ids(material.openers[0]) is not None
    shared = min(shape.shared_prefix, shape.tokens) if shape.unique else 0

    def write(pieces: Iterator[str], tokens: int) -> Prompt:
        if exact and token_ids is not None:
            return _ids(pieces, tokens, token_ids)
        return "".join(islice(pieces, piece_count(shape.material, tokens, tokens_per_piece)))

    prefix = write(material.pieces(f"{label}|{seed}|prefix"), shared)
    prompts = [
        _join(prefix, write(material.opened(label, seed, index), shape.tokens - shared))
        for index in range(count if shape.unique else min(count, 1))
    ]
    return prompts if shape.unique else prompts * count


def piece_count(material: str, tokens: int, tokens_per_piece: float | None = None) -> int:
    """How many pieces of a material are written for so many tokens where nothing counts them."""
    return round(tokens / (tokens_per_piece or MATERIALS[material].tokens_per_piece))


def measured_tokens_per_piece(pieces: int, prompt_tokens: int) -> float:
    """The ratio to ask for next, from what the server counted for a prompt of so many pieces."""
    return prompt_tokens / max(1, pieces)


def prompts_from_jsonl(data: bytes, name: str) -> list[str]:
    """One prompt per line, `{"prompt": "..."}`; empty lines are skipped.

    Raises UsageError, with `name` and the line, for anything else, more than 64 MiB, more than
    100,000 prompts, or none.
    """
    if len(data) > MAX_JSONL_BYTES:
        raise UsageError(f"{name} is larger than {MAX_JSONL_BYTES // 2**20} MiB")
    lines = [(number, line) for number, line in enumerate(data.splitlines(), 1) if line.strip()]
    if not 0 < len(lines) <= MAX_PROMPTS:
        raise UsageError(
            f"{name} holds {len(lines)} prompts; 1 to {MAX_PROMPTS} can be used", hint=_FORM
        )
    return [_jsonl_prompt(line, f"{name}:{number}") for number, line in lines]


_FORM = 'A prompt file has one object a line: {"prompt": "..."}.'


def _jsonl_prompt(line: bytes, where: str) -> str:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        raise UsageError(f"{where}: this line is not JSON", hint=_FORM) from None
    prompt = entry.get("prompt") if isinstance(entry, dict) else None
    if not isinstance(prompt, str) or not prompt:
        raise UsageError(f"{where}: a line must be an object with a text as its prompt", hint=_FORM)
    return prompt


def _ids(pieces: Iterator[str], tokens: int, token_ids: TokenIds) -> list[int]:
    """A piece is nearly always a token at least; where pieces merge, more of them are taken."""
    if tokens == 0:
        return []
    text, ids = "", []
    for _ in range(MOST_TRIES):
        text += "".join(islice(pieces, tokens))
        ids = token_ids(text.lstrip()) or []
        if len(ids) >= tokens:
            return ids[:tokens]
    raise EngineFailure(
        f"the server's tokeniser gave {len(ids)} tokens for a text of {MOST_TRIES * tokens} words",
        hint="take prompts from a file instead of asking for a number of tokens",
    )


def _join(prefix: Prompt, rest: Prompt) -> Prompt:
    if isinstance(prefix, str) and isinstance(rest, str):
        return (prefix + rest).strip()
    return [*prefix, *rest]
