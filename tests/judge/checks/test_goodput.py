"""goodput: requests served within the limits of the spec, of all that were sent, and per second."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchspec.judge.result import CheckResult
from benchspec.observations.model import Client, Request, Step
from tests.judge.world import hypothesis, result, seen, spec, verdicts

CHECK = "goodput"
LIMITS = {"ttft": "200 ms", "itl": "50 ms", "e2e": "5 s"}


def request(**changes: Any) -> Request:
    """Good by all limits, unless changed: first token 100 ms, then 20 ms each, 1 s in all."""
    times = {"start_s": 0.0, "ttft_ms": 100.0, "itl_ms": 20.0, "end_s": 1.0, "tokens": 32}
    return Request(**times | changes)


LATE = request(ttft_ms=300.0)
SLOW = request(itl_ms=60.0, end_s=2.8)
LONG = request(end_s=6.0)
FAILED = Request(start_s=0.0, ok=False, error="reset")


def step(*requests: Request, repeat: int = 1, **rest: Any) -> Step:
    return Step(
        arm="main", concurrency=4, repeat=repeat, requests=list(requests), wall_s=8.0, **rest
    )


def judged(*steps: Step, slo: dict[str, str] | None = None, **sections: Any) -> CheckResult:
    load = {"concurrency": [4], "slo": LIMITS if slo is None else slo}
    return result(verdicts(spec(load=load, **sections), seen(*steps)), CHECK)


def test_the_divisions_are_printed() -> None:
    r = judged(step(request(), request(), LATE, SLOW, LONG, FAILED))
    assert r.reading == "some"
    assert r.value == pytest.approx(2 / 6)
    assert r.arithmetic == (
        "2 good / 6 sent = 0.333 (ttft <= 0.2 s: 4, itl <= 0.05 s: 4, e2e <= 5 s: 4; 1 failed); "
        "2 / 8 s = 0.25 good requests/s"
    )
    assert {one.name: one.value for one in r.inputs} == {
        "good requests": 2.0,
        "sent requests": 6.0,
        "wall time": 8.0,
    }


@pytest.mark.parametrize(
    ("requests", "reading"),
    [
        ([request()] * 4, "all"),
        ([request(), LATE], "some"),
        ([LATE, SLOW], "none"),
        ([FAILED] * 2, "none"),
        ([request(ttft_ms=200.0)], "all"),  # at the limit
        ([request(tokens=1, itl_ms=None)], "all"),  # one token: nothing between tokens
    ],
)
def test_readings(requests: list[Request], reading: str) -> None:
    assert judged(step(*requests)).reading == reading


def test_only_limits_that_are_stated_count() -> None:
    assert judged(step(LATE, SLOW, LONG), slo={"e2e": "5 s"}).value == pytest.approx(2 / 3)


def test_an_open_loop_counts_from_the_schedule() -> None:
    waited = request(scheduled_s=0.0, start_s=4.5, end_s=5.5)
    assert judged(step(waited)).reading == "none"


def test_silent_where_a_time_is_not_known() -> None:
    r = judged(step(request(itl_ms=None)))
    assert (r.state, r.reason) == ("insufficient", "needs the itl of every answered request")


def test_no_limits_no_result() -> None:
    load = {"concurrency": [4]}
    checks = verdicts(spec(load=load), seen(step(request()))).checks
    assert not [one for one in checks if one.check == CHECK]
    assert not [one for one in verdicts(spec(load=load | {"slo": {}}), seen(step(request()))).checks
                if one.check == CHECK]  # fmt: skip


def test_a_client_that_was_the_limit_counts_nothing() -> None:
    slow = Client(events_per_s=9e4, ceiling_events_s=1e5)
    assert judged(step(request(), client=slow)).state == "invalid"


def test_a_hypothesis_tests_the_share() -> None:
    test = {"check": CHECK, "at": {"concurrency": 4}, "relation": ">=", "value": 0.9}
    claims = [hypothesis(test=test, claim="x")]
    load = {"concurrency": [4], "slo": LIMITS}
    for requests, verdict in (
        ([request()] * 4, "supported"),
        ([request(), LATE, FAILED], "refuted"),
    ):
        steps = [step(*requests, repeat=n) for n in (1, 2, 3)]
        (said,) = verdicts(spec(load=load, hypotheses=claims), seen(*steps)).hypotheses
        assert said.verdict == verdict, said.reason


@given(st.lists(st.sampled_from([request(), LATE, SLOW, LONG, FAILED]), min_size=1))
def test_every_request_is_good_or_not(requests: list[Request]) -> None:
    r = judged(step(*requests))
    assert r.value == pytest.approx(requests.count(request()) / len(requests))


def test_what_fails_last_takes_its_time_too() -> None:
    """Of an overloaded server most requests fail, and late: what they took was no time of nobody."""
    late = Request(start_s=1.0, end_s=16.0, ok=False, error="timeout")
    r = judged(step(request(), late))
    assert str(r.arithmetic).endswith("; 1 / 16 s = 0.0625 good requests/s")


def test_a_repeat_that_broke_off_is_not_left_out_in_silence() -> None:
    broken = step(FAILED, repeat=2, state="failed", reason="20 requests failed one after another")
    r = judged(step(request()), broken)
    assert r.state == "invalid"
    assert r.reason == (
        "repeat 2 broke off (20 requests failed one after another): to leave it out is kind"
    )


@pytest.mark.parametrize(("slo", "state"), [("ttft", "invalid"), ("e2e", "judged")])
def test_a_client_that_spoils_a_time_spoils_its_limit_only(slo: str, state: str) -> None:
    client = Client(send_lateness_ms_p99=20.0, kernel_stamp_share=1.0, coalesced_share=0.0)
    one = Step(
        arm="main", rate=4.0, mode="open", repeat=1, wall_s=8.0, client=client,
        requests=[request(scheduled_s=0.0)] * 4,
    )  # fmt: skip
    load = {"rate": [4], "slo": {slo: LIMITS[slo]}}
    r = result(verdicts(spec(load=load), seen(one)), CHECK)
    assert r.state == state
    assert ("client-limited" in str(r.reason)) is (state == "invalid")
