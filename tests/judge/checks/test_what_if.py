"""What would make it faster, ranked: each lever's largest gain, read off the other checks."""

from __future__ import annotations

from typing import Any

import pytest

from benchspec.judge.checks.what_if import faster
from benchspec.observations.model import Step, Transfer
from benchspec.observations.node import Bounds
from tests.judge.world import result, seen, spec, verdicts

CARDS = {
    "devices": [
        {"id": f"gpu{i}", "memory_bandwidth": "1000 GB/s", "share": 0.5, "compute": "100 TFLOP/s"}
        for i in (0, 1)
    ],
    "links": [{"between": ["gpu0", "gpu1"], "kind": "pcie", "measured": "2 GB/s"}],
}
MODEL = {"bytes_per_token": "10 GB", "parameters": {"total": 20e9}}


def found(*steps: Step, **rest: Any) -> Any:
    study = spec(
        hardware=CARDS,
        model=MODEL,
        engine={"kind": "llama.cpp", "flags": {"parallel": 4, "spec-draft-n-max": 3}},
        workload={"prompt": {"tokens": 1000}},
    )
    return verdicts(study, seen(*steps, origin="audit", **rest))


ONE = Step(arm="main", concurrency=1, decode_tok_s=200, acceptance=0.5, prefill_tok_s=1000)


def test_a_part_of_the_time_bounds_what_a_faster_part_can_give() -> None:
    assert faster(0.5, 2) == pytest.approx(4 / 3)
    assert faster(1.0, 1.2) == pytest.approx(1.2)
    assert faster(0.0, 100) == 1.0


def test_memory_gives_from_the_part_that_surely_waits_up_to_all_of_it() -> None:
    lever = result(found(ONE), "what-if", arm="main", lever="memory bandwidth x 1.2")
    # 200 tok/s / 2.5 tokens a pass x 10 GB / 1000 GB/s = 0.8 of the ceiling
    assert isinstance(lever.value, Bounds)
    assert lever.value.low == pytest.approx(1 / (1 - 0.8 * (1 - 1 / 1.2)))
    assert lever.value.high == pytest.approx(1.2)
    assert (lever.reading, lever.quotable) == ("gain", "bound")


def test_drafts_links_and_slots_have_their_own_bounds() -> None:
    link = Transfer(bytes_per_token=25e6, crossings=1, latency_s=0.00125, provenance="measured")
    steps = [
        ONE,
        Step(arm="main", concurrency=4, wall_s=10, stream_tok_s=5, aggregate_tok_s=20),
        Step(arm="main", concurrency=8, wall_s=20, stream_tok_s=5, aggregate_tok_s=20),
    ]
    judged = found(*steps, transfers=[link])
    value = {
        (r.at["lever"], r.at.get("concurrency")): r.value
        for r in judged.checks
        if r.check == "what-if"
    }
    assert value["acceptance + 10 points", 1] == pytest.approx(2.8 / 2.5)
    # one pass is 12.5 ms, of which 12.5 + 1.25 ms would be the link: all of it, at most
    assert value["link bandwidth x 2", 1] == pytest.approx(2.0)
    assert value["link latency 0", 1] == pytest.approx(1 / 0.9)
    assert value["as many slots as requests", 8] == 2.0


def test_the_largest_bound_comes_first() -> None:
    levers = [r for r in found(ONE).checks if r.check == "what-if"]
    bounds = [getattr(r.value, "high", r.value) for r in levers]
    assert bounds == sorted(bounds, reverse=True)
    assert len(bounds) >= 3


def test_without_a_figure_there_is_no_lever() -> None:
    bare = verdicts(spec(), seen(Step(arm="main", concurrency=1, wall_s=3), origin="audit"))
    assert [r for r in bare.checks if r.check == "what-if"] == []
