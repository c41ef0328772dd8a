"""Materials: the same bytes everywhere, text that is what its name says, openings that differ."""

from __future__ import annotations

import ast
import hashlib
import re
from itertools import islice

import pytest

from benchspec.load.materials import MATERIALS
from benchspec.load.materials.material import Material

every_material = pytest.mark.parametrize("material", MATERIALS.values(), ids=lambda one: one.name)

PINNED = {
    "english-prose": "09d3c3ce61de555ea4ed447eb9e63a5566227bd708c57201c3296005a34b589c",
    "chinese-prose": "b1d03f3affd5455f59ec8361d1cb0cf426f0106b90161caca623ec7bda3cf127",
    "code": "a82db2609c94e2662bc519eece385b87363e5a51779d25eae78b0135364dab21",
}


def text(material: Material, pieces: int = 2000, seed: str = "a") -> str:
    return "".join(islice(material.pieces(seed), pieces))


@pytest.mark.parametrize(("name", "digest"), PINNED.items())
def test_the_bytes_are_pinned(name: str, digest: str) -> None:
    """A change here makes every published run irreproducible: give it another name instead."""
    written = "".join(islice(MATERIALS[name].opened("label", 7, 11), 5000))
    assert hashlib.sha256(written.encode()).hexdigest() == digest


@every_material
def test_a_seed_is_a_text(material: Material) -> None:
    assert text(material) == text(material)
    assert text(material) != text(material, seed="b")


@every_material
def test_text_goes_on_without_repeating_itself(material: Material) -> None:
    written = text(material, 20_000)
    half = len(written) // 2
    assert written[half : half + 200] not in written[:half]


@every_material
def test_openers_differ_where_they_begin(material: Material) -> None:
    """Chinese in its first character, the others in the first four letters."""
    length = 1 if material.name == "chinese-prose" else 4
    assert len({one.strip()[:length] for one in material.openers}) == len(material.openers) >= 200


@every_material
def test_a_piece_holds_a_word(material: Material) -> None:
    """So that a text of n pieces has n tokens, or nearly."""
    assert all(re.search(r"\w", piece) for piece in islice(material.pieces("a"), 2000))


def test_code_is_code() -> None:
    whole = text(MATERIALS["code"], 3000).rpartition("\n\ndef")[0]
    functions = ast.parse("".join(islice(MATERIALS["code"].openers, 3)) + whole).body
    assert sum(isinstance(one, ast.FunctionDef) for one in functions) > 10


def test_chinese_is_chinese() -> None:
    written = text(MATERIALS["chinese-prose"])
    assert re.fullmatch("[\u4e00-\u9fff，。]+", written)
    assert all(len(sentence) < 40 for sentence in written.split("。"))


def test_english_is_sentences() -> None:
    sentences = text(MATERIALS["english-prose"]).split(".")[:-1]
    assert all(re.fullmatch(" The( [a-z]+){9}", sentence) for sentence in sentences)
