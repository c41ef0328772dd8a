"""turn-taking, sampling, burst, thermal: what counters over time can and cannot show."""

from __future__ import annotations

from typing import Any

import pytest

from benchspec.judge.result import CheckResult
from benchspec.observations.model import ArmObservation, Series, Step
from tests.judge.published import CARDS, PAIR, all_reduce, three_cards
from tests.judge.world import result, seen, spec, verdicts

SECONDS = [13, 13, 12, 11, 13, 15, 13, 0, 1111, 10, 0, 70]
"""Received MB/s of a layer split in prefill, one reading a second over thirteen seconds."""


def used(*means: float, n: int = 18, **rest: Any) -> list[Series]:
    return [
        Series(
            counter="utilization",
            unit="%",
            arm="main",
            device=f"gpu{i}",
            phase="decode",
            mean=mean,
            counts=[n],
            **rest,
        )
        for i, mean in enumerate(means)
    ]


def turns(*means: float, split: str | None = None, n: int = 18, **rest: Any) -> CheckResult:
    engine: dict[str, Any] = {"kind": "llama.cpp"}
    if split:
        engine["flags"] = {"split-mode": split}
    devices = CARDS[: len(means)]
    study = spec(**{"hardware": {"devices": devices}, "engine": engine} | rest)
    return result(verdicts(study, seen(series=used(*means, n=n))), "turn-taking")


# -- turn-taking


def test_three_cards_at_33_percent_take_turns() -> None:
    r = result(verdicts(*three_cards()), "turn-taking")
    assert r.reading == "taking-turns"
    assert r.value == pytest.approx(99.1)
    assert "33.2 + 34.6 + 31.3 = 99.1 %" in (r.arithmetic or "")
    assert "shares 33 / 33 / 34 %: each as its share, at most 2.7 points off" in (
        r.arithmetic or ""
    )
    assert "says nothing about headroom" in r.caveats[0]


@pytest.mark.parametrize(
    ("means", "reading"),
    [
        ((20, 20, 20), "idle-together"),
        ((45, 45, 45), "partial"),
        ((90, 90, 90), "concurrent"),
    ],
)
def test_other_sums(means: tuple[float, ...], reading: str) -> None:
    assert turns(*means).reading == reading


def test_an_unknown_split_is_only_consistent_with_turns() -> None:
    r = turns(33, 34, 33, engine={"kind": "vllm"})
    assert r.reading == "consistent-with"
    assert any("uneven" in c for c in r.caveats)


def test_a_tensor_split_waits_busily() -> None:
    assert turns(50, 50, split="tensor").state == "not-applicable"


def test_few_windows_say_nothing() -> None:
    r = turns(33, 34, 33, n=9)
    assert (r.state, r.reading) == ("insufficient", None)


# -- sampling


def test_a_second_cannot_show_turns_of_thirteen_milliseconds() -> None:
    r = result(verdicts(*three_cards()), "sampling", question="shape")
    assert r.reading == "blind"
    assert r.value == pytest.approx(6.53, abs=0.005)
    assert "25.5 rotations per sample" in (r.arithmetic or "")


@pytest.mark.parametrize(
    ("place", "reading", "quotable"),
    [
        (("C", "prefill", "gpu0"), "adequate", "yes"),
        (("C", "prefill", "gpu1"), "adequate", "yes"),
        (("C", "decode", "gpu0"), "order-of-magnitude", "no"),
        (("B", "decode", "gpu0"), "order-of-magnitude", "order-of-magnitude"),
        (("B", "prefill", "gpu0"), "order-of-magnitude", "no"),
        (("C2", "prefill", "gpu0"), "order-of-magnitude", "order-of-magnitude"),
        (("C2", "prefill", "gpu1"), "order-of-magnitude", "order-of-magnitude"),
    ],
)
def test_samples_and_spread_decide_what_may_be_quoted(
    place: tuple[str, str, str], reading: str, quotable: str
) -> None:
    arm, phase, device = place
    r = result(
        verdicts(*all_reduce()), "sampling", arm=arm, phase=phase, device=device, counter="pcie-rx"
    )
    assert (r.reading, r.quotable) == (reading, quotable)


def bursts(**rest: Any) -> Series:
    base: dict[str, Any] = {
        "counter": "pcie_rx",
        "unit": "MB/s",
        "arm": "main",
        "device": "gpu0",
        "phase": "prefill",
        "values": SECONDS,
        "interval_s": 1.0,
        "window_s": 0.02,
        "duration_s": 13,
    }
    return Series(**base | rest)


def test_one_burst_in_twelve_looks_leaves_the_mean_open() -> None:
    r = result(verdicts(spec(), seen(series=[bursts()])), "sampling")
    assert r.reading == "order-of-magnitude"
    assert "standard error / mean = 91.44 / 106.8 = 86 %" in (r.arithmetic or "")
    assert r.value == pytest.approx(0.86, abs=0.005)
    assert "12 samples over 13 intervals: 1 missing" in r.caveats


@pytest.mark.parametrize(
    ("window_s", "interval_s", "said"),
    [
        (0.02, 0.2, "sampled: 20 ms every 200 ms"),
        (0.02, 1.0, "sampled: 20 ms every 1 s"),
        (0.25, 1.5, "sampled: 250 ms every 1.5 s"),
        (1.0, 1.002, None),
        (1.0, 0.2, None),
        (None, 0.2, None),
        (0.02, None, None),
    ],
)
def test_a_window_with_gaps_is_marked_wherever_it_counts(
    window_s: float | None, interval_s: float | None, said: str | None
) -> None:
    links = [{"between": ["gpu0", "gpu1"], "kind": "pcie", "bandwidth": "16 GB/s"}]
    devices = [{"id": "gpu0", "kind": "gpu"}, {"id": "gpu1", "kind": "gpu"}]
    study = spec(hardware={"devices": devices, "links": links})
    series = bursts(window_s=window_s, interval_s=interval_s, duration_s=None)
    found = verdicts(study, seen(series=[series]))
    for check in ("sampling", "link-load", "burst"):
        r = result(found, check)
        assert r.state == "judged", r.reason
        sources = " ".join(i.source or "" for i in r.inputs)
        if check != "burst":
            assert ("sampled" in (r.arithmetic or "")) is (said is not None)
            assert (said or "") in (r.arithmetic or "")
        assert ("sampled" in sources) is (said is not None)
        assert (said or "") in sources


