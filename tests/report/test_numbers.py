"""Numbers as a reader wants them."""

from __future__ import annotations

import pytest

from benchspec.observations.node import Bounds
from benchspec.report.numbers import column, figure, number, percent, setting


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (4, "4"),
        (4.0, "4"),
        (0.997, "0.997"),
        (1.0030, "1.003"),
        (101600, "101,600"),
        (49.139999, "49.14"),
        (0.00432109, "0.004321"),
        (1e-9, "1.000e-09"),
        (3.2e11, "3.200e+11"),
        (-17.25, "-17.25"),
        (float("nan"), "not finite"),
    ],
)
def test_four_significant_digits(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "s", "–"),
        (True, None, "yes"),
        ("queued", "x", "queued"),
        (2, "x", "2x"),
        (31.3, "s", "31.3\u00a0s"),
        (0.9, "ratio", "0.9"),
        (Bounds(low=57.4, high=68), "%", "57.4 to 68\u00a0%"),
        (Bounds(low=3, high=3), "s", "3\u00a0s"),
        (1.555e12, "B/s", "1,555\u00a0GB/s"),
        (Bounds(low=2.65e11, high=3.15e11), "B/s", "265 to 315\u00a0GB/s"),
        (312e12, "FLOP/s", "312\u00a0TFLOP/s"),
        (65536, "B", "65,536\u00a0B"),
        (4.03e-5, "s", "40.3\u00a0us"),
        (1, "slots", "1\u00a0slot"),
        (4, "slots", "4\u00a0slots"),
    ],
)
def test_a_figure_carries_its_unit(value: object, unit: str | None, text: str) -> None:
    assert figure(value, unit) == text  # type: ignore[arg-type]


def test_the_points_of_a_column_line_up() -> None:
    assert column([0.305, 2.496, None]) == ["0.305", "2.496", "–"]
    assert column([103.7, 209.31]) == ["103.7", "209.3"]
    assert column([1.0, 8.0]) == ["1", "8"]
    assert column([21.0, 1113.2]) == ["21", "1,113"]
    assert column([None]) == ["–"]


def test_a_signed_percentage() -> None:
    assert percent(0.0421, signed=True) == "+4.2\u00a0%"
    assert percent(-0.003) == "-0.3\u00a0%"


def test_a_setting_is_shown_as_one_would_write_it() -> None:
    assert setting(131072) == "131072"
    assert setting(False) == "no"
