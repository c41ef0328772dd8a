"""Numbers with units: read exactly, never silently converted, refused with what would do."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchspec.spec.quantity import (
    DIMENSIONS,
    Quantity,
    QuantityError,
    parse_quantity,
    units_of,
)

NUMBERS = st.one_of(
    st.integers(0, 10**9).map(str),
    st.floats(0, 1e9, allow_nan=False).map(lambda number: f"{number:.6f}"),
    st.floats(1e-9, 1e9).map(repr),
)
DIMENSION_AND_UNIT = st.sampled_from(
    [(name, unit) for name, (_, units) in DIMENSIONS.items() for unit in units]
)


@pytest.mark.parametrize(
    ("text", "dimension", "low", "high"),
    [
        ("1.627 GB/s", "bandwidth", 1.627e9, 1.627e9),
        ("265..315 GB/s", "bandwidth", 265e9, 315e9),
        ("265 – 315 GB/s", "bandwidth", 265e9, 315e9),
        ("265 to 315 GB/s", "bandwidth", 265e9, 315e9),
        ("900 MB..1.2 GB", "size", 900e6, 1.2e9),
        ("64 KiB", "size", 65536, 65536),
        ("64KiB", "size", 65536, 65536),
        ("100 Gbit/s", "bandwidth", 12.5e9, 12.5e9),
        ("39.2 ms", "duration", 0.0392, 0.0392),
        ("3 µs", "duration", 3e-6, 3e-6),
        ("3 μs", "duration", 3e-6, 3e-6),
        ("33 %", "ratio", 0.33, 0.33),
        ("0.33", "ratio", 0.33, 0.33),
        ("1.2x", "ratio", 1.2, 1.2),
        ("-3 °C", "temperature", -3, -3),
        ("312 TFLOP/s", "compute", 312e12, 312e12),
        ("1_000 tok/s", "token rate", 1000, 1000),
        ("1e3 W", "power", 1000, 1000),
    ],
)
def test_is_read_into_the_base_unit(text: str, dimension: str, low: float, high: float) -> None:
    quantity = parse_quantity(text, dimension)
    assert quantity.low == pytest.approx(low)
    assert quantity.high == pytest.approx(high)
    assert str(quantity) == text
    assert quantity.unit == DIMENSIONS[dimension][0]


@pytest.mark.parametrize(
    ("value", "dimension", "said", "advised"),
    [
        ("12", "bandwidth", "has no unit", "GB/s"),
        (12, "size", "'12' has no unit", "GiB"),
        ("64 GB/s", "size", "'GB/s' is a unit of bandwidth", "GiB"),
        ("1 GB..2 GB/s", "bandwidth", "'GB' is a unit of size", "GB/s"),
        ("64 gb", "size", "not a unit known here", "did you mean GB?"),
        ("100 Gb/s", "bandwidth", "not a unit known here", "did you mean GB/s or Gbit/s?"),
        ("8 GT/s", "bandwidth", "not a unit known here", "Gbit/s"),
        ("3..1 GB", "size", "runs backwards", "smaller number first"),
        ("1e400 s", "duration", "not finite", "smaller"),
        ("1,627 GB/s", "bandwidth", "has a comma", "without a comma"),
        ("fast", "bandwidth", "'fast' is not a bandwidth", "'1555 GB/s'"),
        ("", "size", "'' is not a size", "'64 KiB'"),
        (True, "ratio", "is not a ratio", "33 %"),
        (None, "ratio", "is not a ratio", "33 %"),
        ([1], "size", "is not a size", "'64 KiB'"),
        ("٣ GB", "size", "is not a size", "'64 KiB'"),
    ],
)
def test_is_refused_with_what_would_do(
    value: object, dimension: str, said: str, advised: str
) -> None:
    with pytest.raises(QuantityError) as refusal:
        parse_quantity(value, dimension)
    assert said in str(refusal.value)
    assert advised in refusal.value.fix


@given(NUMBERS, DIMENSION_AND_UNIT)
def test_a_number_with_any_accepted_unit_is_that_many_of_it(
    number: str, measure: tuple[str, str]
) -> None:
    dimension, unit = measure
    quantity = parse_quantity(f"{number} {unit}", dimension)
    assert quantity.low == quantity.high == float(number) * DIMENSIONS[dimension][1][unit]
    assert quantity.exact


@given(NUMBERS, NUMBERS, DIMENSION_AND_UNIT)
def test_an_interval_holds_its_ends_and_its_middle(
    one: str, other: str, measure: tuple[str, str]
) -> None:
    dimension, unit = measure
    low, high = sorted([one, other], key=float)
    quantity = parse_quantity(f"{low}..{high} {unit}", dimension)
    assert quantity.low <= quantity.mid <= quantity.high
    factor = DIMENSIONS[measure[0]][1][measure[1]]
    assert quantity.exact == (float(low) * factor == float(high) * factor)


@given(NUMBERS, DIMENSION_AND_UNIT)
def test_what_was_read_can_be_written_and_read_again(number: str, measure: tuple[str, str]) -> None:
    first = parse_quantity(f"{number} {measure[1]}", measure[0])
    assert parse_quantity(first.text, measure[0]) == first
    assert parse_quantity(first, measure[0]) is first


@given(st.floats(0.001, 1e6), st.sampled_from("KMGT"))
def test_decimal_and_binary_units_are_never_the_same(number: float, prefix: str) -> None:
    decimal = parse_quantity(f"{number!r} {prefix}B", "size").low
    binary = parse_quantity(f"{number!r} {prefix}iB", "size").low
    power = "KMGT".index(prefix) + 1
    assert binary / decimal == pytest.approx(1.024**power)


def test_a_quantity_of_another_dimension_is_not_taken_for_this_one() -> None:
    with pytest.raises(QuantityError):
        parse_quantity(Quantity(1, 1, "B", "1 B"), "bandwidth")


@given(st.text(max_size=300), st.sampled_from(sorted(DIMENSIONS)))
def test_any_text_is_a_finite_quantity_or_a_sentence(text: str, dimension: str) -> None:
    try:
        quantity = parse_quantity(text, dimension)
    except QuantityError as error:
        assert len(str(error)) < 400
        assert str(error).isprintable()
        assert error.fix
    else:
        assert -math.inf < quantity.low <= quantity.high < math.inf


@given(st.text("0123456789.,_e+-xGB/s ", max_size=200))
def test_text_made_of_the_right_characters_does_not_hang_the_reader(text: str) -> None:
    try:
        parse_quantity(text, "bandwidth")
    except QuantityError as error:
        assert error.kind in ("wrong-unit", "wrong-value")


@given(st.sampled_from(sorted(DIMENSIONS)), st.data())
def test_a_unit_belongs_to_one_dimension(dimension: str, data: st.DataObject) -> None:
    other = data.draw(st.sampled_from(sorted(set(DIMENSIONS) - {dimension})))
    unit = data.draw(st.sampled_from(units_of(dimension)))
    assume(unit not in units_of(other))
    with pytest.raises(QuantityError, match=f"is a unit of {dimension}"):
        parse_quantity(f"1 {unit}", other)
