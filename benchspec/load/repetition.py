"""Does a text go round in circles? Measures that know no language; what they mean the judge says."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from benchspec.store.records import TextRecord

MOST_CHARS = 65_536
"""Characters that are looked at; a text that has not begun to loop by then is long, not broken."""

_GRAM = 4
_BLOCKS = 4
_LEAST_CHARS = 16


def measure(text: str) -> TextRecord:
    """The measures of one text, white space counted as single spaces.

    A loop is one block that stands at least four times in a row, over at least 16 characters: so
    `- - - - - - - -` is one, `no, no, no` is none, and rows of a table that differ are none.
    The entropy is Shannon's, of the frequencies of characters: 0 where all are the same, about 4
    in English prose and in code, higher in Chinese.
    """
    seen = " ".join(text[:MOST_CHARS].split()) or text[:MOST_CHARS]
    return TextRecord(
        chars=len(seen),
        looped_chars=sum(end - start for start, end in _loops(seen)),
        entropy_bits=_entropy_bits(seen),
    )


def _loops(text: str) -> Iterator[tuple[int, int]]:
    """Where loops begin and end, in order; none lies in another."""
    last: dict[str, int] = {}
    at = done = 0
    while at + _GRAM <= len(text):
        gram = text[at : at + _GRAM]
        before = last.get(gram)
        last[gram] = at
        if before is None:
            at += 1
            continue
        period = at - before
        start, end = _stretch(text, at, period, done)
        if end - start >= max(_BLOCKS * period, _LEAST_CHARS):
            yield start, end
            done = end
        for passed in range(at + 1, min(end, len(text) - _GRAM + 1)):
            last[text[passed : passed + _GRAM]] = passed
        at = max(at + 1, end)


def _stretch(text: str, at: int, period: int, done: int) -> tuple[int, int]:
    """How far around `at`, but not before `done`, every character is that of a period before."""
    start, end = at - period, at + _GRAM
    while start > done and text[start - 1] == text[start - 1 + period]:
        start -= 1
    while end < len(text) and text[end] == text[end - period]:
        end += 1
    return max(start, done), end


def _entropy_bits(text: str) -> float:
    shares = [count / len(text) for count in Counter(text).values()]
    return round(abs(math.fsum(share * math.log2(share) for share in shares)), 3)
