"""placement, memory-share, treatment, split-cost: where work lies, and what a setting changed."""

from __future__ import annotations

from typing import Any

import pytest

from benchspec.judge.result import CheckResult
from benchspec.observations.model import (
    ArmObservation,
    Caching,
    Limit,
    Observations,
    Scaled,
    Series,
    Setting,
    Step,
    Transfer,
)
from benchspec.observations.node import Bounds
from tests.judge.world import result, spec, verdicts

CARD = {"devices": [{"id": "gpu0", "memory": "10 GiB", "power_limit": "300 W"}]}
PAIR = {
    "devices": [{"id": "gpu0"}, {"id": "gpu1"}],
    "links": [{"between": ["gpu0", "gpu1"], "measured": "10 GB/s"}],
}
TWO = [{"id": "a"}, {"id": "b", "control_for": "a"}]


def counter(name: str, mean: float, unit: str = "%") -> Series:
    return Series(counter=name, unit=unit, arm="main", device="gpu0", mean=mean, counts=[20])


@pytest.mark.parametrize(
    ("memory_busy", "used_mib", "reading"),
    [
        (5, 10200, "spilled"),
        (5, 6000, "starved"),
        (60, 10200, "on-device"),
        (60, 6000, "on-device"),
    ],
)
def test_a_busy_device_whose_memory_is_not_read(
    memory_busy: float, used_mib: float, reading: str
) -> None:
    series = [
        counter("utilization", 97),
        counter("utilization_memory", memory_busy),
        counter("memory_used", used_mib, "MiB"),
    ]
    v = verdicts(spec(hardware=CARD), Observations(series=series))
    assert result(v, "placement").reading == reading


def prefill(**arms: float) -> list[Step]:
    return [Step(arm=a, concurrency=1, prefill_tok_s=rate) for a, rate in arms.items()]


@pytest.mark.parametrize(("rate", "reading"), [(199.0, "fell-back"), (201.0, "on-device")])
def test_prefill_a_fifth_of_the_control_fell_back(rate: float, reading: str) -> None:
    v = verdicts(spec(arms=TWO), Observations(steps=prefill(a=rate, b=1000)))
    assert result(v, "placement", arm="a").reading == reading


def test_another_model_in_the_control_says_nothing_of_placement() -> None:
    arms = [{"id": "a", "model": {"name": "other"}}, TWO[1]]
    v = verdicts(spec(arms=arms), Observations(steps=prefill(a=100, b=1000)))
    assert not [r for r in v.checks if r.check == "placement"]


@pytest.mark.parametrize(
    ("tokens", "reading"), [(100_500, "unchanged"), (200_000, "more"), (60_000, "fewer")]
)
def test_a_precision_of_the_cache_that_frees_no_room_did_nothing(tokens: int, reading: str) -> None:
    asked = [Setting(name="kv-cache-dtype", asked="fp8", asked_source="command line")]
    arms = {
        "a": ArmObservation(kv_tokens=tokens, settings=asked),
        "b": ArmObservation(kv_tokens=100_000),
    }
    v = verdicts(spec(arms=TWO), Observations(arms=arms))
    assert result(v, "memory-share", arm="a").reading == reading
    settings = result(v, "effective-settings", arm="a")
    unchanged = reading == "unchanged"
    assert (settings.reading == "on-but-unused") == unchanged
    assert (settings.state == "insufficient") != unchanged


def limits(v: list[CheckResult]) -> dict[str | None, str | None]:
    return {r.arm: r.reading for r in v if r.check == "treatment"}


def test_slots_that_no_load_fills_are_no_treatment() -> None:
    arms = [{"id": "few", "engine": {"slots": 4}}, {"id": "many", "engine": {"slots": 64}}]
    steps = [Step(arm=a, concurrency=8) for a in ("few", "many")]
    v = verdicts(spec(engine={"kind": "openai"}, arms=arms), Observations(steps=steps))
    assert limits(v.checks) == {"few": "binds", "many": "never-binds"}


@pytest.mark.parametrize(("draw", "reading"), [(299.0, "binds"), (246.0, "never-binds")])
def test_a_power_limit_against_the_draw(draw: float, reading: str) -> None:
    v = verdicts(spec(hardware=CARD), Observations(series=[counter("power", draw, "W")]))
    assert limits(v.checks) == {"main": reading}


