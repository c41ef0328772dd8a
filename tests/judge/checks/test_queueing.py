"""A queue takes C/S times as long, and so does saturated hardware: the witnesses decide."""

from __future__ import annotations

from typing import Any

import pytest

from benchspec.judge.result import CheckResult
from benchspec.observations.model import Observations, Step
from tests.judge.published import four_slots
from tests.judge.world import burst, result, seen, spec, sweep, verdicts


def at_eight(observations: Observations, **sections: Any) -> CheckResult:
    return result(verdicts(spec(**sections), observations), "queueing", concurrency=8)


def table(**eight: Any) -> Observations:
    """T(4) 15.6 s and T(8) 31.2 s, and for C=8 what `eight` adds."""
    four = Step(arm="main", concurrency=4, wall_s=15.6, stream_tok_s=13.4)
    return seen(four, Step(**{"arm": "main", "concurrency": 8, "wall_s": 31.2} | eight))


def test_the_published_plateau_is_the_slots() -> None:
    r = result(verdicts(*four_slots()), "queueing", concurrency=8)
    assert (r.state, r.reading) == ("judged", "queued")
    assert r.value == pytest.approx(1.003, abs=0.0005)
    text = r.arithmetic or ""
    assert "ceil(8 / 4) x 15.6 s = 31.2 s, measured 31.3 s, ratio 1.003" in text
    assert "completions 4 + 4" in text
    assert "per-stream rate kept 13.16 / 13.37 = 0.98" in text
    source = next(i for i in r.inputs if i.name == "S")
    assert (source.value, source.provenance, source.source) == (
        4,
        "declared",
        "default of llama.cpp",
    )


def test_the_ratio_alone_is_unresolved() -> None:
    assert at_eight(table()).reading == "unresolved"


def test_saturated_hardware_keeps_the_ratio_but_not_the_rate() -> None:
    r = at_eight(table(stream_tok_s=6.7, completions_s=[31.0] * 8, output_forced=True))
    assert r.reading == "saturated"


@pytest.mark.parametrize(
    "witness",
    [
        {"stream_tok_s": 13.2},
        {"completions_s": [15.6] * 4 + [31.2] * 4, "output_forced": True},
        {"waiting_max": 4},
    ],
    ids=["rate kept", "clusters of S", "waiting counter"],
)
def test_any_one_witness_makes_it_a_queue(witness: dict[str, Any]) -> None:
    assert at_eight(table(**witness)).reading == "queued"


def test_the_first_token_of_the_late_is_a_witness() -> None:
    full, late = burst("main", 4, 4), burst("main", 8, 4)
    blind = [
        r.model_copy(update={"last_token_s": None, "tokens": None, "end_s": None})
        for r in late.requests
    ]
    late = late.model_copy(update={"requests": blind})
    r = at_eight(seen(full, late, slots={"main": 4}))
    assert (r.reading, "first-token jump" in (r.arithmetic or "")) == ("queued", True)


@pytest.mark.parametrize(
    ("wall", "witnesses", "reading"),
    [
        (31.2 * 1.15, 1, "unresolved"),
        (31.2 * 1.15, 2, "queued"),
        (31.2 * 0.75, 2, "unresolved"),
        (31.2 * 0.75, 3, "queued"),
        (31.2 * 1.5, 3, "unresolved"),
    ],
)
def test_a_ratio_that_a_busy_machine_moved_needs_more_witnesses(
    wall: float, witnesses: int, reading: str
) -> None:
    found: dict[str, Any] = {
        "completions_s": [wall / 2] * 4 + [wall] * 4,
        "waiting_max": 4,
        "stream_tok_s": 13.2,
    }
    seen_of = dict(list(found.items())[:witnesses])
    r = at_eight(table(**{"output_forced": True, "wall_s": wall} | seen_of))
    assert r.reading == reading
    assert any("witnesses or more" in c for c in r.caveats) is (reading == "queued")


def test_more_slots_than_stated_read_parallel() -> None:
    steps = [burst("main", c, 8) for c in (4, 8)]
    assert at_eight(seen(*steps, slots={"main": 4})).reading == "parallel"


def test_partial_waves_use_their_own_time() -> None:
    steps = sweep("main", 4, (1, 2, 4, 6))
    r = result(verdicts(spec(), seen(*steps, slots={"main": 4})), "queueing", concurrency=6)
    assert r.reading == "queued"
    assert r.value == pytest.approx(1.0)
    assert "floor(6 / 4) x" in (r.arithmetic or "")