def test_fewer_than_four_samples_are_none() -> None:
    r = result(verdicts(spec(), seen(series=[bursts(values=[1, 2, 3])])), "sampling")
    assert r.state == "insufficient"


# -- burst


def test_a_median_hides_a_burst() -> None:
    r = result(verdicts(spec(), seen(series=[bursts()])), "burst")
    assert r.reading == "bursty"
    assert r.value == pytest.approx(10.4, abs=0.05)
    assert [i.value for i in r.inputs] == [106.75, 13]


def test_steady_traffic_is_steady() -> None:
    r = result(verdicts(spec(), seen(series=[bursts(values=[10, 11, 12, 11, 10])])), "burst")
    assert r.reading == "steady"


def test_no_traffic_at_all_is_no_shape() -> None:
    r = result(verdicts(spec(), seen(series=[bursts(values=[0, 0, 0, 0])])), "burst")
    assert r.state == "insufficient"


# -- thermal


def clocks(device: str, *values: float) -> Series:
    return Series(counter="clocks_sm", unit="MHz", arm="main", device=device, values=list(values))


def test_the_hot_card_sets_the_pace() -> None:
    series = [clocks("gpu0", *[1400] * 20), clocks("gpu1", *[1400] * 2, *[1270, 1000] * 9)]
    v = verdicts(spec(hardware=PAIR), seen(series=series))
    assert result(v, "thermal", device="gpu0").reading == "steady"
    hot = result(v, "thermal", device="gpu1")
    assert hot.reading == "throttled"
    assert hot.value == pytest.approx(1135 / 1400, abs=0.005)
    assert "slowest device" in hot.caveats[0]


@pytest.mark.parametrize(
    ("counter", "unit", "value", "reading"),
    [
        ("throttle", "bits", 0x4, "power-capped"),
        ("throttle", "bits", 0x24, "throttled"),
        ("throttle", "bits", 0x1, "steady"),
        ("throttle_power_cap", "%", 40, "power-capped"),
        ("throttle_thermal", "%", 40, "throttled"),
        ("throttle_thermal", "%", 0, "steady"),
    ],
)
def test_a_power_cap_is_not_heat(counter: str, unit: str, value: float, reading: str) -> None:
    reason = Series(counter=counter, unit=unit, arm="main", device="gpu0", values=[0, value, value])
    v = verdicts(spec(hardware=PAIR), seen(series=[clocks("gpu0", *[1400] * 20), reason]))
    assert result(v, "thermal").reading == reading


@pytest.mark.parametrize(
    ("most", "said"),
    [
        (
            1597,
            "the memory does not keep its clock (800 of at most 1597 MHz), which bounds decoding",
        ),
        (801, "the memory keeps its clock (800 of at most 801 MHz), which bounds decoding"),
        (None, "the memory keeps its clock (800 MHz), which bounds decoding"),
    ],
)
def test_the_memory_keeps_up_with_what_it_can_do(most: int | None, said: str) -> None:
    identity = {"gpu0.memory_clock_mhz": most, "gpu0.clocks_sm_max_mhz": 1750}
    memory = Series(
        counter="clocks_memory", unit="MHz", arm="main", device="gpu0", values=[800] * 9
    )
    observed = seen(
        series=[clocks("gpu0", *[1400] * 20), memory],
        arms={"main": ArmObservation(identity=identity)},
    )
    r = result(verdicts(spec(hardware=PAIR), observed), "thermal")
    assert (r.reading, r.value) == ("steady", 1.0)
    assert said in r.caveats
    assert "/ at most 1750 MHz = 0.8" in (r.arithmetic or "")


def test_the_cold_job_is_shown_beside_the_steady_ones() -> None:
    """The published clips: 53.28 s on cold cards, 56 to 57 s after twelve of them."""
    seconds = [53.28, 54.5, 55.2, 55.8, 56.0, 56.2, 56.5, 56.8, 57.0]
    jobs = [Step(arm="main", repeat=i, wall_s=s) for i, s in enumerate(seconds, 1)]
    r = result(verdicts(spec(), seen(*jobs)), "thermal")
    assert r.reading == "not-steady"
    assert "9 jobs, the first 53.28 s; last third 56.8 s / first third 54.5 s" in (
        r.arithmetic or ""
    )
    assert r.caveats == ["quote both: 53.28 s cold, 56.8 s later"]
    same = [Step(arm="main", repeat=i, wall_s=56.0) for i in range(1, 10)]
    assert result(verdicts(spec(), seen(*same)), "thermal").caveats == []


def test_jobs_that_get_slower_are_not_steady() -> None:
    seconds = [53.28, 53.5, 54.0, 55.0, 56.0, 56.2, 56.5, 57.0, 56.8]
    jobs = [Step(arm="main", repeat=i, wall_s=s) for i, s in enumerate(seconds, 1)]
    r = result(verdicts(spec(), seen(*jobs)), "thermal")
    assert r.reading == "not-steady"
    assert r.value == pytest.approx(56.8 / 53.5, abs=1e-6)
