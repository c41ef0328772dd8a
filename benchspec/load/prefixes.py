"""Digests of how an answer begins, by which two arms' answers are compared without their texts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from hashlib import sha256
from itertools import accumulate

STEP_CHARS = 64
"""From one digest to the next: few enough characters to see where two answers part, too many for
the text to be guessed back from the digests."""

MOST_DIGESTS = 16
"""Of an answer: 1,024 characters are well over the 100 tokens within which an error shows (see
agreement.prefix of the judge)."""

_DIGITS = 8


def prefix_digests(pieces: Sequence[str]) -> list[tuple[int, str]]:
    """Of the first 64, 128, ... characters of an answer that came in `pieces`: how many pieces end
    in them, and the first eight hexadecimal digits of their SHA-256."""
    ends, text = list(accumulate(map(len, pieces))), "".join(pieces)
    last = min(len(text), MOST_DIGESTS * STEP_CHARS)
    return [
        (bisect_right(ends, mark), _digest(text[:mark]))
        for mark in range(STEP_CHARS, last + 1, STEP_CHARS)
    ]


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
