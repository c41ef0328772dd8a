"""What a material is: endless text in pieces, the same on every machine for the same seed."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Pick = Callable[[Sequence[str]], str]
"""Draws one of these."""


@dataclass(frozen=True)
class Material:
    """A kind of text that prompts are made of.

    Text comes in pieces, about a word each, which carry the white space before them, so that joined
    pieces are the text. `openers` are pieces that may open a prompt: what a tokeniser makes of
    their beginnings differs. `text` writes endlessly from a source of choices. `tokens_per_piece`
    is a first guess in common vocabularies; the server's own count corrects it.
    """

    name: str
    openers: tuple[str, ...]
    text: Callable[[Pick], Iterator[str]]
    tokens_per_piece: float

    def pieces(self, seed: str) -> Iterator[str]:
        """Endless text; the same `seed` gives the same pieces on every machine."""
        return self.text(_pick(seed))

    def opened(self, label: str, seed: int, index: int) -> Iterator[str]:
        """Endless text after three openers.

        Within one label the first pieces of `len(openers)` successive indices all differ, the first
        two of the square of that; the third separates labels.
        """
        digest = hashlib.sha256(f"{label}|{seed}".encode()).digest()
        place = int.from_bytes(digest[:4], "big")
        high, low = divmod(index, len(self.openers))
        for number in (place + low, place + high, int.from_bytes(digest[4:8], "big")):
            yield self.openers[number % len(self.openers)]
        yield from self.pieces(f"{label}|{seed}|{index}")


def _pick(seed: str) -> Pick:
    rng = random.Random(seed)
    # Of the generator's methods, random() alone is promised to give the same in every version.
    return lambda choices: choices[int(rng.random() * len(choices))]
