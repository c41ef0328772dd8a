"""Unquoted scalars: the YAML 1.2 core schema, and a memory of how numbers were written."""

from __future__ import annotations

import copy
import json
import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchspec.spec.scalars import Float, Int, reading_1_1, resolve


@pytest.mark.parametrize("word", ["", "~", "null", "Null", "NULL"])
def test_null_is_spelled_in_five_ways(word: str) -> None:
    assert resolve(word) is None


@pytest.mark.parametrize("word", ["true", "True", "TRUE", "false", "False", "FALSE"])
def test_only_true_and_false_are_bools(word: str) -> None:
    assert resolve(word) is (word.lower() == "true")


@pytest.mark.parametrize(
    "text",
    [
        *("off", "on", "yes", "no", "y", "n", "Off", "tRUE", "nULL"),
        *(
            "12:30",
            "1_000",
            "0b101",
            "1,5",
            "1.2.3",
            "2026-01-02",
            "0o8",
            "0xg",
            "+0x1",
            "1e",
            "--1",
        ),
        *("inf", "nan", "-.nan", "٣"),
    ],
)
def test_what_yaml_1_1_took_for_something_else_is_text(text: str) -> None:
    assert resolve(text) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("-0", 0),
        ("+12", 12),
        ("017", 17),
        ("0o17", 15),
        ("0x1F", 31),
        ("9" * 64, 10**64 - 1),
    ],
)
def test_integers_remember_how_they_were_written(text: str, value: int) -> None:
    number = resolve(text)
    assert isinstance(number, Int)
    assert (number, number.raw) == (value, text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.10", 1.1),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("-1.5E-3", -0.0015),
        ("1e999", math.inf),
    ],
)
def test_floats_remember_how_they_were_written(text: str, value: float) -> None:
    number = resolve(text)
    assert isinstance(number, Float)
    assert (number, number.raw) == (value, text)


def test_infinity_and_not_a_number_are_read_as_such() -> None:
    assert resolve("-.inf") == -math.inf
    nothing = resolve(".NaN")
    assert isinstance(nothing, Float)
    assert math.isnan(nothing)


def test_a_number_too_long_to_be_one_is_text() -> None:
    assert resolve("1" * 401) == "1" * 401
    assert resolve("1" * 1_000_000) == "1" * 1_000_000


@given(st.integers())
def test_every_integer_is_read_back(number: int) -> None:
    assert resolve(str(number)) == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_is_read_back(number: float) -> None:
    assert resolve(repr(number)) == number


@pytest.mark.parametrize("number", [Int(17, "017"), Float(1.1, "1.10")])
def test_a_number_stays_itself_when_copied_and_plain_in_json(number: Int | Float) -> None:
    for twin in (copy.deepcopy(number), pickle.loads(pickle.dumps(number))):
        assert (twin, twin.raw) == (number, number.raw)
    assert json.loads(json.dumps(number)) == number


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("on", "true"),
        ("Y", "true"),
        ("NO", "false"),
        ("off", "false"),
        ("017", "an octal number"),
        ("0o17", "text"),
        ("12:30", "a number in base 60"),
        ("1_000", "a number"),
        ("0b101", "a binary number"),
    ],
)
def test_names_the_other_reading_of_an_ambiguous_scalar(text: str, reading: str) -> None:
    assert reading_1_1(text) == reading


@pytest.mark.parametrize(
    "text", ["0", "10", "1.5", "true", "word", "", "0x1F", "a:b", "12:30:", "_"]
)
def test_leaves_the_others_alone(text: str) -> None:
    assert reading_1_1(text) is None


def test_long_text_is_not_searched_for_other_readings() -> None:
    assert reading_1_1("1_" * 400_000 + "x") is None
