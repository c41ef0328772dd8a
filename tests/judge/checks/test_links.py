"""link-probe, link-share, link-load, expected-traffic, traffic-symmetry, control: what a link costs."""

from __future__ import annotations

from typing import Any

import pytest

from benchspec.judge.result import CheckResult
from benchspec.observations.model import ArmObservation, LinkProbe, Series, Step, Transfer
from benchspec.observations.node import Bounds
from tests.judge.published import NARROW, all_reduce, three_cards
from tests.judge.world import hypothesis, result, seen, spec, verdicts

# -- link-probe


def probed(**figures: Any) -> CheckResult:
    probe = LinkProbe(name="a to b", **{"bytes": 4096} | figures)
    return result(verdicts(spec(), seen(origin="audit", link_probes=[probe])), "link-probe")


@pytest.mark.parametrize(
    ("direct_us", "host_us", "reading"),
    [
        (3.2, 16, "sound"),
        (16, 16, "sound"),
        (17, 16, "no-gain"),
        (80, 16, "no-gain"),
        (81, 16, "broken-direct"),
        (49_000, 16, "broken-direct"),
    ],
)
def test_the_direct_way_against_the_way_through_the_host(
    direct_us: float, host_us: float, reading: str
) -> None:
    r = probed(direct_s=direct_us * 1e-6, host_s=host_us * 1e-6)
    assert r.reading == reading
    assert r.value == pytest.approx(direct_us / host_us)
    assert r.at == {"link": "a to b", "size": "4 KiB"}


def test_what_waits_for_the_other_device_is_told_beside_the_ratio_and_alone() -> None:
    both = probed(direct_s=9e-6, direct_least_s=7.2e-6, host_s=16e-6)
    assert (both.reading, both.unit) == ("sound", "ratio")
    assert "median - least 1.8 us directly" in (both.arithmetic or "")
    alone = probed(direct_s=9e-6, direct_least_s=7.2e-6, crossings=134)
    assert (alone.reading, alone.unit) == ("waits", "us")
    assert alone.value == pytest.approx(1.8)
    assert "x 134 = 0.241 ms of a forward pass" in (alone.arithmetic or "")
    assert probed(host_s=16.5e-6, host_least_s=16e-6).reading == "even"


@pytest.mark.parametrize(
    ("figures", "missing"),
    [
        ({}, "the time of a message"),
        ({"direct_s": 9e-6}, "the time of the same message through the host's memory"),
        ({"host_s": 9e-6}, "the time of the same message directly"),
    ],
)
def test_one_figure_is_no_comparison(figures: dict[str, float], missing: str) -> None:
    r = probed(**figures)
    assert (r.state, r.missing) == ("insufficient", [missing])


@pytest.mark.parametrize(
    "figures",
    [
        {"direct_s": 0.0, "host_s": 1e-6},
        {"direct_s": -1e-6, "host_s": 1e-6},
        {"direct_s": 1e-6, "direct_least_s": 2e-6, "host_s": 1e-6},
        {"direct_s": 1e-6, "direct_least_s": 2e-6},
        {"direct_s": float("nan"), "host_s": 1e-6},
        {"direct_s": 1e-6, "host_s": 1e-6, "bytes": float("inf")},
    ],
)
def test_times_that_cannot_be_are_invalid(figures: dict[str, float]) -> None:
    assert probed(**figures).state == "invalid"


def share(**place: Any) -> CheckResult:
    return result(verdicts(*three_cards()), "link-share", **place)


# -- link-share


@pytest.mark.parametrize(("count", "at_most"), [(1, 0.0021), (4, 0.0044)])
def test_activations_are_a_sliver_of_a_decode_step(count: int, at_most: float) -> None:
    v = verdicts(*three_cards())
    r = next(r for r in v.checks if r.check == "link-share" and r.at == {"concurrency": count})
    assert (r.reading, r.quotable) == ("negligible", "bound")
    assert isinstance(r.value, float)
    assert at_most - 0.0001 < r.value < at_most
    assert "at most" in (r.arithmetic or "")
    assert "latency of a crossing was not measured" in r.caveats[0]


def test_in_prefill_a_crossing_takes_twenty_milliseconds() -> None:
    r = share(phase="prefill")
    assert r.state == "insufficient"
    assert "one crossing takes 20.6 ms" in (r.reason or "")
    study, observed = three_cards()
    steps = [s.model_copy(update={"prefill_tok_s": 4000.0}) for s in observed.steps]
    v = verdicts(study, observed.model_copy(update={"steps": steps}))
    r = result(v, "link-share", phase="prefill")
    assert r.reading == "material"
    assert r.value == pytest.approx(2 * 0.02062 / 0.128, rel=1e-3)


