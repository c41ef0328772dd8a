"""token-count and latency-share: what was counted, and where a request spends its time."""

from __future__ import annotations

from typing import Any

import pytest

from benchspec.judge.result import CheckResult
from benchspec.observations.model import Observations, Sends, Step
from benchspec.observations.node import Bounds
from tests.judge.world import result, spec, verdicts


def found(check: str, concurrency: int = 1, **step: Any) -> list[CheckResult]:
    engine = {"kind": "openai", "slots": 4}
    seen = Observations(steps=[Step(arm="main", concurrency=concurrency, **step)])
    return [r for r in verdicts(spec(engine=engine), seen).checks if r.check == check]


@pytest.mark.parametrize(
    ("step", "reading", "value"),
    [
        ({"tokens_total": 100, "tokens_recounted": 98}, "agree", 0.98),
        ({"tokens_total": 100, "tokens_recounted": 60}, "miscounted", 0.6),
        ({"tokens_asked": 100, "tokens_recounted": 0}, "empty", 0),
        ({"tokens_total": 300, "chunks": 100}, "agree", 3),
        ({"tokens_total": 300, "chunks": 2}, "buffered", 150),
        ({"tokens_total": 300, "tokens_asked": 300}, "agree", 1),
        ({"tokens_total": 150, "tokens_asked": 300}, "short", 0.5),
        ({"tokens_total": 600, "tokens_asked": 300}, "miscounted", 2),
        ({"stream_tok_s": 20, "gap_ms": 50}, "agree", 1),
        ({"stream_tok_s": 200, "gap_ms": 1000}, "buffered", 200),
        ({"stream_tok_s": 20, "server_tok_s": 19.5}, "agree", 20 / 19.5),
        ({"stream_tok_s": 20, "server_tok_s": 40}, "miscounted", 0.5),
    ],
)
def test_two_counts_of_the_same_tokens(step: dict[str, Any], reading: str, value: float) -> None:
    (r,) = found("token-count", **step)
    assert r.reading == reading
    assert r.value == pytest.approx(value)


def test_the_worst_of_several_counts_is_the_reading() -> None:
    (r,) = found("token-count", tokens_total=300, chunks=1, tokens_asked=600)
    assert r.reading == "buffered"
    assert "0.5" in (r.arithmetic or "")


@pytest.mark.parametrize(("after_s", "reading"), [(10.0, "late-first-token"), (1.0, "agree")])
def test_tokens_before_the_first_at_the_rate_of_those_after(after_s: float, reading: str) -> None:
    """1000 tokens in 100 s before it, 100 after it: in 10 s they are of one kind."""
    step = {"tokens_per_request": 1100, "reasoning_tokens": 1000, "ttft_ms": 101_000}
    (r,) = found("token-count", **step, server_ttft_ms=1000, latency_s=101 + after_s)
    assert r.reading == reading


def test_one_count_alone_is_no_result() -> None:
    assert found("token-count", tokens_total=300) == []


@pytest.mark.parametrize(
    ("first", "reading"), [(900, "first-token-bound"), (300, "mixed"), (50, "decode-bound")]
)
def test_where_a_request_spends_its_time(first: float, reading: str) -> None:
    (r,) = found("latency-share", 4, ttft_ms=first, latency_s=1.0)
    assert r.reading == reading
    assert r.value == pytest.approx(first / 1000)
    assert bool(r.caveats) == (reading == "first-token-bound")


def test_of_a_burst_of_unknown_latencies_the_share_is_at_least() -> None:
    (r,) = found("latency-share", 4, ttft_ms=500, wall_s=2.0)
    assert (r.value, r.quotable) == (0.25, "bound")


def test_flow_that_is_not_the_load_is_violated() -> None:
    """Little: 2 requests/s of 10 s each are 20 in flight, whatever was asked for."""
    step = {"mode": "sustained", "requests_per_s": 2.0, "latency_s": 10.0, "tokens_total": 400}
    assert found("conservation", 20, **step)[0].reading == "holds"
    assert found("conservation", 64, **step)[0].reading == "violated"


def test_hits_that_were_requests_computed_again_are_apart() -> None:
    unique = {"prompt": {"unique": True}, "output": {"tokens": 32, "forced": True}}
    step = Step(arm="main", concurrency=1, hit_rate=0.3)
    for again, reading in ((0, "contaminating"), (7, "recomputed")):
        seen = Observations(steps=[step.model_copy(update={"preemptions": again})])
        assert result(verdicts(spec(workload=unique), seen), "prefix-cache").reading == reading


def test_more_than_the_streams_can_give_is_no_throughput() -> None:
    """Two streams of 29 tok/s are 58 at most; 700 is of something else."""
    (r,) = found("conservation", 2, stream_tok_s=29, aggregate_tok_s=700, wall_s=1)
    assert r.reading == "violated"
    assert "2 x 29 = 58 tok/s" in (r.arithmetic or "")
    (r,) = found("conservation", 2, stream_tok_s=29, aggregate_tok_s=50, wall_s=1)
    assert r.reading == "holds"


def test_a_first_send_that_paid_for_warm_up_is_no_cache() -> None:
    """The same 4 s fall to 1 s for a prompt with another beginning, too."""
    for control, reading in (([1000.0], "not-effective"), ([4000.0], "effective")):
        sends = Sends(arm="main", ttft_ms=[4000, 1000, 1000], control_ttft_ms=control)
        r = result(verdicts(spec(), Observations(sends=[sends])), "prefix-cache")
        assert (r.reading, "control" in (r.arithmetic or "")) == (reading, True)


@pytest.mark.parametrize(("high", "reading"), [(104, "stable"), (140, "noisy")])
def test_ends_over_several_repeats_are_a_range(high: float, reading: str) -> None:
    ends = Bounds(low=100, high=high)
    (r,) = found("repeats", 4, aggregate_tok_s=ends, repeats=5)
    assert (r.reading, r.n) == (reading, 5)
    (r,) = found("repeats", 4, aggregate_tok_s=ends, repeats=2)
    assert r.state == "insufficient"
