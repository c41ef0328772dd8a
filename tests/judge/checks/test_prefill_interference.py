"""prefill-interference: does reading one request's prompt hold up the others that decode?"""

from __future__ import annotations

from typing import Any

import pytest

from benchspec.judge.result import CheckResult
from benchspec.observations.model import Client, Interference, Step
from tests.judge.world import result, seen, spec, verdicts

CHECK = "prefill-interference"
MANY = {"alone_n": 400, "beside_n": 400}


def step(*, count: int = 4, repeat: int = 1, **figures: Any) -> Step:
    return Step(
        arm="main",
        concurrency=count,
        repeat=repeat,
        interference=Interference(**{"alone_ms": 20.0, "beside_ms": 20.0} | figures),
    )


def judged(*steps: Step, slots: int = 8) -> CheckResult:
    return result(verdicts(spec(), seen(*steps, slots={"main": slots})), CHECK)


@pytest.mark.parametrize(
    ("beside", "prefill", "reading"),
    [
        (20.0, 1200.0, "undisturbed"),
        (22.9, 1200.0, "undisturbed"),
        (60.0, 1200.0, "slowed"),  # in pieces: 40 of 1200 ms at a time
        (1100.0, 1200.0, "blocked"),
        (619.0, 1200.0, "slowed"),
        (621.0, 1200.0, "blocked"),
        (22.9, 3.0, "undisturbed"),  # longer by nearly the whole prompt, and still nothing
        (1100.0, None, "slowed"),
    ],
)
def test_what_a_token_waits_beside_a_prompt(
    beside: float, prefill: float | None, reading: str
) -> None:
    r = judged(step(beside_ms=beside, prefill_ms=prefill, timed_by="server", **MANY))
    assert r.reading == reading
    assert r.value == pytest.approx(beside / 20)
    assert bool(r.caveats) is (prefill is None)


def test_the_division_is_printed() -> None:
    r = judged(step(beside_ms=842.0, alone_ms=44.6, prefill_ms=1200.0))
    assert r.arithmetic is not None
    assert "p99 between tokens 842 ms beside a prompt that is read / 44.6 ms without = 18.9" in (
        r.arithmetic
    )
    assert "797.4 ms longer / 1200 ms to read it = 0.664" in r.arithmetic
    assert [i.name for i in r.inputs] == [
        "beside a prompt, p99",
        "without, p99",
        "prefill",
    ]


def test_a_tail_of_few_is_an_order_of_magnitude_and_of_fewer_nothing() -> None:
    r = judged(step(beside_ms=900.0, prefill_ms=1000.0, alone_n=400, beside_n=24))
    assert (r.reading, r.quotable) == ("blocked", "order-of-magnitude")
    assert "p99 of 24 values has no upper bound" in r.caveats[0]
    few = verdicts(spec(), seen(step(beside_ms=900.0, alone_n=400, beside_n=9)))
    assert not [c for c in few.checks if c.check == CHECK]


def test_a_wait_for_a_slot_is_no_reading_of_a_prompt() -> None:
    figures: dict[str, Any] = {"beside_ms": 60.0, "prefill_ms": 1200.0, **MANY}
    sent = judged(step(count=4, timed_by="first-token", **figures), slots=2)
    assert sent.state == "insufficient"
    assert "prefill times" in sent.missing[0]
    assert judged(step(count=4, timed_by="server", **figures), slots=2).reading == "slowed"
    free = judged(step(count=4, timed_by="first-token", **figures), slots=4)
    assert free.reading == "slowed"
    assert "from its send" in free.caveats[0]


@pytest.mark.parametrize(
    "figures",
    [
        {"alone_ms": 0.0},
        {"alone_ms": -1.0, "beside_ms": 2.0},
        {"beside_ms": float("nan")},
        {"prefill_ms": 0.0},
        {"prefill_ms": float("inf")},
    ],
)
def test_times_that_cannot_be_are_invalid(figures: dict[str, Any]) -> None:
    assert judged(step(**figures)).state == "invalid"


def test_a_client_that_is_late_sees_no_gaps_of_a_server() -> None:
    late = Client(cpu_share=0.95)
    r = judged(step(beside_ms=900.0, prefill_ms=1000.0).model_copy(update={"client": late}))
    assert r.state == "invalid"
    assert "client-limited" in (r.reason or "")


def test_repeats_are_merged() -> None:
    three = [step(repeat=r, beside_ms=20.0 + r, prefill_ms=900.0, **MANY) for r in (1, 2, 3)]
    r = judged(*three)
    assert r.n == 3
    assert r.value == pytest.approx(1.1)


def test_without_prompts_beside_answers_there_is_nothing_to_divide() -> None:
    alone = verdicts(spec(), seen(Step(arm="main", concurrency=4)))
    assert not [c for c in alone.checks if c.check == CHECK]
