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


def arrivals(asked: float, gap_s: float, count: int = 11, repeat: int = 1) -> Step:
    """An open loop of `count` requests that were sent `gap_s` apart."""
    requests = [
        Request(start_s=i * gap_s, end_s=i * gap_s + 1, tokens=32, prompt_tokens=16)
        for i in range(count)
    ]
    return Step(arm="main", rate=asked, mode="open", repeat=repeat, requests=requests)


def open_loop(*steps: Step, **load: Any) -> CheckResult:
    rates = sorted({step.rate for step in steps if step.rate})
    return result(verdicts(spec(load={"rate": rates, **load}), seen(*steps)), "conservation")


def test_an_open_loop_has_the_rate_that_was_sent_beside_the_one_asked_for() -> None:
    rates = {i.name: i.value for i in open_loop(arrivals(2.0, 0.5)).inputs}
    assert (rates["rate sent"], rates["rate asked"]) == (2.0, 2.0)


def test_the_rate_of_one_repeat_is_not_said_to_be_that_of_all() -> None:
    r = open_loop(arrivals(2.0, 0.5), arrivals(2.0, 0.45, repeat=2), arrivals(2.0, 0.55, repeat=3))
    assert "the same in 3 repeats" in (r.arithmetic or "")
    assert "requests/s" not in (r.arithmetic or "")
    source = next(i.source for i in r.inputs if i.name == "rate sent")
    assert (source or "").endswith("rate=2.0, repeat 1")


@pytest.mark.parametrize(
    ("load", "count", "gap_s", "off"),
    [
        ({"arrival": "constant"}, 11, 0.26, False),
        ({"arrival": "constant"}, 11, 0.27, True),
        ({}, 101, 0.25 / 1.19, False),  # two standard deviations of 100 gaps are 20 %
        ({}, 101, 0.25 / 1.21, True),
        ({"arrival": "poisson"}, 26, 0.25 / 1.39, False),
        ({"arrival": "poisson"}, 26, 0.25 / 0.59, True),
        ({"arrival": "gamma", "burstiness": 0.25}, 101, 0.25 / 1.39, False),
        ({"arrival": "gamma", "burstiness": 4.0}, 101, 0.25 / 1.11, True),
    ],
)
def test_a_rate_beyond_what_its_schedule_explains(
    load: dict[str, Any], count: int, gap_s: float, off: bool
) -> None:
    caveats = open_loop(arrivals(4.0, gap_s, count), **load).caveats
    assert [c.partition(":")[0] for c in caveats] == ["sent at another rate than asked"] * off


def test_the_caveat_says_how_far_and_how_far_is_usual() -> None:
    assert open_loop(arrivals(4.0, 0.5, 26)).caveats == [
        "sent at another rate than asked: 2 of 4 requests/s is -50 %; a schedule of 25 poisson gaps "
        "strays by up to 40 %"
    ]


def test_a_timed_command_has_no_tokens_to_conserve() -> None:
    study = spec(engine={"kind": "command", "command": "./render clip"}, workload={})
    jobs = [Step(arm="main", repeat=i, wall_s=t) for i, t in enumerate((55.9, 56.0, 56.1), 1)]
    v = verdicts(study, seen(*jobs))
    assert result(v, "conservation").state == result(v, "aggregate").state == "not-applicable"
    assert result(v, "repeats").reading == "stable"


@pytest.mark.parametrize(
    ("asked", "words", "caveats"),
    [
        (16, "prompts of 16 tokens, 16 asked", 0),
        (15, "prompts of 16 tokens, 15 asked", 1),
        (None, "", 0),
    ],
)
def test_prompts_that_the_server_counts_otherwise(
    asked: int | None, words: str, caveats: int
) -> None:
    """The simulated server counts 16; a template that is not allowed for would show so."""
    study = spec(workload={"prompt": {"tokens": asked}, "output": {"tokens": 32, "forced": True}})
    r = result(verdicts(study, seen(burst("main", 4, 4))), "conservation")
    assert words in (r.arithmetic or "")
    assert r.reading == "holds"
    found = [c for c in r.caveats if "the server counted 16 tokens, 15 were asked for" in c]
    assert len(found) == caveats


def test_only_first_turns_are_of_the_length_asked_for() -> None:
    step = burst("main", 2, 2)
    talk = [
        one.model_copy(update={"turn": turn, "prompt_tokens": 16 * turn})
        for turn, one in enumerate(step.requests, 1)
    ]
    study = spec(workload={"prompt": {"tokens": 16}, "output": {"tokens": 32, "forced": True}})
    step = step.model_copy(update={"requests": talk})
    r = result(verdicts(study, seen(step)), "conservation")
    assert "prompts of 16 tokens, 16 asked" in (r.arithmetic or "")
    assert r.caveats == []
