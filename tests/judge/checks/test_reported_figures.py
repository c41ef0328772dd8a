"""Figures as other tools print them: what they are of, and where a check must not speak."""

from __future__ import annotations

from typing import Any

import pytest

from benchspec.judge.result import CheckResult
from benchspec.observations.model import Distribution, Limit, Observations, Request, Series, Step
from tests.judge.world import result, seen, spec, verdicts

TWO = [{"id": "a"}, {"id": "b", "control_for": "a"}]


def step(**fields: Any) -> Step:
    return Step(arm="main", **fields)


def judged(check: str, one: Step, **place: Any) -> CheckResult:
    study = spec(engine={"kind": "vllm"}, workload={})
    return result(verdicts(study, seen(one, origin="audit")), check, **place)


def all_of(check: str, observed: Observations, **sections: Any) -> list[CheckResult]:
    return [r for r in verdicts(spec(**sections), observed).checks if r.check == check]


# -- an open loop against its schedule


def queue(late_s: float) -> Step:
    """Ten requests a second, each sent `late_s` later than the one before it was."""
    return step(
        rate=10.0,
        mode="open",
        requests=[
            Request(scheduled_s=0.1 * i, start_s=(0.1 + late_s) * i, end_s=(0.1 + late_s) * i + 0.5)
            for i in range(8)
        ],
    )


def test_a_client_that_sends_late_limits_its_open_loop() -> None:
    r = judged("client", queue(0.4))
    assert r.reading == "client-limited"
    assert r.value == pytest.approx(1.4 / 1.9)


def test_a_client_on_time_does_not() -> None:
    assert judged("client", queue(0.0)).reading == "fine"


def test_a_rate_that_was_not_sent_was_held_back() -> None:
    assert judged("client", step(rate=10.0, achieved_rate=6.0)).value == pytest.approx(0.4)
    assert judged("client", step(rate=10.0, achieved_rate=9.9)).reading == "fine"


# -- what a throughput is of


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (100.0, "tokens per answer"),
        (1100.0, "that counts the prompts too"),
        (10.0, "that is the rate of one answer of 10"),
    ],
)
def test_a_throughput_is_of_answers_or_of_something_else(said: float, words: str) -> None:
    r = judged(
        "conservation",
        step(
            planned_requests=10,
            wall_s=10.0,
            tokens_total=1000.0,
            prompt_tokens=1000.0,
            aggregate_tok_s=said,
        ),
    )
    assert r.reading == ("holds" if said == 100 else "violated")
    assert words in (r.arithmetic or "")


def test_littles_law_needs_no_tokens() -> None:
    fields = {"concurrency": 16, "mode": "sustained", "requests_per_s": 4.0}
    assert judged("conservation", step(latency_s=4.0, **fields)).reading == "holds"
    assert judged("conservation", step(latency_s=9.0, **fields)).reading == "violated"


def test_no_request_takes_longer_than_its_run() -> None:
    r = judged("conservation", step(planned_requests=4, wall_s=10.0, latency_s=12.0))
    assert "a latency of 12 s is longer than the run of 10 s" in (r.arithmetic or "")


def test_a_request_that_failed_gave_no_answer() -> None:
    fields = {"concurrency": 100, "wall_s": 60.0, "aggregate_tok_s": 500.0}
    assert judged("conservation", step(errors=40, **fields)).value == pytest.approx(500)


def test_a_mean_time_per_token_times_a_mean_length_may_exceed_the_run() -> None:
    fields = {"planned_requests": 100, "tokens_total": 10000.0, "ttft_ms": 1000.0}
    r = judged("latency-share", step(tpot_ms=200.0, wall_s=10.0, **fields))
    assert (r.value, r.quotable) == (0.1, "bound")
    assert "do not multiply" in r.caveats[0]


# -- where a check must not speak


def arms(first: float, second: float, **observed: Any) -> Observations:
    steps = [
        Step(arm=arm, concurrency=1, prefill_tok_s=rate)
        for arm, rate in (("a", first), ("b", second))
    ]
    return seen(*steps, origin="audit", **observed)


