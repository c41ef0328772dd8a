"""How long a text must be for the server to count as many prompt tokens as are asked for.

A server counts more than the text: a chat template, or a first token. What it adds is the same for
every prompt, so it is a sum, never a factor. It is learnt from the warm-up.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median

from benchspec.load.cut import TokenIds
from benchspec.load.prompts import piece_count
from benchspec.load.target import Prompt

PROBE_PIECES = 3
"""Length of the short text where nothing counts tokens: the openers that every prompt has."""


class Lengths:
    """What the server adds to a text, and how many tokens a piece of a material is.

    With a tokeniser the former is usage - the tokeniser's count of the same text. Without one, both
    come from a line through two lengths. `overhead` is in tokens; None until it is known.
    """

    def __init__(self, token_ids: TokenIds) -> None:
        self._token_ids = token_ids
        self._material = ""
        self._sent: list[str] = []
        self._pieces = 0
        self.overhead: int | None = None
        self.tokens_per_piece: dict[str, float] = {}

    def content(self, tokens: int) -> int:
        """Tokens of the text itself in a prompt of `tokens`: one at least."""
        return max(1, tokens - (self.overhead or 0))

    def sent(self, material: str, tokens: int, prompts: Sequence[Prompt]) -> None:
        """What is sent to warm up, prompts of `tokens` of a material: `learn` takes lengths from
        those that are texts."""
        self._material = material
        ratio = self.tokens_per_piece.get(material)
        self._pieces = piece_count(material, self.content(tokens), ratio)
        self._sent = [prompt for prompt in prompts if isinstance(prompt, str)]

    def learn(self, counted: Sequence[tuple[int, int]]) -> None:
        """`counted` are pairs: a place in what was `sent`, and the prompt tokens that the server
        counted there. Without a tokeniser the first place is the short text's."""
        known = [(place, count) for place, count in counted if place < len(self._sent)]
        if not known:
            return
        added = [(self._ids(self._sent[place]), count) for place, count in known]
        if all(ids is not None for ids, _ in added):
            self.overhead = round(median(count - (ids or 0) for ids, count in added))
            return
        self._fit([n for place, n in known if not place], [n for place, n in known if place])

    def _ids(self, text: str) -> int | None:
        ids = self._token_ids(text)
        return None if ids is None else len(ids)

    def _fit(self, short: Sequence[int], full: Sequence[int]) -> None:
        """tokens = overhead + tokens per piece x pieces; a pure factor where the server's count does
        not grow with the text, or one of the two lengths is not known."""
        if not full:
            return
        each, self.overhead = fmean(full) / max(1, self._pieces), 0
        if short and self._pieces > PROBE_PIECES and fmean(full) > short[0]:
            each = (fmean(full) - short[0]) / (self._pieces - PROBE_PIECES)
            self.overhead = round(short[0] - each * PROBE_PIECES)
        self.tokens_per_piece[self._material] = each
