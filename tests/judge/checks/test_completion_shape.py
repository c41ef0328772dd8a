"""How many were served at once, from token times or completion times."""

from __future__ import annotations

from typing import Any

import pytest

from benchspec.judge.result import CheckResult
from benchspec.observations.model import Quiet, Request, Step
from tests.judge.published import four_slots, serial_engine
from tests.judge.world import burst, result, seen, spec, sweep, verdicts


def shape(*steps: Step, **place: Any) -> CheckResult:
    return result(verdicts(spec(), seen(*steps)), "completion-shape", **place)


def test_four_slots_serve_eight_in_two_batches() -> None:
    r = result(verdicts(*four_slots()), "completion-shape", concurrency=8)
    assert (r.reading, r.value, r.quotable) == ("batches", 4, "yes")
    assert "4 + 4" in (r.arithmetic or "")
    assert "mean in flight / C = 0.749, 2.01 waves" in (r.arithmetic or "")


def test_a_serial_engine_is_a_staircase() -> None:
    r = result(verdicts(*serial_engine()), "completion-shape", concurrency=4)
    assert (r.reading, r.value) == ("staircase", 1)
    assert "gaps 5.6, 5.7, 5.7 s" in (r.arithmetic or "")
    assert "4.13 waves" in (r.arithmetic or "")


@pytest.mark.parametrize(
    ("slots", "count", "reading", "value"),
    [
        (1, 4, "staircase", 1),
        (4, 8, "batches", 4),
        (4, 6, "batches", 4),
        (2, 8, "batches", 2),
        (8, 8, "parallel", 8),
        (4, 4, "parallel", 4),
    ],
)
def test_token_times_show_the_slots(slots: int, count: int, reading: str, value: int) -> None:
    r = shape(burst("main", count, slots), concurrency=count)
    assert (r.reading, r.value) == (reading, value)


def test_one_cluster_says_at_least_not_exactly() -> None:
    step = Step(arm="main", concurrency=4, completions_s=[5.0, 5.1, 5.1, 5.2], output_forced=True)
    r = result(verdicts(spec(), seen(step)), "completion-shape")
    assert (r.reading, r.value, r.quotable) == ("S-at-least-C", 4, "bound")


def test_interleaving_that_gains_nothing_is_time_sliced() -> None:
    steps = sweep("main", 4, (1, 4), token_s=lambda batch: 0.02 * batch, prefill_s=0.001)
    r = result(verdicts(spec(), seen(*steps)), "completion-shape", concurrency=4)
    assert (r.reading, r.n) == ("time-sliced", 3)


def test_lengths_that_differ_say_nothing_without_token_times() -> None:
    requests = [Request(start_s=0, end_s=t, tokens=n) for t, n in ((5, 10), (10, 20), (15, 30))]
    step = Step(arm="main", concurrency=3, requests=requests, output_forced=True)
    r = result(verdicts(spec(), seen(step)), "completion-shape")
    assert r.state == "insufficient"
    assert "equal lengths" in r.missing[0]


def test_lengths_not_known_to_be_forced_say_nothing() -> None:
    step = Step(arm="main", concurrency=2, completions_s=[5, 10])
    study = spec(workload={"output": {"tokens": 32}})
    assert result(verdicts(study, seen(step)), "completion-shape").state == "insufficient"


def test_clusters_of_no_size_are_named() -> None:
    step = Step(arm="main", concurrency=6, completions_s=[5, 5, 10, 15, 15, 15], output_forced=True)
    r = result(verdicts(spec(), seen(step)), "completion-shape")
    assert (r.state, r.reading) == ("insufficient", None)
    assert "2 + 1 + 3" in (r.reason or "")


def test_lengths_may_differ_where_token_times_are_known() -> None:
    requests = [
        Request(start_s=0, first_token_s=0.1, last_token_s=end, end_s=end, tokens=int(end * 10))
        for end in (1.0, 2.0, 3.0, 4.0)
    ]
    r = shape(Step(arm="main", concurrency=4, requests=requests))
    assert (r.reading, r.value) == ("parallel", 4)


def test_equal_answers_that_start_late_are_read_off_their_completions() -> None:
    late = [0.0, 0.5, 1.0, 1.5]
    requests = [
        Request(start_s=0, first_token_s=t + start, last_token_s=t + 2, end_s=t + 2, tokens=32)
        for t in (0.0, 2.0)
        for start in late
    ]
    r = shape(Step(arm="main", concurrency=8, requests=requests))
    assert (r.reading, r.value) == ("batches", 4)


def test_a_disturbed_step_shows_no_gain_or_loss() -> None:
    steps = sweep("main", 4, (1, 4), token_s=lambda batch: 0.02 * batch, prefill_s=0.001)
    noisy = [s.model_copy(update={"quiet": Quiet(foreign_share=3.0)}) for s in steps]
    r = result(verdicts(spec(), seen(*noisy)), "completion-shape", concurrency=4)
    assert r.reading == "parallel"
    assert [c for c in r.caveats if "contaminated" in c] == [
        "contaminated: foreign processes took 300 % of the processor time that engine and client "
        "needed (limit 25 %)"
    ]


def test_success_is_no_evidence_of_parallelism() -> None:
    def caveats(slots: int, **rest: Any) -> list[str]:
        found = verdicts(spec(), seen(burst("main", 4, slots, **rest), slots={"main": slots}))
        return result(found, "completion-shape").caveats

    said = "every request was answered, as a queue does too: that shows no parallelism"
    assert said in caveats(1)
    assert said in caveats(2)
    assert said not in caveats(4)
    stated = {"completions_s": [1.0, 2.0, 3.0, 4.0], "requests": [], "tokens_per_request": 32}
    assert said in caveats(1, **stated, errors=0)
    assert said not in caveats(1, **stated)