def test_a_wave_that_was_not_measured_is_named() -> None:
    r = result(
        verdicts(spec(), seen(*sweep("main", 4, (1, 4, 6)), slots={"main": 4})),
        "queueing",
        concurrency=6,
    )
    assert r.state == "insufficient"
    assert "T(2)" in r.missing[0]


def test_without_slots_or_without_their_step_it_is_silent() -> None:
    attached = {"kind": "openai", "attach": "http://127.0.0.1:1"}
    r = at_eight(table(), engine=attached)
    assert (r.state, r.missing) == ("insufficient", ["S, the number of server slots"])
    alone = seen(burst("main", 8, 4), slots={"main": 4})
    assert at_eight(alone).missing[0].startswith("T(4)")


def test_slots_inferred_from_the_same_completions_cannot_witness() -> None:
    attached = {"kind": "openai", "attach": "http://127.0.0.1:1"}
    eight = Step(
        arm="main",
        concurrency=8,
        wall_s=31.2,
        completions_s=[15.6] * 4 + [31.2] * 4,
        output_forced=True,
    )
    four = Step(arm="main", concurrency=4, wall_s=15.6)
    r = at_eight(seen(four, eight), engine=attached)
    assert (r.reading, r.inputs[0].provenance) == ("unresolved", "derived")
    assert any("cannot witness" in c for c in r.caveats)


def test_what_fits_into_the_slots_cannot_queue() -> None:
    steps = sweep("main", 4, (1, 4))
    r = result(verdicts(spec(), seen(*steps, slots={"main": 4})), "queueing", concurrency=4)
    assert r.state == "not-applicable"


def test_answers_of_other_lengths_cannot_be_compared() -> None:
    steps = [burst("main", 4, 4, tokens=32), burst("main", 8, 4, tokens=64)]
    assert at_eight(seen(*steps, slots={"main": 4})).state == "insufficient"


def test_sustained_load_compares_latencies_not_batches() -> None:
    def steady(count: int, latency: float) -> Step:
        one = burst("main", 1, 1).requests[0]
        requests = [
            one.model_copy(
                update={
                    "start_s": i * latency / count,
                    "first_token_s": (i + 1) * latency / count,
                    "last_token_s": i * latency / count + latency,
                    "end_s": i * latency / count + latency,
                }
            )
            for i in range(5 * count)
        ]
        return Step(
            arm="main",
            concurrency=count,
            mode="sustained",
            requests=requests,
            waiting_max=count - 4,
        )

    r = at_eight(seen(steady(4, 1.0), steady(8, 2.02), slots={"main": 4}))
    assert r.reading == "queued"
    assert r.value == pytest.approx(1.01)
    assert "C / S = 8 / 4 = 2" in (r.arithmetic or "")


def test_repeats_that_read_differently_are_unresolved() -> None:
    steps = sweep("main", 4, (4, 8), repeats=2)
    odd = [burst("main", 4, 4, repeat=3), burst("main", 8, 8, repeat=3)]
    r = at_eight(seen(*steps, *odd, slots={"main": 4}))
    assert (r.reading, r.n) == ("unresolved", 3)
    assert "2 queued, 1 parallel" in " ".join(r.caveats)


def test_each_repeat_divides_within_itself() -> None:
    slow = [burst("main", c, 4, repeat=2, scale=3.0) for c in (4, 8)]
    r = at_eight(seen(*sweep("main", 4, (4, 8), repeats=1), *slow, slots={"main": 4}))
    assert r.n == 2
    assert r.value == pytest.approx(1.0)


def test_slots_show_in_the_first_tokens_of_uneven_answers() -> None:
    attached = {"kind": "openai", "attach": "http://127.0.0.1:1"}

    def uneven(count: int) -> Step:
        step = burst("main", count, 4)
        requests = [
            r.model_copy(update={"tokens": 32 - i % 4, "end_s": (r.end_s or 0) - 0.01 * (i % 4)})
            for i, r in enumerate(step.requests)
        ]
        ends = [r.model_copy(update={"last_token_s": r.end_s}) for r in requests]
        return step.model_copy(update={"requests": ends})

    r = at_eight(seen(uneven(4), uneven(8)), engine=attached, workload={"prompt": {"tokens": 16}})
    assert r.inputs[0].value == 4
    assert r.inputs[0].provenance == "derived"
