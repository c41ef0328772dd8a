"""english-prose: plain past-tense sentences of common words."""

# ruff: noqa: SIM905 - a page of words is easier to read than a page of quotation marks

from __future__ import annotations

from collections.abc import Iterator

from benchspec.load.materials.material import Material, Pick

NOUNS = tuple(
    """
    anchor apron archive arrow attic badge bakery barrel basket beacon bench bicycle blanket
    border bottle bridge broom bucket button cabin candle canvas captain carpet carriage castle
    cellar chapel chimney circle clerk clock coffee column compass copper corner cottage
    courtyard cradle cricket crowd curtain dancer desert diary doctor donkey drawer eagle echo
    engine envelope fabric farmer feather fence ferry fiddle flag flour forest fountain furnace
    garden gate ghost glacier glove grain guitar hammer harbour hedge helmet herald hotel island
    jacket journal kettle kitchen ladder lantern lawyer ledger lemon letter library lighthouse
    machine magnet maple market meadow mirror monument morning motor mountain museum needle
    neighbour notebook ocean office onion orchard organ oven packet painter palace parcel
    pasture pebble pencil pepper piano pigeon pillow pilot pocket poem quarry rabbit railway
    recipe ribbon river rocket rope saddle sailor school shadow shepherd shovel signal silver
    soldier spoon stable station stone storm sugar summer tailor teacher temple thunder ticket
    tower trumpet tunnel umbrella valley vessel village violin wagon warehouse water weaver
    whistle window winter workshop
    """.split()
)

ADJECTIVES = tuple(
    """
    ancient anxious awkward bitter bright broken brown calm careful cheap clever cloudy common
    crooked curious damp dark distant dusty eager early empty faint famous fancy foreign fragile
    fresh frozen gentle golden grey happy heavy hidden honest hungry idle jolly kind lazy little
    lively lonely loud lucky modest narrow nervous noisy old painted patient plain polite proud
    quiet rapid rough round rusty secret serious sharp silent simple sleepy slow smooth solid
    spare steady strange stubborn sudden sunny sweet tall tidy tiny unusual upright useful vast
    warm weary wide wild wise wooden yellow young
    """.split()
)

VERBS = tuple(
    """
    admired answered avoided borrowed brought called carried chased cleaned collected counted
    covered crossed described discovered drew dropped emptied examined expected feared filled
    finished followed forgot found gathered greeted guarded heard helped ignored imagined joined
    kept kicked knew left lifted liked lost loved measured mended missed moved named noticed
    offered opened ordered passed photographed polished praised pulled pushed raised reached
    received recognised remembered repaired replaced rescued returned sang saved sketched sold
    sought studied surprised thanked touched traded trusted visited waited washed watched
    welcomed wrapped
    """.split()
)

PREPOSITIONS = tuple(
    """
    above across after along around before behind below beside beyond by inside near opposite
    outside past through towards under with
    """.split()
)

# No two begin with the same four letters: a vocabulary that splits them splits them differently.
OPENERS = tuple(
    f" {word.capitalize()}"
    for word in {word[:4]: word for word in (*VERBS, *ADJECTIVES, *NOUNS)}.values()
)


def _sentences(pick: Pick) -> Iterator[str]:
    while True:
        yield from (" The", f" {pick(ADJECTIVES)}", f" {pick(NOUNS)}", f" {pick(VERBS)}", " the")
        yield from (f" {pick(NOUNS)}", f" {pick(PREPOSITIONS)}", " the", f" {pick(ADJECTIVES)}")
        yield f" {pick(NOUNS)}."


ENGLISH = Material("english-prose", OPENERS, _sentences, tokens_per_piece=1.15)
