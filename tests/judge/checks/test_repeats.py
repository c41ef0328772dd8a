"""Whether repeats agree, and what three, five and ten of them can say."""

from __future__ import annotations

import itertools

import pytest

from benchspec.judge.checks.repeats import read, trend_p
from benchspec.observations.model import Step
from tests.judge.world import result, seen, spec, verdicts


def test_below_three_there_is_no_reading() -> None:
    steps = [Step(arm="main", concurrency=1, repeat=r, wall_s=10.0) for r in (1, 2)]
    r = result(verdicts(spec(), seen(*steps)), "repeats")
    assert (r.state, r.reading) == ("insufficient", None)


@pytest.mark.parametrize(
    ("values", "reading", "quotable"),
    [
        ([10.0, 10.2, 10.4], "stable", "yes"),
        ([10.0, 10.5, 11.2], "noisy", "yes"),
        ([10.0, 12.0, 13.0], "noisy", "order-of-magnitude"),
        ([10.0, 20.0, 30.0], "noisy", "no"),
    ],
)
def test_the_range_over_the_median(values: list[float], reading: str, quotable: str) -> None:
    steps = [Step(arm="main", concurrency=1, repeat=i, wall_s=v) for i, v in enumerate(values)]
    r = result(verdicts(spec(), seen(*steps)), "repeats")
    assert (r.reading, r.quotable) == (reading, quotable)


def test_a_drift_needs_five_in_order() -> None:
    assert read([1.0, 1.1, 1.2, 1.3]) == "noisy"
    assert read([1.0, 1.1, 1.2, 1.3, 1.4]) == "drifting"
    assert read([1.0, 1.2, 1.1, 1.4, 1.3]) == "noisy"


def test_two_modes_need_ten() -> None:
    modes = [1.0, 2.0] * 5
    assert read(modes[:8]) == "noisy"
    assert read(modes) == "bimodal"


def test_the_trend_test_is_exact() -> None:
    orders = list(itertools.permutations([1.0, 2.0, 3.0, 4.0, 5.0]))
    extreme = sum(trend_p(list(o)) <= trend_p([1, 2, 3, 4, 5]) for o in orders)
    assert trend_p([1, 2, 3, 4, 5]) == pytest.approx(extreme / len(orders)) == 2 / 120
    assert trend_p([1, 1, 1]) == 1
