"""Numbers that cannot be: a named state, never a crash, never a confident reading."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from benchspec.judge.checks import CHECKS
from benchspec.observations.answers import Agreement
from benchspec.observations.model import (
    Ablation,
    ArmObservation,
    Budget,
    Caching,
    Decomposition,
    Factor,
    Figures,
    Interference,
    Limit,
    LinkProbe,
    Observations,
    Request,
    Scaled,
    Sends,
    Series,
    Step,
    Transfer,
)
from benchspec.observations.node import Bounds
from tests.judge.published import all_reduce
from tests.judge.world import burst, hypothesis, seen, spec, sweep, verdicts

GOOD = sweep("main", 4, (1, 2, 4, 8))

BROKEN: dict[str, dict[str, Any]] = {
    "NaN": {"wall_s": math.nan},
    "infinite": {"wall_s": math.inf},
    "negative": {"wall_s": -1.0},
    "zero": {"wall_s": 0.0, "requests": []},
    "negative completion": {"completions_s": [-1.0, 2.0]},
    "bounds below zero": {"wall_s": Bounds(low=-1, high=2)},
    "end before start": {"requests": [Request(start_s=5, end_s=1, tokens=3)] * 4},
    "token before dispatch": {
        "requests": [Request(start_s=5, first_token_s=1, end_s=9, tokens=3)] * 4
    },
    "NaN of a request": {"requests": [Request(start_s=0, end_s=math.nan, tokens=3)] * 4},
    "no time at all": {"requests": [Request(start_s=1, end_s=1, tokens=3)] * 4},
    "negative tokens": {"requests": [Request(start_s=0, end_s=1, tokens=-3)] * 4},
}


@pytest.mark.parametrize("name", BROKEN)
def test_impossible_numbers_are_invalid_and_say_why(name: str) -> None:
    broken = [s.model_copy(update=BROKEN[name]) if s.concurrency == 4 else s for s in GOOD]
    v = verdicts(spec(), seen(*broken, slots={"main": 4}))
    at_four = [r for r in v.checks if r.at.get("concurrency") == 4]
    assert {r.state for r in at_four if r.check == "completion-shape"} == {"invalid"}
    assert not [r for r in at_four if r.state == "judged" and r.check != "repeats"]
    assert all(r.reason for r in at_four if r.state != "judged")
    eight = next(r for r in v.checks if r.check == "queueing" and r.at == {"concurrency": 8})
    assert eight.state == "invalid"


@pytest.mark.parametrize(
    "steps",
    [
        [],
        [Step(arm="main")],
        [Step(arm="main", concurrency=1)],
        [Step(arm="main", concurrency=4, requests=[])],
        [Step(arm="main", concurrency=0)],
        [Step(arm="main", rate=2.0, mode="open", wall_s=3)],
        [burst("main", 8, 4)],
        [Step(arm="main", concurrency=8, completions_s=[5.0] * 8, output_forced=True)],
        [Step(arm="elsewhere", concurrency=8, wall_s=1)],
        [Step(arm="main", concurrency=2, requests=[Request(ok=False)] * 2)],
    ],
)
def test_little_or_nothing_is_never_a_crash(steps: list[Step]) -> None:
    study = spec(
        hypotheses=[
            hypothesis("H1", test={"check": c.NAME, "expect": c.READINGS[0]}) for c in CHECKS
        ]
    )
    v = verdicts(study, seen(*steps))
    assert not [r for r in v.checks if r.check == "queueing" and r.state == "judged"]


FLOATS = st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True), st.just(0.0))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_numbers_give_readings_of_the_vocabulary(data: st.DataObject) -> None:
    steps = []
    for count in (1, 2, 4, 8):
        requests = [
            Request(
                start_s=data.draw(FLOATS),
                first_token_s=data.draw(FLOATS),
                last_token_s=data.draw(FLOATS),
                end_s=data.draw(FLOATS),
                tokens=data.draw(st.one_of(st.none(), st.integers(-1, 3))),
                ok=data.draw(st.booleans()),
            )
            for _ in range(data.draw(st.integers(0, 3)))
        ]
        steps.append(
            Step(
                arm="main",
                concurrency=count,
                wall_s=data.draw(FLOATS),
                aggregate_tok_s=data.draw(FLOATS),
                stream_tok_s=data.draw(FLOATS),
                requests=requests,
            )
        )
    words = {c.NAME: {*c.READINGS, "unresolved", None} for c in CHECKS}
    for r in verdicts(spec(), Observations(steps=steps)).checks:
        assert r.reading in words[r.check]
        assert (r.reading is None) == (r.state != "judged")


FIGURES = (
    "decode_tok_s",
    "round_ms",
    "prefill_tok_s",
    "ttft_ms",
    "tpot_ms",
    "latency_s",
    "gap_ms",
    "hit_rate",
    "requests_per_s",
    "server_tok_s",
    "server_ttft_ms",
    "running_max",
    "waiting_max",
    "tokens_asked",
    "tokens_recounted",
    "reasoning_tokens",
    "tokens_per_request",
    "chunks",
)
NUMBERS = st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.sampled_from([0.0, 1.0]))


@settings(max_examples=60, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(st.data())
def test_any_stated_figures_give_readings_of_the_vocabulary(data: st.DataObject) -> None:
    def number() -> float:
        return data.draw(NUMBERS)

    def interference() -> Interference:
        return Interference(alone_ms=number(), beside_ms=number(), prefill_ms=number())

    def counters() -> list[Series]:
        return [
            Series(
                counter=counter,
                unit="MB/s" if "pcie" in counter else "%",
                arm=arm,
                device=device,
                mean=number(),
                counts=[12],
                values=[number() for _ in range(data.draw(st.integers(0, 3)))],
            )
            for arm in ("B", "C")
            for counter in ("pcie-rx", "pcie-tx", "utilization", "clock", "throttle")
            for device in ("gpu0", "gpu1")
        ]

    observed = Observations(
        steps=[
            Step.model_validate(
                {
                    "arm": a,
                    "concurrency": data.draw(st.sampled_from([1, 2])),
                    **{k: number() for k in FIGURES},
                }
            ).model_copy(update={"interference": interference()})
            for a in "BC"
        ],
        series=counters(),
        budgets=[Budget(name="x", total_ms=number(), parts={"a": number()})],
        ablations=[Ablation(name="x", full_ms=number(), without={"a": number(), "b": number()})],
        factors=[
            Decomposition(name="x", observed=number(), factors=[Factor(name="f", ratio=number())])
        ],
        figures=[Figures(name="x", tok_s=number(), ms_per_token=number(), over=1, under=number())],
        transfers=[Transfer(bytes_per_token=number(), crossings=2)],
        link_probes=[
            LinkProbe(name="x", bytes=number(), direct_s=number(), host_s=number()),
            LinkProbe(name="y", bytes=number(), direct_s=number(), direct_least_s=number()),
        ],
        scaled=[Scaled(name="x", n=2, single=number(), measured=number(), ideal=number())],
        sends=[Sends(ttft_ms=[number(), number()], control_ttft_ms=[number()])],
        limits=[Limit(name="x", arm="B", limit=number(), used=number())],
        caching=[Caching(arm="B", hit_rate=number(), gain=number(), prefill_share=number())],
        arms={a: ArmObservation(weights_bytes=number(), kv_bytes=number()) for a in "BC"},
        agreement=[Agreement(arms=["B", "C"], acceptance=[number(), number()])],
    )
    study, _ = all_reduce()
    words = {c.NAME: {*c.READINGS, "unresolved", None} for c in CHECKS}
    for r in verdicts(study, observed).checks:
        assert r.reading in words[r.check]
        assert (r.reading is None) == (r.state != "judged")
        assert r.state != "judged" or not isinstance(r.value, float) or math.isfinite(r.value)