def test_a_slow_prefill_is_a_fallback_only_where_a_kernel_was_chosen() -> None:
    kernel = {"kind": "llama.cpp", "flags": {}}
    chosen = [{"id": "a", "engine": {"flags": {"cache-type-k": "q5_1"}}}, TWO[1]]
    (found,) = all_of("placement", arms(100, 900), engine=kernel, arms=chosen)
    assert found.reading == "fell-back"
    caps = [
        Limit(name="power limit", arm="a", limit=100, used=99),
        Limit(name="power limit", arm="b", limit=350, used=340),
    ]
    assert not all_of("placement", arms(100, 900, limits=caps), engine=kernel, arms=TWO)


def clock(*values: float) -> Observations:
    series = Series(counter="clocks_sm", unit="MHz", arm="main", device="g", values=list(values))
    return seen(origin="audit", series=[series])


def test_one_clock_says_nothing_and_two_are_divided() -> None:
    (alone,) = all_of("thermal", clock(1368))
    assert alone.state == "insufficient"
    (fell,) = all_of("thermal", clock(1368, 743))
    assert fell.reading == "throttled"
    assert fell.value == pytest.approx(743 / 1368)
    assert "few samples: the first against the rest" in fell.caveats


def test_an_interval_is_a_spread_only_where_somebody_counted_the_runs() -> None:
    wide = {"low": 197.0, "high": 340.0}
    r = judged("repeats", step(concurrency=2, prefill_tok_s=wide, repeats=5))
    assert (r.reading, r.quotable) == ("noisy", "no")
    r = judged("repeats", step(concurrency=2, prefill_tok_s=wide))
    assert r.missing == ["how many repeats 197..340 is of"]


# -- times between tokens


@pytest.mark.parametrize(("mean", "reading"), [(842.0, "bursty"), (60.0, "steady")])
def test_a_few_long_waits_carry_the_mean(mean: float, reading: str) -> None:
    r = judged("burst", step(concurrency=30, itl_ms=Distribution(mean=mean, p50=44.6)))
    assert r.reading == reading


def test_a_median_alone_says_nothing_of_stalls() -> None:
    observed = seen(step(concurrency=30, itl_ms=Distribution(p50=44.6)), origin="audit")
    assert not all_of("burst", observed)


def test_a_time_per_token_is_a_rate() -> None:
    devices = {"devices": [{"id": "g", "memory_bandwidth": "1000 GB/s"}]}
    observed = seen(step(concurrency=1, tpot_ms=20.0), origin="audit")
    (r,) = all_of("bandwidth-ceiling", observed, hardware=devices, model={"size": "10 GB"})
    assert r.value == pytest.approx(0.5)
    assert "from the size of the file" in r.caveats[0]


def test_the_file_of_a_mixture_of_experts_is_not_read_whole() -> None:
    devices = {"devices": [{"id": "g", "memory_bandwidth": "1000 GB/s"}]}
    observed = seen(step(concurrency=1, decode_tok_s=50.0), origin="audit")
    sparse = {"size": "100 GB", "architecture": "moe"}
    assert not all_of("bandwidth-ceiling", observed, hardware=devices, model=sparse)
    known = sparse | {"parameters": {"total": 100e9, "active": 10e9}}
    (r,) = all_of("bandwidth-ceiling", observed, hardware=devices, model=known)
    assert r.value == pytest.approx(0.5)


# -- a queue by the latencies that a report prints


@pytest.mark.parametrize(
    ("late", "reading"),
    [
        ({"latency_s": 40.0, "tpot_ms": 50.0}, "queued"),
        ({"latency_s": 40.0, "tpot_ms": 200.0, "waiting_max": 0}, "saturated"),
        ({"latency_s": 40.0}, "unresolved"),
    ],
)
def test_a_sustained_load_is_read_by_its_printed_latencies(
    late: dict[str, Any], reading: str
) -> None:
    fields = {"mode": "sustained", "planned_requests": 160}
    early = Step(arm="main", concurrency=4, latency_s=10.0, tpot_ms=50.0, **fields)
    study = spec(engine={"kind": "llama.cpp", "flags": {"parallel": 4}}, workload={})
    observed = seen(early, Step(arm="main", concurrency=16, **late, **fields), origin="audit")
    assert result(verdicts(study, observed), "queueing", concurrency=16).reading == reading
