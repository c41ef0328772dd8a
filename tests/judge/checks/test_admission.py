"""admission: what bounds the requests at work; and what a counter means for the waves."""

from __future__ import annotations

from typing import Any

import pytest

from benchspec.judge.result import CheckResult
from benchspec.observations.model import ArmObservation, Observations, Step
from tests.judge.world import hypothesis, result, spec, verdicts

LONG = {"prompt": {"tokens": 900}, "output": {"tokens": 100, "forced": True}}


def admitted(slots: int | None, arm: dict[str, Any] | None = None, **step: Any) -> CheckResult:
    engine = {"kind": "openai", **({"slots": slots} if slots else {})}
    seen = Observations(
        arms={"main": ArmObservation.model_validate(arm or {})},
        steps=[Step(arm="main", concurrency=32, **step)],
    )
    return result(verdicts(spec(engine=engine, workload=LONG), seen), "admission")


@pytest.mark.parametrize(
    ("slots", "arm", "step", "reading", "value"),
    [
        (64, {}, {"running_max": 32}, "fits", 32),
        (8, {}, {"running_max": 8, "waiting_max": 24}, "slots-bound", 8),
        (64, {"kv_tokens": 9000}, {"running_max": 9, "waiting_max": 23}, "kv-bound", 9),
        (64, {"kv_tokens": 64000}, {"running_max": 9, "waiting_max": 23}, "below-slots", 9),
        (64, {}, {"running_max": 6, "waiting_max": 0}, "capped-before-server", 6),
        (64, {}, {"running_max": 6}, "below-slots", 6),
        (8, {}, {"running_max": 6, "waiting_max": 0}, "capped-before-server", 6),
        (64, {"kv_tokens": 9000}, {}, "kv-bound", 9),
        (8, {"kv_tokens": 64000}, {}, "slots-bound", 8),
        (64, {"kv_tokens": 64000}, {}, "fits", 32),
        (4, {"kv_tokens": 64000, "replicas": 4}, {}, "slots-bound", 16),
    ],
)
def test_what_bounds_it(
    slots: int, arm: dict[str, Any], step: dict[str, Any], reading: str, value: float
) -> None:
    r = admitted(slots, arm, **step)
    assert (r.reading, r.value) == (reading, value)


def test_a_cache_that_holds_no_request_is_no_figure() -> None:
    r = admitted(8, {"kv_tokens": 900})
    assert (r.state, r.reading) == ("invalid", None)


def test_requests_that_were_put_back_are_told() -> None:
    r = admitted(64, {"kv_tokens": 9000}, running_max=9, waiting_max=23, preemptions=5)
    assert "5 requests were put back" in r.caveats[0]


def test_running_while_others_wait_is_the_s_of_the_waves() -> None:
    """The setting says 64; the counter says 9, so eight waves are expected of 64 requests."""
    steps = [
        Step(arm="main", concurrency=9, wall_s=10),
        Step(arm="main", concurrency=18, wall_s=20, running_max=9, waiting_max=9, stream_tok_s=10),
    ]
    v = verdicts(spec(engine={"kind": "openai", "slots": 64}), Observations(steps=steps))
    r = result(v, "queueing", concurrency=18)
    assert (r.reading, r.value) == ("queued", 1.0)
    assert r.inputs[0].provenance == "measured"


def test_a_rate_of_which_many_requests_failed_decides_nothing() -> None:
    claim = hypothesis(
        test={"metric": "aggregate_tok_s", "at": {"concurrency": 4}, "relation": ">", "value": 1}
    )
    steps = [
        Step(arm="main", concurrency=4, repeat=n, wall_s=10, tokens_total=100, errors=1)
        for n in (1, 2, 3)
    ]
    v = verdicts(spec(hypotheses=[claim]), Observations(steps=steps))
    assert v.hypotheses[0].verdict == "invalid"
    assert "1 of 4 requests failed" in v.hypotheses[0].reason
    assert result(v, "aggregate").quotable == "no"