def test_the_saturated_link_is_refuted() -> None:
    h = hypothesis(test={"check": "link-share", "at": {"concurrency": 4}, "expect": "material"})
    v = verdicts(*three_cards(hypotheses=[h]))
    assert v.hypotheses[0].verdict == "refuted"


def test_a_transfer_that_an_a_b_test_showed_hidden() -> None:
    study, observed = three_cards()
    hidden = observed.transfers[0].model_copy(update={"hidden": True})
    v = verdicts(study, observed.model_copy(update={"transfers": [hidden]}))
    assert {r.reading for r in v.checks if r.check == "link-share" and r.reading} == {"hidden"}


def test_bytes_from_the_hidden_size_and_latency_when_known() -> None:
    step = Step(arm="main", concurrency=1, round_ms=10.0)
    study = spec(hardware=NARROW, model={"hidden_size": 8192})
    r = result(verdicts(study, seen(step)), "link-share")
    assert r.value == pytest.approx(2 * 16384 / 1.627e9 / 0.01)
    slow = Transfer(bytes_per_token=16384, crossings=2, latency_s=1e-3)
    r = result(verdicts(study, seen(step, transfers=[slow])), "link-share")
    assert r.reading == "material"
    assert r.caveats == []


def test_the_latency_of_the_slowest_link_counts_where_the_transfer_states_none() -> None:
    step = Step(arm="main", concurrency=1, round_ms=10.0)
    links = [
        {**link, "latency": f"{us} us"} for link, us in zip(NARROW["links"], (16, 40), strict=True)
    ]
    study = spec(hardware={**NARROW, "links": links}, model={"hidden_size": 8192})
    v = verdicts(study, seen(step))
    r = result(v, "link-share")
    assert r.value == pytest.approx(2 * (16384 / 1.627e9 + 40e-6) / 0.01)
    assert "+ 40 us" in (r.arithmetic or "")
    assert r.caveats == []
    assert result(v, "what-if", lever="link latency 0").value == pytest.approx(1 / 0.992)


# -- link-load


@pytest.mark.parametrize(
    ("phase", "counter", "percent"),
    [("decode", "pcie-rx", 0.6), ("prefill", "pcie-rx", 6.6), ("prefill", "pcie-tx", 8.0)],
)
def test_load_is_a_share_of_capacity(phase: str, counter: str, percent: float) -> None:
    r = result(verdicts(*all_reduce()), "link-load", arm="C", phase=phase, counter=counter)
    assert r.reading == "fraction"
    assert isinstance(r.value, float)
    assert 100 * r.value == pytest.approx(percent, abs=0.05)
    assert "no share of time" in r.caveats[0]


def test_the_gain_of_a_faster_link_is_bounded() -> None:
    v = verdicts(*all_reduce())
    prefill = result(v, "link-load", arm="C", phase="prefill", counter="pcie-rx")
    assert "14.6 % of the time at most" in (prefill.arithmetic or "")
    assert "at most 1.08 x" in (prefill.arithmetic or "")
    decode = result(v, "link-load", arm="C", phase="decode", counter="pcie-rx")
    assert "at most 1.01 x" in (decode.arithmetic or "")


def moved(counters: dict[str, list[float]], link: dict[str, Any] | None, **arm: Any) -> CheckResult:
    """The load of a card's link to the host by 1000 MB/s received, with other counters beside it."""
    place = {"arm": "main", "device": "gpu0", "phase": "prefill"}
    series = [
        Series(counter=name, unit="x", values=values, **place) for name, values in counters.items()
    ]
    series.append(Series(counter="pcie_rx", unit="MB/s", values=[1000.0] * 12, **place))
    hardware = {
        "devices": [{"id": "gpu0"}, {"id": "cpu0", "kind": "cpu"}],
        "links": [{"between": ["gpu0", "cpu0"], "kind": "pcie", **link}]
        if link is not None
        else [],
    }
    observed = seen(series=series, arms={"main": ArmObservation(**arm)})
    return result(verdicts(spec(hardware=hardware), observed), "link-load")


DROPPED = {"pcie_gen": [4, 4, 1, 4], "pcie_lanes": [8, 8, 8, 8]}


