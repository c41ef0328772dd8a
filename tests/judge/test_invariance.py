"""What must not change a reading: the unit of time, the order of requests, someone else's arm."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from benchspec.judge.result import CheckResult
from benchspec.observations.model import Observations, Step
from tests.judge.world import seen, spec, sweep, verdicts

SLOTS = {"four": 4, "one": 1}
STEPS = [*sweep("four", 4), *sweep("one", 1)]
STUDY = spec(arms=[{"id": "four"}, {"id": "one"}])


def readings(observed: Observations, arms: set[str]) -> dict[str, tuple[str, str | None]]:
    return {r.key: (r.state, r.reading) for r in verdicts(STUDY, observed).checks if r.arm in arms}


def checks(observed: Observations) -> list[CheckResult]:
    return verdicts(STUDY, observed).checks


def scaled(step: Step, k: float) -> Step:
    times = ("start_s", "first_token_s", "last_token_s", "end_s", "ttft_ms", "itl_ms")
    requests = []
    for r in step.requests:
        update = {name: getattr(r, name) * k for name in times}
        update["self_reported_tok_s"] = (r.self_reported_tok_s or 0) / k
        requests.append(r.model_copy(update=update))
    assert isinstance(step.wall_s, float)
    return step.model_copy(update={"wall_s": step.wall_s * k, "requests": requests})


@settings(max_examples=25, deadline=None)
@given(st.floats(1e-3, 1e3))
def test_scaling_all_times_changes_no_reading(k: float) -> None:
    before = readings(seen(*STEPS, slots=SLOTS), {"four", "one"})
    after = readings(seen(*[scaled(s, k) for s in STEPS], slots=SLOTS), {"four", "one"})
    assert before == after


@settings(max_examples=25, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_order_of_requests_and_steps_changes_nothing(chance: random.Random) -> None:
    shuffled = []
    for step in STEPS:
        requests = list(step.requests)
        chance.shuffle(requests)
        shuffled.append(step.model_copy(update={"requests": requests}))
    chance.shuffle(shuffled)
    assert checks(seen(*shuffled, slots=SLOTS)) == checks(seen(*STEPS, slots=SLOTS))


def test_an_unrelated_arm_changes_nothing() -> None:
    def of_four(*steps: Step) -> list[CheckResult]:
        own = [r for r in checks(seen(*steps, slots=SLOTS)) if r.arm == "four"]
        return [r for r in own if "against" not in r.at]

    assert of_four(*sweep("four", 4)) == of_four(*STEPS)


def test_judging_twice_gives_the_same_bytes() -> None:
    observed = seen(*STEPS, slots=SLOTS)
    again = Observations.model_validate_json(observed.model_dump_json())
    assert verdicts(STUDY, observed).model_dump_json() == verdicts(STUDY, again).model_dump_json()
