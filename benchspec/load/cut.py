"""Text of an exact number of tokens, cut where the server's own tokeniser counts them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from benchspec.errors import EngineFailure

MOST_TRIES = 3
"""A text of so many times the words that tokens are asked for, and the tokeniser does not count."""

TokenIds = Callable[[str], list[int] | None]

_FILLERS = (" a", ".", " I", "1")
"""A token each in common vocabularies: they fill up where one more character is too many tokens."""


def cut_ids(pieces: Iterator[str], tokens: int, token_ids: TokenIds) -> list[int]:
    """The first `tokens` ids of a text. Raises EngineFailure as `long_enough` does."""
    return long_enough("", pieces, tokens, token_ids)[1][:tokens] if tokens else []


def cut_text(head: str, pieces: Iterator[str], tokens: int, token_ids: TokenIds) -> str:
    """`head` and as much of the text of `pieces` as make `tokens` tokens together, without white
    space around it, which a chat template would drop.

    Where no beginning of the text has that many (one character may be several tokens), it is filled
    up, or is the longest with fewer. Raises EngineFailure as `long_enough` does.
    """
    if tokens == 0:
        return ""
    text, ids = long_enough(head, pieces, tokens, token_ids)
    low, high = len(head), len(text)
    low_count, high_count = len(token_ids(head) or []) if head else 0, len(ids)
    if low_count >= tokens:
        return head
    while high_count != tokens and high - low > 1:
        share = (tokens - low_count) / max(1, high_count - low_count)
        middle = min(high - 1, max(low + 1, low + round(share * (high - low))))
        count = len(token_ids(text[:middle].rstrip()) or [])
        if count < tokens:
            low, low_count = middle, count
        else:
            high, high_count = middle, count
    if high_count == tokens:
        return text[:high].rstrip()
    return _filled(text[:low].rstrip() or text[:high], tokens - low_count, tokens, token_ids)


def long_enough(
    head: str, pieces: Iterator[str], tokens: int, token_ids: TokenIds
) -> tuple[str, list[int]]:
    """A text that begins with `head` and has `tokens` tokens at least, and its ids.

    A piece is nearly always a token at least; where pieces merge, more of them are taken. Raises
    EngineFailure when the tokeniser gives far fewer ids than the text has words.
    """
    text, ids = head, list[int]()
    for _ in range(MOST_TRIES):
        text = (text + "".join(islice(pieces, tokens))).lstrip()
        ids = token_ids(text) or []
        if len(ids) >= tokens:
            return text, ids
    raise EngineFailure(
        f"the server's tokeniser gave {len(ids)} tokens for a text of {MOST_TRIES * tokens} words",
        hint="take prompts from a file instead of asking for a number of tokens",
    )


def _filled(text: str, missing: int, tokens: int, token_ids: TokenIds) -> str:
    fillings = (text + filler * missing for filler in _FILLERS)
    return next((one for one in fillings if len(token_ids(one) or []) == tokens), text)