@pytest.mark.parametrize(
    ("counters", "link", "mb_s", "differs"),
    [
        ({}, {"gen": 4, "lanes": 16}, 31504, False),
        (DROPPED, {"gen": 4, "lanes": 16}, 2000, True),
        (DROPPED, {"bandwidth": "2000 MB/s"}, 2000, False),
        (DROPPED, None, 2000, False),
        ({"pcie_gen": [4, 4]}, {"gen": 4, "lanes": 16}, 31504, False),
        ({"pcie_gen": [9], "pcie_lanes": [16]}, {"gen": 4, "lanes": 16}, 31504, False),
    ],
)
def test_a_link_is_as_fast_as_it_was_sampled_to_be(
    counters: dict[str, list[float]], link: dict[str, Any] | None, mb_s: float, differs: bool
) -> None:
    r = moved(counters, link)
    assert r.value == pytest.approx(1000 / mb_s)
    assert any("what was sampled counts" in caveat for caveat in r.caveats) == differs


COPIED = {
    "gpu0.probed_from_host_gb_s": 12.0,
    "gpu0.probed_into_host_gb_s": 13.0,
    "cpu0.cores": 16,
}


def test_a_copy_that_was_probed_stands_for_a_link_of_which_nothing_is_stated() -> None:
    r = moved({}, {}, identity=COPIED)
    assert isinstance(r.value, Bounds)
    assert (r.value.low, r.value.high) == pytest.approx((1 / 13, 1 / 12))
    (capacity,) = [one for one in r.inputs if one.name == "capacity"]
    assert (capacity.provenance, capacity.source) == (
        "measured",
        "benchspec probe, copy gpu0 - cpu0",
    )
    assert moved({}, {}).state == "insufficient"
    assert moved({}, {}, identity={**COPIED, "cpu0.cores": None}).state == "insufficient"


def crossing(identity: dict[str, Any], links: list[dict[str, Any]]) -> float:
    """GB/s that a crossing between two cards is divided by."""
    step = Step(arm="main", concurrency=1, round_ms=10.0)
    observed = seen(step, arms={"main": ArmObservation(identity=identity)})
    hardware = {"devices": [{"id": "gpu0"}, {"id": "gpu1"}], "links": links}
    v = verdicts(spec(hardware=hardware, model={"hidden_size": 8192}), observed)
    (link,) = [i for i in result(v, "link-share").inputs if i.name == "link"]
    assert isinstance(link.value, float)
    return link.value / 1e9


def test_a_copy_between_cards_that_was_probed_goes_before_the_standard() -> None:
    link = {"between": ["gpu0", "gpu1"], "gen": 3, "lanes": 16}
    both = {"gpu0.probed_between_cards_gb_s": 11.0, "gpu1.probed_between_cards_gb_s": 10.0}
    assert crossing(both, [link]) == pytest.approx(10.0)
    assert crossing(both, [{**link, "measured": "9 GB/s"}]) == pytest.approx(9.0)
    assert crossing({"gpu0.probed_between_cards_gb_s": 11.0}, [link]) == pytest.approx(
        15.75, abs=0.01
    )
    faster = dict.fromkeys(both, 45.0)
    assert crossing(faster, [link]) == pytest.approx(15.75, abs=0.01), "it went another way"
    bridge = {"between": ["gpu1", "gpu0"], "kind": "nvlink", "bandwidth": "50 GB/s"}
    assert crossing(both, [link, bridge]) == pytest.approx(15.75, abs=0.01), "over which of them?"


# -- expected-traffic and traffic-symmetry


@pytest.mark.parametrize(
    ("phase", "expected", "net"), [("prefill", "1107", "973.5"), ("decode", "49.41", "67")]
)
def test_the_all_reduce_explains_the_traffic(phase: str, expected: str, net: str) -> None:
    r = result(verdicts(*all_reduce()), "expected-traffic", arm="C", phase=phase)
    assert r.reading == "explained"
    assert f"= {expected} MB/s" in (r.arithmetic or "")
    assert f"of arm B = {net} MB/s" in (r.arithmetic or "")


def test_a_control_with_the_same_split_takes_nothing_off() -> None:
    v = verdicts(*all_reduce())
    r = result(v, "expected-traffic", arm="C2", phase="prefill")
    assert r.reading == "explained"
    assert r.value == pytest.approx(1.02, abs=0.005)


