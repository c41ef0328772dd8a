"""Total work over total time, and what summing per-request rates would have claimed."""

from __future__ import annotations

import pytest

from benchspec.observations.model import Quiet, Request, Step, Window
from tests.judge.published import four_slots, serial_engine
from tests.judge.world import burst, result, seen, spec, sweep, verdicts


def test_a_serial_engine_gives_91_and_not_350() -> None:
    r = result(verdicts(*serial_engine()), "aggregate", concurrency=4)
    assert r.value == pytest.approx(91.0, abs=0.05)
    assert r.reading == "inflated"
    assert "2048 tokens / 22.5 s" in (r.arithmetic or "")
    assert "sum to 350 = 3.838 x" in (r.arithmetic or "")


@pytest.mark.parametrize(
    ("count", "inflation", "reading"),
    [(1, 1.11, "rate"), (2, 1.11, "rate"), (4, 1.09, "rate"), (8, 2.15, "inflated")],
)
def test_two_waves_inflate_a_sum_by_two(count: int, inflation: float, reading: str) -> None:
    r = result(verdicts(*four_slots()), "aggregate", concurrency=count)
    stream, x = r.inputs[1].value, r.inputs[0].value
    assert isinstance(stream, float)
    assert isinstance(x, float)
    assert stream / x == pytest.approx(inflation, abs=0.005)
    assert r.reading == reading


def test_a_sustained_step_counts_inside_its_window() -> None:
    step = Step(
        arm="main",
        concurrency=4,
        mode="sustained",
        wall_s=20,
        window=Window(start_s=1, end_s=11, tokens=500),
    )
    r = result(verdicts(spec(), seen(step)), "aggregate")
    assert r.value == 50
    assert "500 tokens in 10 s with C in flight" in (r.arithmetic or "")


def open_loop(latency_s: float, window: Window | None = None) -> Step:
    """Ten requests, one a second."""
    requests = [Request(start_s=i, end_s=i + latency_s, tokens=100) for i in range(10)]
    return Step(
        arm="main", rate=1.0, mode="open", requests=requests, window=window, wall_s=9 + latency_s
    )


def test_an_open_loop_counts_from_its_first_to_its_last_arrival() -> None:
    step = open_loop(0.5, Window(start_s=0, end_s=9, tokens=900))
    r = result(verdicts(spec(), seen(step)), "aggregate")
    assert r.value == 100
    assert "900 tokens in 9 s from the first to the last arrival = 100 tok/s" in (
        r.arithmetic or ""
    )
    assert r.caveats == []


def test_an_open_loop_of_long_answers_says_that_its_window_begins_empty() -> None:
    step = open_loop(3.0, Window(start_s=0, end_s=9, tokens=750))
    assert result(verdicts(spec(), seen(step)), "aggregate").caveats == [
        "the server is empty when the window begins: low by up to 17 % (latency / twice the window)"
    ]


def test_an_open_loop_without_a_window_says_that_the_drain_is_in_it() -> None:
    r = result(verdicts(spec(), seen(open_loop(3.0))), "aggregate")
    assert "1000 tokens / 12 s" in (r.arithmetic or "")
    assert r.caveats == ["ramp and drain are in it: low by up to 25 % (latency / T)"]


def test_failed_requests_give_no_tokens_and_are_counted() -> None:
    step = burst("main", 2, 2)
    failed = Request(start_s=0, end_s=9, tokens=30, ok=False, error="reset")
    step = step.model_copy(update={"requests": [*step.requests, failed], "planned_requests": 3})
    r = result(verdicts(spec(), seen(step)), "aggregate")
    assert "64 tokens" in (r.arithmetic or "")
    assert r.caveats == ["1 of 3 requests failed: they took time and gave no tokens"]


def test_nothing_answered_is_invalid() -> None:
    failed = Request(start_s=0, end_s=9, ok=False, error="reset")
    r = result(
        verdicts(spec(), seen(Step(arm="main", concurrency=1, requests=[failed]))), "aggregate"
    )
    assert r.state == "invalid"


def test_one_run_is_not_quotable_and_two_give_the_order() -> None:
    def quotable(repeats: int) -> str:
        steps = sweep("main", 4, (1,), repeats)
        return result(verdicts(spec(), seen(*steps)), "aggregate").quotable

    assert [quotable(n) for n in (1, 2, 3)] == ["no", "order-of-magnitude", "yes"]


def test_repeats_are_a_median_with_its_range() -> None:
    steps = [burst("main", 1, 1, repeat=r, scale=s) for r, s in ((1, 1.0), (2, 1.25), (3, 2.0))]
    r = result(verdicts(spec(), seen(*steps)), "aggregate")
    assert r.n == 3
    assert r.range is not None
    assert r.range.low * 2 == pytest.approx(r.range.high)
    assert r.value == pytest.approx(r.range.high / 1.25)
    assert r.quotable == "no"  # the range is 62 % of the median


def test_a_contaminated_repeat_is_left_out() -> None:
    steps = sweep("main", 4, (1,), 4)
    steps[0] = steps[0].model_copy(update={"quiet": Quiet(foreign_share=0.4)})
    r = result(verdicts(spec(), seen(*steps)), "aggregate")
    assert (r.state, r.n) == ("judged", 3)
    assert "left out: contaminated" in r.caveats[0]
