"""bandwidth-ceiling, compute-ceiling, context-slope, parallel-efficiency: against what is possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from benchspec.judge.geometry import expert_union
from benchspec.judge.result import CheckResult
from benchspec.observations.model import ArmObservation, Scaled, Series, Step
from benchspec.observations.node import Bounds
from benchspec.spec.models import Experts
from tests.judge.published import SPARSE, three_cards
from tests.judge.world import hypothesis, result, seen, spec, verdicts

DENSE = {"name": "27B", "bytes_per_token": "17 GB"}


def card(**rest: Any) -> dict[str, Any]:
    return {
        "devices": [
            {"id": "gpu0", "name": "V100", "memory_bandwidth": "1004 GB/s", "source": "measured"}
            | rest
        ]
    }


def ceiling(
    model: dict[str, Any], hardware: dict[str, Any], rate: float | None = None, **step: Any
) -> CheckResult:
    one = Step(arm="main", concurrency=step.pop("concurrency", 1), decode_tok_s=rate, **step)
    v = verdicts(spec(model=model, hardware=hardware), seen(one, origin="audit"))
    return result(v, "bandwidth-ceiling", arm="main")


# -- bandwidth


def test_a_layer_split_is_not_divided_by_its_cards() -> None:
    r = result(verdicts(*three_cards()), "bandwidth-ceiling", concurrency=1)
    assert r.reading == "fraction"
    assert r.value == pytest.approx(0.106, abs=0.0005)
    assert "6.772 GB per pass" in (r.arithmetic or "")
    assert "229.6 tok/s" in (r.arithmetic or "")
    assert "read at 165.2 GB/s" in (r.arithmetic or "")
    assert r.remainder == pytest.approx(0.894, abs=0.0005)


def test_a_tensor_split_reads_together() -> None:
    study, observed = three_cards(engine={"kind": "llama.cpp", "flags": {"split-mode": "tensor"}})
    r = result(verdicts(study, observed), "bandwidth-ceiling", concurrency=1)
    assert r.value == pytest.approx(0.106 * 0.34, abs=0.0005)


def test_memory_of_two_speeds_adds_up() -> None:
    mixed = {
        "devices": [
            {"id": "gpu0", "memory_bandwidth": "1000 GB/s", "share": 0.5},
            {"id": "cpu0", "kind": "cpu", "memory_bandwidth": "50 GB/s", "share": 0.5},
        ]
    }
    r = ceiling({"bytes_per_token": "10 GB"}, mixed, 5.0)
    assert r.value == pytest.approx(5.0 * (5 / 1000 + 5 / 50))


def test_without_speculation_a_pass_is_a_token() -> None:
    r = ceiling(DENSE, card(), 35.4)
    assert "= 59.06 tok/s" in (r.arithmetic or "")


def test_the_cache_of_a_long_context_counts() -> None:
    r = ceiling(DENSE | {"kv_size": "7 GB"}, card(), 35.4, context_tokens=150_000)
    assert "17 GB + 1 x 7 GB of KV at 150000 tokens = 24 GB per pass" in (r.arithmetic or "")
    assert "= 41.83 tok/s" in (r.arithmetic or "")


def test_above_the_ceiling_an_input_is_wrong() -> None:
    r = ceiling(DENSE, card(), 79.0)
    assert r.reading == "impossible"
    assert r.remainder is None


def test_under_speculation_the_ceiling_is_per_pass() -> None:
    r = ceiling(DENSE, card(), 79.0, acceptance=0.77, drafts=3)
    assert r.reading == "fraction"
    assert r.value == pytest.approx(0.40, abs=0.005)


def test_drafting_with_unknown_acceptance_is_silent() -> None:
    r = ceiling(DENSE, card(), 79.0, drafts=3)
    assert r.state == "insufficient"


def test_a_probe_above_the_datasheet_is_another_card() -> None:
    hardware = card(datasheet_bandwidth="900 GB/s", memory_clock="1107 MHz", memory_bus_bits=4096)
    v = verdicts(spec(model=DENSE, hardware=hardware), seen(Step(arm="main", concurrency=1)))
    r = result(v, "bandwidth-ceiling", device="gpu0")
    assert (r.reading, r.arm) == ("impossible", None)
    assert r.value == pytest.approx(1.116, abs=0.0005)
    assert "1107 MHz x 2 x 4096 bit / 8 = 1133.6 GB/s" in (r.arithmetic or "")


# -- bandwidth that a run found, where the spec states none


def found(
    identity: dict[str, Any],
    devices: Sequence[dict[str, Any]] = ({"id": "gpu0"},),
    model: Mapping[str, Any] = DENSE,
    **arm: Any,
) -> list[CheckResult]:
    """The results for one stream at 10 tok/s, of a run in which `identity` was found."""
    seen_ = ArmObservation(identity=identity, **arm)
    step = Step(arm="main", concurrency=1, decode_tok_s=10.0)
    observed = seen(step).model_copy(update={"arms": {"main": seen_}})
    checks = verdicts(spec(model=model, hardware={"devices": list(devices)}), observed).checks
    return [one for one in checks if one.check == "bandwidth-ceiling"]


PROBED = {"gpu0.probed_read_gb_s": 850.0, "gpu0.bandwidth_gb_s": 1000.0}


@pytest.mark.parametrize(
    ("identity", "device", "speed", "provenance"),
    [
        (PROBED, {}, 850, "measured"),
        ({"gpu0.bandwidth_gb_s": 1000.0, "gpu0.datasheet_gb_s": 1008.0}, {}, 1000, "derived"),
        ({"gpu0.datasheet_gb_s": 1008.0}, {}, 1008, "datasheet"),
        (PROBED, {"memory_bandwidth": "900 GB/s", "source": "measured"}, 900, "measured"),
        (PROBED, {"memory_bandwidth": "900 GB/s"}, 900, "declared"),
        (PROBED, {"memory_bandwidth": "900 GB/s", "source": "datasheet"}, 850, "measured"),
    ],
)
def test_what_is_known_best_of_a_device_is_divided_by(
    identity: dict[str, Any], device: dict[str, Any], speed: int, provenance: str
) -> None:
    (r,) = found(identity, [{"id": "gpu0", **device}])
    assert r.value == pytest.approx(10 * 17 / speed)
    (read,) = [one for one in r.inputs if one.name == "bandwidth"]
    assert (read.value, read.provenance) == (speed * 1e9, provenance)


@pytest.mark.parametrize(("more", "transfers"), [({}, 2), ({"gpu0.memory_transfers": 16}, 16)])
def test_the_formula_has_the_drivers_count_of_transfers(
    more: dict[str, Any], transfers: int
) -> None:
    (r,) = found({"gpu0.bandwidth_gb_s": 959.2, **more})
    (read,) = [one for one in r.inputs if one.name == "bandwidth"]
    assert read.source == f"gpu0: memory clock x {transfers} x bus width / 8"


def test_a_probe_is_as_wide_as_its_repeats() -> None:
    (r,) = found({**PROBED, "gpu0.probed_read_median_gb_s": 800.0})
    assert isinstance(r.value, Bounds)
    assert (r.value.low, r.value.high) == pytest.approx((10 * 17 / 850, 10 * 17 / 800))


@pytest.mark.parametrize(("mib", "reading"), [(1024, "at-least"), (32_768, "fraction")])
def test_a_probe_that_still_fell_is_no_floor(mib: int, reading: str) -> None:
    probed = {**PROBED, "gpu0.probed_buffer_mib": mib, "gpu0.probed_still_falls": "yes"}
    model = DENSE | {"resident": "17 GB"}
    assert [r.reading for r in found(probed, model=model)] == [reading]
    settled = {name: value for name, value in probed.items() if "falls" not in name}
    assert [r.reading for r in found(settled, model=model)] == ["fraction"]


@pytest.mark.parametrize("lacks", ["resident", "buffer"])
def test_a_probe_that_still_fell_is_no_floor_for_an_unknown_size(lacks: str) -> None:
    probed = {**PROBED, "gpu0.probed_still_falls": "yes"}
    buffer = {"gpu0.probed_buffer_mib": 1024} if lacks == "resident" else {}
    model = DENSE if lacks == "resident" else DENSE | {"resident": "17 GB"}
    (r,) = found({**probed, **buffer}, model=model)
    assert (r.reading, r.quotable, r.remainder) == ("at-least", "bound", None)


CURVE = {
    "gpu0.probed_read_gb_s": 20.0,
    "gpu0.probed_buffer_mib": 1024,
    "gpu0.probed_curve": "8 MiB: 60..61 GB/s, 128 MiB: 40..41 GB/s, nonsense, 1024 MiB: 19..20 GB/s",
}


@pytest.mark.parametrize(
    ("resident", "low", "high"),
    [("90 MB", 40, 41), ("5 MiB", 60, 61), ("1 GiB", 19, 20), ("4 GiB", 20, 20), (None, 20, 20)],
)
def test_a_probe_counts_at_the_buffer_that_holds_the_model(
    resident: str | None, low: int, high: int
) -> None:
    (r,) = found(CURVE, model={"bytes_per_token": "0.1 GB", "resident": resident})
    (read,) = [one for one in r.inputs if one.name == "bandwidth"]
    value = (
        read.value if isinstance(read.value, Bounds) else Bounds(low=read.value, high=read.value)
    )
    assert (value.low, value.high) == (low * 1e9, high * 1e9)
    assert r.reading == "fraction"


def test_of_another_device_nothing_is_known() -> None:
    assert found({"gpu1.probed_read_gb_s": 850.0}) == []


def test_a_processor_beside_a_card_need_not_hold_a_part_of_the_model() -> None:
    both = {"gpu0.probed_read_gb_s": 850.0, "cpu0.probed_read_gb_s": 50.0}
    devices = [{"id": "gpu0"}, {"id": "cpu0", "kind": "cpu"}]
    assert found(both, devices) == []
    halves = [{**device, "share": 0.5} for device in devices]
    (r,) = found(both, halves)
    assert r.value == pytest.approx(10 * 8.5 * (1 / 850 + 1 / 50))


def test_what_was_loaded_is_what_is_read() -> None:
    (r,) = found(PROBED, model={"name": "27B"}, model_bytes=17e9)
    assert r.value == pytest.approx(10 * 17 / 850)
    (read,) = [one for one in r.inputs if one.name == "weights per pass"]
    assert (read.provenance, read.source) == ("bound", "all that was loaded")
    assert (r.reading, r.quotable) == ("fraction", "bound")
    assert any("all that was loaded" in caveat for caveat in r.caveats)
    assert found(PROBED, model={"name": "27B"}) == []


def test_what_was_loaded_is_an_upper_bound_of_what_is_read() -> None:
    """Of a model with an embedding per layer much is looked up and little read."""
    (r,) = found(PROBED, model={"name": "E4B"}, model_bytes=100e9)
    assert (r.reading, r.quotable, r.remainder) == ("fraction", "bound", None)
    assert r.value == pytest.approx(10 * 100 / 850)
    assert "at most 118 %" in (r.arithmetic or "")
    assert any("less than all that was loaded" in caveat for caveat in r.caveats)
    assert not any("speculation" in caveat for caveat in r.caveats)


@pytest.mark.parametrize(
    ("place", "kind", "known"),
    [
        ("cards", "gpu", True),
        ("host", "gpu", False),
        ("cards", "cpu", False),
        ("host", "cpu", True),
        (None, "gpu", True),
    ],
)
def test_what_lies_elsewhere_is_not_divided_by_a_device(
    place: str | None, kind: str, known: bool
) -> None:
    device = {"id": "gpu0", "kind": kind}
    results = found(PROBED, [device], {"name": "70B"}, model_bytes=40e9, loaded_on=place)
    assert bool(results) == known


LONG_CONTEXT = {"label": {"context_tokens": 150_000}}


def long(model: Mapping[str, Any] = DENSE, concurrency: int = 1, **arm: Any) -> CheckResult:
    """One stream at 10 tok/s with 150 000 tokens of context, on a card of 1000 GB/s."""
    step = Step(arm="main", concurrency=concurrency, decode_tok_s=10.0)
    arms = {"main": ArmObservation(identity={"gpu0.bandwidth_gb_s": 1000.0}, **arm)}
    observed = seen(step).model_copy(update={"arms": arms})
    study = spec(model=model, hardware={"devices": [{"id": "gpu0"}]}, workload=LONG_CONTEXT)
    return result(verdicts(study, observed), "bandwidth-ceiling", arm="main")


def test_a_cache_of_unknown_size_leaves_at_least() -> None:
    r = long()
    assert (r.reading, r.quotable, r.remainder) == ("at-least", "bound", None)
    assert "at least 17 %" in (r.arithmetic or "")
    assert "not reading" not in (r.arithmetic or "")
    assert any("KV cache not counted: what 150000 tokens" in caveat for caveat in r.caveats)
    assert long(model={"name": "27B"}, model_bytes=17e9).quotable == "order-of-magnitude"


def test_a_cache_that_was_allocated_is_read_as_far_as_the_context_fills_it() -> None:
    r = long(kv_bytes=14e9, kv_tokens=300_000)
    assert "17 GB + 1 x 7 GB of KV at 150000 tokens = 24 GB per pass" in (r.arithmetic or "")
    assert r.reading == "fraction"
    assert r.value == pytest.approx(0.24)
    (kv,) = [one for one in r.inputs if one.name == "KV per stream"]
    assert (kv.provenance, kv.source) == ("derived", "14 GB allocated for 300000 tokens")
    assert long(kv_bytes=14e9, slots=2, context_per_slot=150_000).value == pytest.approx(0.24)


def test_a_probe_above_the_stated_datasheet_is_another_card() -> None:
    fast = {"gpu0.probed_read_gb_s": 1004.0}
    stated = {"id": "gpu0", "name": "V100", "memory_bandwidth": "900 GB/s", "source": "datasheet"}
    card_, step = found(fast, [stated])
    assert (card_.arm, card_.at, card_.reading) == (None, {"device": "gpu0"}, "impossible")
    assert card_.value == pytest.approx(1.116, abs=0.0005)
    assert step.value == pytest.approx(10 * 17 / 1004)
    assert any("not the card of that name" in caveat for caveat in step.caveats)
    assert len(found({**fast, "gpu0.datasheet_gb_s": 900.0})) == 2
    assert len(found({**fast, "gpu0.datasheet_gb_s": 1000.0})) == 1, "within 2 %"


@pytest.mark.parametrize(
    ("mhz", "phase", "told"),
    [(800, "decode", True), (800, None, True), (800, "prefill", False), (1590, "decode", False)],
)
def test_a_clock_below_the_one_that_bandwidth_is_derived_from_is_told(
    mhz: int, phase: Any, told: bool
) -> None:
    clock = Series(
        counter="clocks_memory",
        unit="MHz",
        arm="main",
        device="gpu0",
        concurrency=1,
        phase=phase,
        values=[mhz] * 9,
    )
    identity = {"gpu0.bandwidth_gb_s": 1000.0, "gpu0.memory_clock_mhz": 1600}
    step = Step(arm="main", concurrency=1, decode_tok_s=10.0)
    arms = {"main": ArmObservation(identity=identity)}
    study = spec(model=DENSE, hardware={"devices": [{"id": "gpu0"}]})
    r = result(verdicts(study, seen(step, series=[clock], arms=arms)), "bandwidth-ceiling")
    said = "derived from 1600 MHz, and its memory ran at 800 MHz: at that clock it is 500 GB/s"
    assert any(said in caveat for caveat in r.caveats) == told


LAPTOP = {
    "devices": [
        {
            "id": "soc",
            "name": "M1 Max",
            "memory_bandwidth": "265..315 GB/s",
            "source": "measured",
            "bandwidth_curve": {"4 GiB": "366 GB/s", "8 GiB": "316 GB/s", "16 GiB": "267 GB/s"},
        }
    ]
}
MOE = {"bytes_per_token": "1.849 GB", "resident": "21 GiB"}


def test_no_buffer_as_large_as_the_model_gives_at_least() -> None:
    r = ceiling(MOE, LAPTOP, 97.83)
    assert (r.reading, r.quotable) == ("at-least", "bound")
    assert isinstance(r.value, Bounds)
    assert r.value.low == pytest.approx(0.574, abs=0.0005)
    assert r.value.high == pytest.approx(0.683, abs=0.0005)


def test_a_curve_gives_the_buffer_that_holds_the_model() -> None:
    device = LAPTOP["devices"][0] | {"memory_bandwidth": "400 GB/s", "source": "datasheet"}
    small = ceiling(MOE | {"resident": "6 GiB"}, {"devices": [device]}, 97.83)
    assert small.value == pytest.approx(97.83 * 1.849 / 316)
    assert small.reading == "fraction"
    large = ceiling(MOE, {"devices": [device]}, 97.83)
    assert large.value == pytest.approx(97.83 * 1.849 / 267)
    assert large.reading == "at-least"


def test_the_gate_on_an_interval_needs_all_of_it() -> None:
    def gate(threshold: float) -> str:
        h = hypothesis(
            test={"check": "bandwidth-ceiling", "relation": ">", "value": threshold},
            gate={"then": "stop", "cost": "six to eight weeks"},
        )
        one = Step(arm="main", concurrency=1, decode_tok_s=97.83)
        study = spec(model=MOE, hardware=LAPTOP, hypotheses=[h])
        v = verdicts(study, seen(one, origin="audit"))
        return result(v, "gate", hypothesis="H1").reading or ""

    assert [gate(t) for t in (0.55, 0.6)] == ["triggered", "undecided"]
    assert gate(0.7) == "undecided", "at least 0.57..0.68: the buffer was smaller than the model"


@pytest.mark.parametrize(
    ("relation", "value", "verdict"),
    [(">=", 0.3, "supported"), (">=", 0.9, "inconclusive"), ("<=", 0.9, "inconclusive"),
     ("<=", 0.3, "refuted")],
)  # fmt: skip
def test_a_bound_decides_on_its_own_side_only(relation: str, value: float, verdict: str) -> None:
    """0.57..0.68 is what is reached at least: that it is at most 0.9 nobody has shown."""
    h = hypothesis(test={"check": "bandwidth-ceiling", "relation": relation, "value": value})
    steps = [Step(arm="main", concurrency=1, decode_tok_s=97.83, repeat=r) for r in (1, 2, 3)]
    study = spec(model=MOE, hardware=LAPTOP, hypotheses=[h])
    (found,) = verdicts(study, seen(*steps, origin="audit")).hypotheses
    assert found.verdict == verdict
    assert ("only known as at least" in str(found.reason)) is (verdict == "inconclusive")


def test_a_target_is_a_fraction_too() -> None:
    r = ceiling(MOE, LAPTOP, 125.0)
    assert isinstance(r.value, Bounds)
    assert r.value.low == pytest.approx(0.73, abs=0.005)
    assert r.value.high == pytest.approx(0.87, abs=0.005)


def test_streams_share_the_union_of_their_experts() -> None:
    experts = Experts(count=288, used=8)
    unions = [expert_union(experts, streams) for streams in (1, 2, 4)]
    assert unions == pytest.approx([8, 15.8, 30.7], abs=0.05)
    assert [u / 8 for u in unions] == pytest.approx([1, 1.97, 3.84], abs=0.01)
    study, observed = three_cards()
    r = result(verdicts(study, observed), "bandwidth-ceiling", concurrency=4)
    assert isinstance(r.value, Bounds)
    assert r.value.high / r.value.low == pytest.approx(3.84, abs=0.01)
    known = SPARSE | {"experts": {"count": 288, "used": 8, "bytes_share": 0.9}}
    study = spec(hardware={"devices": [{"id": "g", "memory_bandwidth": "1555 GB/s"}]}, model=known)
    r = result(verdicts(study, observed), "bandwidth-ceiling", concurrency=4)
    assert r.value == pytest.approx(13.37 * 6.7725e9 * (0.1 + 0.9 * 3.837) / 1555e9, rel=1e-3)


# -- compute

LONG = {
    "parameters": {"total": 27e9},
    "attention_layers": 16,
    "heads": 24,
    "head_size": 256,
}


def compute(model: dict[str, Any], **step: Any) -> CheckResult:
    hardware = {"devices": [{"id": "gpu0", "compute": "101.7 TFLOP/s"}]}
    one = Step(arm="main", concurrency=1, **step)
    return result(
        verdicts(spec(model=model, hardware=hardware), seen(one, origin="audit")), "compute-ceiling"
    )


def test_attention_is_two_fifths_of_a_long_prefill() -> None:
    r = compute(LONG, context_tokens=186_000, ttft_ms=379_000)
    assert r.reading == "fraction"
    assert "44.4" in (r.arithmetic or "")
    assert "(linear part 26.5" in (r.arithmetic or "")
    assert r.value == pytest.approx(44.4 / 101.7, abs=0.001)


def test_without_geometry_it_is_at_least_the_linear_part() -> None:
    r = compute({"parameters": {"total": 27e9}}, context_tokens=186_000, ttft_ms=379_000)
    assert (r.reading, r.quotable) == ("at-least", "bound")
    assert r.value == pytest.approx(26.5 / 101.7, abs=0.001)


# -- context


def slope(points: dict[int, float]) -> CheckResult:
    steps = [
        Step(arm="main", concurrency=1, context_tokens=c, round_ms=ms) for c, ms in points.items()
    ]
    return result(verdicts(spec(), seen(*steps, origin="audit")), "context-slope")


def test_the_intercept_is_the_weights_and_the_slope_the_cache() -> None:
    r = slope({8_000: 24, 128_000: 29.3, 256_000: 35})
    assert r.reading == "fit"
    assert r.value == pytest.approx(0.0443, abs=0.0005)
    assert "23.6" in (r.arithmetic or "")


def test_a_time_that_falls_with_context_is_odd() -> None:
    assert slope({8_000: 30, 128_000: 20}).reading == "odd"
    assert slope({8_000: 24, 128_000: 60, 256_000: 35}).reading == "odd"


# -- several devices


@pytest.mark.parametrize(
    ("scaled", "share"),
    [
        (Scaled(name="decode", n=2, single=35.4, measured=49.4), 0.698),
        (Scaled(name="matmul", n=2, single=34.6, measured=25.3, unit="ms"), 0.684),
    ],
)
def test_two_cards_give_seventy_percent_of_two(scaled: Scaled, share: float) -> None:
    r = result(verdicts(spec(), seen(scaled=[scaled])), "parallel-efficiency")
    assert r.reading == "fraction"
    assert r.value == pytest.approx(share, abs=0.0005)


def test_more_than_n_times_one_is_not_the_same_thing() -> None:
    scaled = Scaled(name="x", n=2, single=10, measured=30)
    r = result(verdicts(spec(), seen(scaled=[scaled])), "parallel-efficiency")
    assert r.reading == "impossible"
