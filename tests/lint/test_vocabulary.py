"""The linter's copy of the judge's vocabulary: every check that exists, with all its readings."""

from __future__ import annotations

import pytest

from benchspec.judge.checks import CHECKS
from benchspec.lint.vocabulary import RATES, READINGS


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.NAME)
def test_a_check_of_the_judge_is_known_with_its_readings(check: object) -> None:
    name, readings = check.NAME, check.READINGS  # type: ignore[attr-defined]
    assert set(readings) == set(READINGS[name])


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.NAME)
def test_what_one_repeat_can_show_is_what_the_judge_says(check: object) -> None:
    name, rate = check.NAME, check.RATE  # type: ignore[attr-defined]
    assert (name in RATES) is rate


def test_no_check_is_left_over() -> None:
    assert {check.NAME for check in CHECKS} == READINGS.keys()