def test_an_interval_that_reaches_the_limit_binds() -> None:
    for used, reading in ((Bounds(low=90, high=96), "binds"), (90, "never-binds")):
        seen = Observations(limits=[Limit(name="x", arm="main", limit=100, used=used)])
        assert limits(verdicts(spec(), seen).checks) == {"main": reading}


def split(measured: float, **transfer: Any) -> CheckResult:
    moved = [Transfer(bytes_per_token=1e5, crossings=100, **transfer)] if transfer else []
    seen = Observations(
        scaled=[Scaled(name="pass", n=2, single=20.0, measured=measured, unit="ms")],
        transfers=moved,
    )
    return result(verdicts(spec(hardware=PAIR), seen), "split-cost")


@pytest.mark.parametrize(
    ("measured", "transfer", "reading"),
    [
        (10.2, {}, "none"),
        (15.0, {}, "unattributed"),
        (15.0, {"latency_s": 40e-6}, "latency"),
        (11.5, {"latency_s": 1e-6}, "bandwidth"),
        (30.0, {"latency_s": 1e-6}, "overhead"),
    ],
)
def test_what_dividing_the_work_costs(
    measured: float, transfer: dict[str, Any], reading: str
) -> None:
    """Two cards should take 10 ms; the bytes take 1 ms at the link's bandwidth."""
    r = split(measured, **transfer)
    assert r.reading == reading
    assert r.value == pytest.approx(measured - 10)


def test_replicas_divide_no_work() -> None:
    seen = Observations(scaled=[Scaled(name="x", n=8, single=5, measured=35, unit="requests/s")])
    v = verdicts(spec(), seen)
    assert result(v, "split-cost").state == "not-applicable"
    assert result(v, "parallel-efficiency").value == pytest.approx(0.875)


@pytest.mark.parametrize(("gain", "reading"), [(1.2, "bounded"), (1.9, "above")])
def test_a_cache_saves_at_most_what_prompts_take(gain: float, reading: str) -> None:
    """Half the time are prompts, 80 % of which hit: 1 / (1 - 0.4) = 1.67 at most."""
    seen = Observations(caching=[Caching(hit_rate=0.8, gain=gain, prefill_share=0.5)])
    assert result(verdicts(spec(), seen), "cache-gain").reading == reading


def test_a_clock_that_rises_in_the_window_stood_idle_before() -> None:
    values: list[float | None] = [600.0, 700.0, *[1400.0] * 18]
    series = [Series(counter="clocks_sm", unit="MHz", arm="main", device="gpu0", values=values)]
    assert result(
        verdicts(spec(hardware=CARD), Observations(series=series)), "thermal"
    ).reading == ("ramping")


def test_a_reason_without_a_clock_is_enough() -> None:
    for name, reading in (
        ("throttle_power_cap", "power-capped"),
        ("throttle_thermal", "throttled"),
    ):
        seen = Observations(series=[counter(name, 80)])
        assert result(verdicts(spec(hardware=CARD), seen), "thermal").reading == reading


def test_two_clients_of_one_server() -> None:
    arms = {a: ArmObservation(identity={"client": a}) for a in ("a", "b")}
    steps = [
        Step(arm="a", concurrency=4, aggregate_tok_s=44),
        Step(arm="b", concurrency=4, aggregate_tok_s=486),
    ]
    seen = Observations(arms=arms, steps=steps)
    r = result(verdicts(spec(arms=[{"id": "a"}, {"id": "b"}]), seen), "client")
    assert (r.arm, r.reading) == ("a", "client-limited")
    assert r.value == pytest.approx(486 / 44)


def test_answers_of_other_lengths_are_another_workload() -> None:
    steps = [Step(arm=a, concurrency=1, tokens_per_request=n) for a, n in (("a", 947), ("b", 1000))]
    r = result(verdicts(spec(arms=TWO), Observations(steps=steps)), "identity")
    assert r.reading == "not-comparable"
    assert "1000 and 947 tokens per answer" in (r.arithmetic or "")
