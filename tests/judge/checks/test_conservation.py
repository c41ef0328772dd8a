"""The step's own numbers must add up."""

from __future__ import annotations

from typing import Any

import pytest

from benchspec.judge.result import CheckResult
from benchspec.observations.model import Request, Step
from tests.judge.published import four_slots
from tests.judge.world import burst, hypothesis, result, seen, spec, sweep, verdicts


def judged(*steps: Step, concurrency: int = 4) -> CheckResult:
    return result(verdicts(spec(), seen(*steps)), "conservation", concurrency=concurrency)


@pytest.mark.parametrize(("count", "each"), [(1, 192.6), (2, 191.1), (4, 191.6), (8, 191.7)])
def test_a_published_table_keeps_its_tokens(count: int, each: float) -> None:
    r = result(verdicts(*four_slots()), "conservation", concurrency=count)
    assert r.reading == "holds"
    assert r.value == pytest.approx(each, abs=0.05)


def test_the_mean_in_flight_of_a_burst_is_no_violation() -> None:
    assert judged(*sweep("main", 1, (1, 4), 1)).reading == "holds"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"engine_restarted": True}, "restarted"),
        ({"planned_requests": 5}, "5 planned, 4 accounted for"),
    ],
)
def test_what_is_lost_is_a_violation(change: dict[str, Any], words: str) -> None:
    r = judged(burst("main", 4, 4, **change))
    assert r.reading == "violated"
    assert words in (r.arithmetic or "")


def test_a_forced_length_that_was_not_kept() -> None:
    r = judged(burst("main", 4, 4, tokens=20))
    assert "32 tokens were forced, 20 came" in (r.arithmetic or "")
    uneven = burst("main", 4, 4)
    first = uneven.requests[0].model_copy(update={"tokens": 36})
    r = judged(uneven.model_copy(update={"requests": [first, *uneven.requests[1:]]}))
    assert "differ by more than 2 %" in (r.arithmetic or "")


def test_sustained_load_obeys_little() -> None:
    def steady(busy: float) -> Step:
        requests = [
            Request(start_s=i * 1.0, end_s=i + busy, tokens=32, ok=True)
            for i in range(20)
            for _ in range(4)
        ]
        return Step(arm="main", concurrency=4, mode="sustained", requests=requests)

    assert judged(steady(1.0)).reading == "holds"
    assert "mean in flight" in (judged(steady(0.7)).arithmetic or "")


def test_more_in_flight_than_allowed() -> None:
    step = burst("main", 4, 4)
    assert "4 were in flight, 2 allowed" in (
        judged(step.model_copy(update={"concurrency": 2}), concurrency=2).arithmetic or ""
    )


def test_a_violation_invalidates_what_rests_on_it() -> None:
    steps = [s.model_copy(update={"engine_restarted": True}) for s in sweep("main", 1, (4,))]
    study = spec(hypotheses=[hypothesis(test={"check": "completion-shape", "expect": "staircase"})])
    assert verdicts(study, seen(*steps)).hypotheses[0].verdict == "invalid"


def test_an_open_loop_says_what_rate_it_achieved() -> None:
    requests = [Request(start_s=i * 0.5, end_s=i * 0.5 + 1, tokens=32) for i in range(11)]
    step = Step(arm="main", rate=4.0, mode="open", requests=requests)
    r = result(verdicts(spec(), seen(step)), "conservation")
    assert "achieved 2 of 4 requests/s" in (r.arithmetic or "")


def test_a_timed_command_has_no_tokens_to_conserve() -> None:
    study = spec(engine={"kind": "command", "command": "./render clip"}, workload={})
    jobs = [Step(arm="main", repeat=i, wall_s=t) for i, t in enumerate((55.9, 56.0, 56.1), 1)]
    v = verdicts(study, seen(*jobs))
    assert result(v, "conservation").state == result(v, "aggregate").state == "not-applicable"
    assert result(v, "repeats").reading == "stable"
