"""code: small Python functions that parse, of names made from the English words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchspec.load.materials.english import ADJECTIVES, NOUNS, VERBS
from benchspec.load.materials.english import OPENERS as WORDS
from benchspec.load.materials.material import Material, Pick

# A word with the white space and operator before it and the punctuation after it.
_PIECE = re.compile(r"\s*(?:[^\w\s]+\s)?\w+[^\w\s]*")

_NUMBERS = tuple(map(str, (1, 2, 3, 4, 5, 8, 10, 12, 16, 20, 24, 32, 50, 60, 64, 100, 128, 255)))
_OPERATORS = ("+", "-", "*", "//", "%")
_COMPARISONS = ("<", ">", "<=", ">=", "==", "!=")


def _functions(pick: Pick) -> Iterator[str]:
    while True:
        yield from _PIECE.findall(_function(pick))


def _function(pick: Pick) -> str:
    name, items, item = f"{pick(VERBS)}_{pick(NOUNS)}", f"{pick(NOUNS)}_list", pick(NOUNS)
    limit, total = f"{pick(ADJECTIVES)}_{pick(NOUNS)}", f"{pick(ADJECTIVES)}_total"
    return f"""

def {name}({items}, {limit}={pick(_NUMBERS)}):
    {total} = {pick(_NUMBERS)}
    for {item} in {items}:
        if {item} {pick(_COMPARISONS)} {limit} {pick(_OPERATORS)} {pick(_NUMBERS)}:
            {total} = {total} {pick(_OPERATORS)} {item}
        else:
            {total} = {pick(VERBS)}_{item}({total}, {pick(_NUMBERS)})
    return {total}
"""


# A prompt opens with assignments to names whose first letters all differ.
OPENERS = tuple(f"\n{word.strip().lower()} = None" for word in WORDS)

CODE = Material("code", OPENERS, _functions, tokens_per_piece=2.5)
