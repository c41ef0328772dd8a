"""Prompts: seeded text that differs from its first word on, or is shared on purpose."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from benchspec.errors import UsageError
from benchspec.load.cut import TokenIds, cut_ids, cut_text
from benchspec.load.materials import MATERIALS
from benchspec.load.target import Prompt

MAX_JSONL_BYTES = 64 * 1024 * 1024
MAX_PROMPTS = 100_000


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
    as_text: bool = False,
) -> list[Prompt]:
    """`count` prompts; the same shape, label and seed give the same ones, byte for byte.

    With `token_ids` (the server's tokenisation of a text) each is a list of exactly `shape.tokens`
    ids or, `as_text`, text of so many (see `cut_text`). Without it, or where it returns None, each
    is text of about that length, at `tokens_per_piece` (the material's own guess if None). Raises
    EngineFailure when the tokeniser gives far fewer ids than the text has words.
    """
    material = MATERIALS[shape.material]
    exact = token_ids is not None and token_ids(material.openers[0]) is not None
    shared = min(shape.shared_prefix, shape.tokens) if shape.unique else 0

    def write(head: Prompt | None, pieces: Iterator[str], tokens: int) -> Prompt:
        """`head` (None: this is the head) and what follows it, `tokens` in all."""
        if exact and token_ids is not None:
            if as_text:
                return cut_text(str(head or ""), pieces, tokens, token_ids)
            return [*(head or []), *cut_ids(pieces, tokens - len(head or []), token_ids)]
        rest = tokens if head is None else tokens - shared
        text = "".join(islice(pieces, piece_count(shape.material, rest, tokens_per_piece)))
        return text if head is None else (str(head) + text).strip()

    prefix = write(None, material.pieces(f"{label}|{seed}|prefix"), shared)
    prompts = [
        write(prefix, material.opened(label, seed, index), shape.tokens)
        for index in range(count if shape.unique else min(count, 1))
    ]
    return prompts if shape.unique else prompts * count


def piece_count(material: str, tokens: int, tokens_per_piece: float | None = None) -> int:
    """How many pieces of a material are written for so many tokens where nothing counts them."""
    return round(tokens / (tokens_per_piece or MATERIALS[material].tokens_per_piece))


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