def test_rejected_drafts_cross_the_link_too() -> None:
    study, observed = all_reduce()
    v = verdicts(study, observed)
    assert result(v, "expected-traffic", arm="C2", phase="decode").state == "insufficient"
    steps = [
        s.model_copy(update={"acceptance": 0.7}) if s.arm == "C2" else s for s in observed.steps
    ]
    v = verdicts(study, observed.model_copy(update={"steps": steps}))
    r = result(v, "expected-traffic", arm="C2", phase="decode")
    assert r.value == pytest.approx(146 / (44.3 * 4 / 3.1 * 1.31072), rel=1e-3)


def test_nothing_moved_is_another_path() -> None:
    study, observed = all_reduce()
    idle = [
        s.model_copy(update={"mean": 1.0, "range": None}) if s.counter == "pcie-rx" else s
        for s in observed.series
    ]
    v = verdicts(study, observed.model_copy(update={"series": idle}))
    assert result(v, "expected-traffic", arm="C", phase="prefill").reading == "other-path"


@pytest.mark.parametrize(
    ("arm", "phase", "reading", "ratio"),
    [
        ("B", "decode", "pipeline", 6.8),
        ("B", "prefill", "pipeline", 36),
        ("C", "decode", "tensor", 1.12),
        ("C", "prefill", "tensor", 1.02),
    ],
)
def test_the_direction_tells_the_split(arm: str, phase: str, reading: str, ratio: float) -> None:
    r = result(verdicts(*all_reduce()), "traffic-symmetry", arm=arm, phase=phase)
    assert r.reading == reading
    assert r.value == pytest.approx(ratio, abs=0.005)
    assert r.caveats == []


def test_a_direction_that_contradicts_the_declared_split() -> None:
    study, observed = all_reduce()
    swapped = [
        s.model_copy(update={"arm": {"B": "C", "C": "B"}.get(s.arm or "", s.arm)})
        for s in observed.series
    ]
    v = verdicts(study, observed.model_copy(update={"series": swapped}))
    r = result(v, "traffic-symmetry", arm="C", phase="prefill")
    assert r.caveats == ["contradicts the declared tensor split"]


# -- control


def net(phase: str, of: str) -> CheckResult:
    return result(
        verdicts(*all_reduce()), "control", arm="C", phase=phase, counter="pcie-rx", of=of
    )


@pytest.mark.parametrize(
    ("phase", "value", "low", "high", "quotable"),
    [
        ("decode", 67, 22, 102, "order-of-magnitude"),
        ("prefill", 973.5, 923.5, 1119.5, "yes"),
    ],
)
def test_the_net_cost_and_its_interval(
    phase: str, value: float, low: float, high: float, quotable: str
) -> None:
    r = net(phase, "difference")
    assert (r.reading, r.quotable, r.n) == ("net-cost", quotable, 3)
    assert r.value == pytest.approx(value)
    assert r.range == Bounds(low=low, high=high)


@pytest.mark.parametrize(
    ("phase", "value", "low", "high"), [("decode", 4.0, 1.8, 5.7), ("prefill", 14.6, 9.6, 94)]
)
def test_a_ratio_over_a_noisy_control_is_an_order_of_magnitude(
    phase: str, value: float, low: float, high: float
) -> None:
    r = net(phase, "ratio")
    assert r.quotable == "order-of-magnitude"
    assert r.value == pytest.approx(value, abs=0.05)
    assert r.range is not None
    assert r.range.low == pytest.approx(low, rel=0.01)
    assert r.range.high == pytest.approx(high, rel=0.01)


@pytest.mark.parametrize(
    ("arm", "metric", "ratio"),
    [
        ("C", "decode_tok_s", 1.47),
        ("C", "prefill_tok_s", 0.89),
        ("C2", "decode_tok_s", 1.18),
        ("C2", "prefill_tok_s", 0.94),
    ],
)
def test_no_split_wins_both_phases(arm: str, metric: str, ratio: float) -> None:
    r = result(verdicts(*all_reduce()), "control", arm=arm, metric=metric, of="ratio")
    assert r.value == pytest.approx(ratio, abs=0.005)
    assert r.quotable == "no"  # a single figure each


def test_figures_that_are_medians_of_three_count_as_three() -> None:
    study, observed = all_reduce()
    steps = [s.model_copy(update={"repeats": 3}) for s in observed.steps]
    v = verdicts(study, observed.model_copy(update={"steps": steps}))
    r = result(v, "control", arm="C", metric="decode_tok_s", of="ratio")
    assert (r.n, r.quotable) == (3, "yes")
