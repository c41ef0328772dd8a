"""The band of what was published, and whether a rerun is inside it."""

from __future__ import annotations

import random
from statistics import median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchspec.judge.comparability import Side
from benchspec.judge.interval import Interval
from benchspec.judge.reproduction import Reproduction, band, no_band, reproduce
from benchspec.judge.spread import Spread
from benchspec.observations.model import Step
from benchspec.spec.models import Spec
from tests.judge.test_side_by_side import side, stated
from tests.judge.world import spec

PUBLISHED = (100.0, 101.0, 102.0)


def spread(*values: float, n: int | None = None) -> Spread:
    return Spread(tuple(map(Interval.of, values)), n or len(values))


def ends(*values: float) -> tuple[float, float]:
    found = band(spread(*values))
    assert found is not None
    return found.low, found.high


def rerun(
    *values: float, published: list[Step] | None = None, study: Spec | None = None, **identity: str
) -> Reproduction:
    told = side(*(published or stated(*PUBLISHED)), label="published")
    return reproduce(told, side(*stated(*values), label="rerun", study=study, **identity))


def test_a_band_is_widened_by_five_percent_at_least() -> None:
    assert ends(*PUBLISHED) == pytest.approx((100 - 5.05, 102 + 5.05))


def test_a_wide_range_widens_by_itself() -> None:
    assert ends(100, 110, 120) == pytest.approx((80, 140))


@pytest.mark.parametrize(
    ("given_", "why"),
    [
        (spread(100, 101), "2 repeats of the 3"),
        (spread(100), "1 repeat of the 3"),
        (spread(100, n=3), "only their median"),
        (spread(100, 150, 200), "67 % of their median"),
        (spread(0, 0, 0), "the median is zero"),
    ],
)
def test_where_there_is_no_band(given_: Spread, why: str) -> None:
    assert band(given_) is None
    assert why in no_band(given_)


@pytest.mark.parametrize("widen, expected", [(0, 0.60), (1, 0.92)])
def test_how_often_a_faithful_rerun_is_inside(widen: int, expected: float) -> None:
    """The two probabilities that the threshold is chosen by, of normal repeats, 3 against 3."""
    chance, inside, tries = random.Random(7), 0, 20_000
    for _ in range(tries):
        told = [chance.gauss(100, 1) for _ in range(3)]
        again = median(chance.gauss(100, 1) for _ in range(3))
        room = widen * (max(told) - min(told))
        inside += min(told) - room <= again <= max(told) + room
    assert inside / tries == pytest.approx(expected, abs=0.015)


@pytest.mark.parametrize(
    ("values", "reading", "answer"),
    [
        ((103, 104, 105), "inside", "inside"),
        ((103, 104, 300), "inside", "inside"),  # the median counts
        ((90, 91, 92), "below", "outside"),
        ((108, 109, 110), "above", "outside"),
    ],
)
def test_the_median_of_the_rerun_decides(
    values: tuple[float, ...], reading: str, answer: str
) -> None:
    found = rerun(*values)
    assert found.steps[0].figures[0].reading == reading
    assert (found.steps[0].reading, found.answer) == (answer, answer)


def test_one_figure_outside_is_a_step_outside() -> None:
    told = stated(*PUBLISHED, ttft_ms=50.0)
    found = reproduce(
        side(*told, label="published"), side(*stated(101, 102, 103, ttft_ms=90.0), label="rerun")
    )
    assert [line.reading for line in found.steps[0].figures] == ["inside", "above"]
    assert found.answer == "outside"


def test_what_was_not_measured_again_is_undecided_and_not_inside() -> None:
    told = [
        *stated(*PUBLISHED),
        *(s.model_copy(update={"concurrency": 8}) for s in stated(1, 1, 1)),
    ]
    found = rerun(101, 102, 103, published=told)
    assert [step.reading for step in found.steps] == ["inside", "undecided"]
    assert found.steps[1].figures[0].mine is None
    assert found.answer == "undecided"
    assert "1 of 2 published steps inside" in found.sentence


def test_another_machine_and_build_are_what_every_rerun_has() -> None:
    elsewhere: dict[str, Any] = {"gpu0.name": "H200", "build": "b9"}
    found = rerun(101, 102, 103, **elsewhere)
    assert not found.comparability.comparable  # as a comparison of one thing
    assert found.answer == "inside"


@pytest.mark.parametrize(
    ("study", "identity", "axis"),
    [
        (None, {"model_sha256": "bb"}, "model"),
        (spec(arms=[{"id": "main", "engine": {"flags": {"parallel": 9}}}]), {}, "slots"),
    ],
)
def test_another_experiment_is_no_rerun(
    study: Spec | None, identity: dict[str, Any], axis: str
) -> None:
    found = rerun(101, 102, 103, study=study, **identity)
    assert found.steps[0].reading == "inside"
    assert found.answer == "undecided"
    assert f"no rerun of the same: {axis} differs" in found.sentence


def test_a_copy_is_no_rerun() -> None:
    found = rerun(*PUBLISHED)
    assert found.answer == "undecided"
    assert "one run" in found.sentence


def test_changed_evidence_reproduces_nothing() -> None:
    mine = side(*stated(101, 102, 103), label="rerun")
    changed = Side(mine.label, mine.name, mine.case, mine.verdicts, broken="it was changed")
    assert reproduce(side(*stated(*PUBLISHED)), changed).answer == "undecided"


def test_nothing_in_common_is_undecided() -> None:
    elsewhere = [s.model_copy(update={"arm": "else"}) for s in stated(1, 2, 3)]
    found = reproduce(side(*stated(*PUBLISHED)), side(*elsewhere, label="rerun"))
    assert found.answer == "undecided"
    assert "share no step" in found.sentence


@given(st.lists(st.floats(1, 1.4), min_size=3, max_size=9), st.floats(1e-3, 1e3))
def test_a_band_holds_its_own_repeats_and_scales_with_them(values: list[float], k: float) -> None:
    low, high = ends(*values)
    assert low < min(values) <= max(values) < high
    assert ends(*(k * v for v in values)) == pytest.approx((k * low, k * high))
