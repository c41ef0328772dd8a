"""Arrival schedules of an open loop."""

from __future__ import annotations

import statistics
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchspec.errors import UsageError
from benchspec.load.arrivals import schedule_ns

kinds = st.sampled_from([("constant", None), ("poisson", None), ("gamma", 0.5), ("gamma", 4.0)])


def gaps_s(arrival: str, **given: Any) -> list[float]:
    schedule = [0, *schedule_ns(arrival, 10.0, seed=1, requests=20_000, **given)]
    return [(high - low) / 1e9 for low, high in pairwise(schedule)]


@given(kind=kinds, rate=st.floats(0.01, 1e5), seed=st.integers(), requests=st.integers(0, 50))
def test_a_schedule_ascends_and_repeats_itself(
    kind: tuple[str, float | None], rate: float, seed: int, requests: int
) -> None:
    arrival, shape = kind
    first = schedule_ns(arrival, rate, seed=seed, requests=requests, shape=shape)
    assert first == schedule_ns(arrival, rate, seed=seed, requests=requests, shape=shape)
    assert first == sorted(first)
    assert len(first) == requests
    assert all(moment >= 0 for moment in first)


@given(kind=kinds, duration_s=st.floats(0.0, 5.0), seed=st.integers())
def test_a_duration_ends_it(kind: tuple[str, float | None], duration_s: float, seed: int) -> None:
    arrival, shape = kind
    schedule = schedule_ns(arrival, 50.0, seed=seed, duration_s=duration_s, shape=shape)
    assert all(moment <= duration_s * 1e9 + 1 for moment in schedule)


def test_constant_arrivals_have_equal_gaps() -> None:
    assert schedule_ns("constant", 4.0, seed=9, requests=3) == [
        250_000_000,
        500_000_000,
        750_000_000,
    ]


def test_poisson_gaps_have_the_mean_and_spread_of_an_exponential() -> None:
    gaps = gaps_s("poisson")
    assert statistics.mean(gaps) == pytest.approx(0.1, rel=0.03)
    assert statistics.stdev(gaps) == pytest.approx(0.1, rel=0.05)


@pytest.mark.parametrize("shape", [0.25, 1.0, 4.0])
def test_gamma_gaps_have_the_spread_that_the_shape_says(shape: float) -> None:
    """The coefficient of variation of a gamma distribution is 1 / sqrt(shape)."""
    gaps = gaps_s("gamma", shape=shape)
    assert statistics.mean(gaps) == pytest.approx(0.1, rel=0.05)
    assert statistics.stdev(gaps) / 0.1 == pytest.approx(shape**-0.5, rel=0.06)


def test_seeds_differ() -> None:
    one, two = (schedule_ns("poisson", 1.0, seed=seed, requests=5) for seed in (1, 2))
    assert one != two


@pytest.mark.parametrize(
    ("arrival", "rate", "given", "reason"),
    [
        ("poisson", 0.0, {"requests": 1}, "above zero"),
        ("poisson", float("nan"), {"requests": 1}, "above zero"),
        ("poisson", 1.0, {}, "number of requests or a duration"),
        ("gamma", 1.0, {"requests": 1}, "shape above zero"),
        ("bursty", 1.0, {"requests": 1}, "no arrival process 'bursty'"),
        ("constant", 1e5, {"duration_s": 1e6}, "more than 1000000 arrivals"),
    ],
)
def test_what_gives_no_schedule_is_refused(
    arrival: str, rate: float, given: dict[str, Any], reason: str
) -> None:
    with pytest.raises(UsageError, match=reason):
        schedule_ns(arrival, rate, seed=1, **given)
