"""decomposition, identities, time-budget, ablation, speculation: do the parts make the whole?"""

from __future__ import annotations

from typing import Any

import pytest

from benchspec.judge.printed import printed
from benchspec.judge.result import CheckResult
from benchspec.observations.model import Ablation, Budget, Decomposition, Factor, Figures, Step
from tests.judge.published import three_cards
from tests.judge.world import result, seen, spec, verdicts


def judged(check: str, **observed: Any) -> CheckResult:
    return result(verdicts(spec(), seen(origin="audit", **observed)), check)


# -- decomposition


def test_factors_that_come_from_the_rate_split_it_and_verify_nothing() -> None:
    advertised = Decomposition(
        name="engine against llama.cpp",
        observed=2.36,
        factors=[
            Factor(name="bytes", over=2.80, under=1.849),
            Factor(name="bandwidth", over=181, under=116, from_observed=True),
        ],
    )
    r = judged("decomposition", factors=[advertised])
    assert r.reading == "identity"
    assert "bytes 1.51 x bandwidth 1.56 = 2.36" in (r.arithmetic or "")


def test_a_gain_that_is_mostly_luck_with_the_text() -> None:
    gain = Decomposition(
        name="fused add",
        observed=99.8 / 95.5,
        factors=[
            Factor(name="round time", over=33, under=32.7),
            Factor(name="tokens per round", over=3.28, under=3.16),
        ],
    )
    r = judged("decomposition", factors=[gain])
    assert r.reading == "explained"
    assert "round time 1.01 x tokens per round 1.04" in (r.arithmetic or "")


def test_what_the_factors_leave_is_a_remainder() -> None:
    one = Decomposition(name="x", observed=2.0, factors=[Factor(name="a", ratio=1.2)])
    r = judged("decomposition", factors=[one])
    assert r.reading == "remainder"
    assert r.remainder == pytest.approx(0.4)


def test_bandwidth_explains_two_cards_of_one_name() -> None:
    cards = Decomposition(
        name="one card name",
        observed=97 / 80.6,
        factors=[Factor(name="memory bandwidth", over=1058, under=878)],
    )
    assert judged("decomposition", factors=[cards]).reading == "explained"


def test_a_factor_without_figures_is_named() -> None:
    r = judged(
        "decomposition",
        factors=[Decomposition(name="x", observed=2, factors=[Factor(name="luck")])],
    )
    assert r.missing == ["a ratio or two figures for luck"]


# -- identities


def identity(which: str, **figures: Any) -> CheckResult:
    observed = seen(origin="audit", figures=[Figures(name="x", **figures)])
    return result(verdicts(spec(), observed), "identities", identity=which)


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        (39.2, 39.15, 39.25),
        (24.39, 24.385, 24.395),
        (41.0, 40.5, 41.5),
        (15750.0, 15749.5, 15750.5),
    ],
)
def test_a_printed_figure_is_an_interval(value: float, low: float, high: float) -> None:
    assert [printed(value).low, printed(value).high] == pytest.approx([low, high])


def test_a_rate_and_a_time_that_do_not_belong_together() -> None:
    study, observed = three_cards()
    figures = [Figures(name="single stream", arm="main", tok_s=24.39, ms_per_token=39.2)]
    v = verdicts(study, observed.model_copy(update={"figures": figures}))
    r = result(v, "identities")
    assert r.reading == "violated"
    assert "1000 / 24.39 tok/s = 41 ms against 39.2 ms, which is 25.5 tok/s" in (r.arithmetic or "")
    assert r.caveats == ["it fits the 25.35 tok/s of arm main, C=1"]


def test_the_same_figures_rounded_agree() -> None:
    assert identity("rate-and-time", tok_s=49.4, ms_per_token=20.2).reading == "agree"


@pytest.mark.parametrize(
    ("tok_s", "round_ms", "acceptance"), [(149.5, 48, 0.88), (18.3, 200, 0.38)]
)
def test_a_block_of_eight_is_seven_drafts(tok_s: float, round_ms: float, acceptance: float) -> None:
    wrong = identity("rounds", tok_s=tok_s, round_ms=round_ms, acceptance=acceptance, drafts=8)
    assert wrong.reading == "violated"
    assert "k = 7 gives" in wrong.caveats[0]
    right = identity("rounds", tok_s=tok_s, round_ms=round_ms, acceptance=acceptance, drafts=7)
    assert right.reading == "agree"


@pytest.mark.parametrize(("tok_s", "acceptance"), [(101.9, 0.77), (73.4, 0.46)])
def test_rounds_and_acceptance_give_the_rate(tok_s: float, acceptance: float) -> None:
    r = identity("rounds", tok_s=tok_s, round_ms=32.4, acceptance=acceptance, drafts=3)
    assert r.reading == "agree"


@pytest.mark.parametrize(
    ("figures", "reading"),
    [
        ({"parts": [10.5, 13.2, 4.6, 2.2, 2.5], "whole": 33.0}, "agree"),
        ({"parts": [2.1, 3.5], "whole": 6.1}, "violated"),
    ],
)
def test_parts_and_whole(figures: dict[str, Any], reading: str) -> None:
    assert identity("parts-and-whole", **figures).reading == reading


@pytest.mark.parametrize(
    ("figures", "reading"),
    [
        ({"over": 54.9, "under": 59.632, "percent_more": -7.9}, "agree"),
        ({"over": 1335, "under": 15750, "percent": 8.5}, "agree"),
        ({"over": 1335, "under": 15750, "percent": 8.2}, "violated"),
        ({"over": 393, "under": 210, "ratio": 1.87}, "agree"),
        ({"over": 393, "under": 210, "ratio": 1.7}, "violated"),
    ],
)
def test_ratios_and_percentages(figures: dict[str, Any], reading: str) -> None:
    assert identity("ratio", **figures).reading == reading


@pytest.mark.parametrize(
    ("figures", "which", "reading"),
    [
        ({"values": [96, 102], "maximum": 106}, "maximum", "violated"),
        ({"values": [96, 102], "maximum": 102}, "maximum", "agree"),
        ({"values": [96, 102], "one_of": 106}, "one-of", "violated"),
        ({"values": [96, 102], "one_of": 97}, "one-of", "agree"),
        ({"values": [34.7, 35.2, 37.1], "minimum": 34.7}, "minimum", "agree"),
        ({"values": [35.3, 35.7, 34.7, 35.2, 36.1, 37.1], "mean": 35.68}, "mean", "agree"),
        ({"values": [35.3, 35.7, 34.7, 35.2, 36.1, 37.1], "mean": 35.2}, "mean", "violated"),
        ({"values": [35.3, 35.7, 34.7, 35.2, 36.1, 37.1], "median": 35.5}, "median", "agree"),
        ({"values": [35.3, 35.7, 34.7, 35.2, 36.1, 37.1], "sd": 0.84}, "sd", "agree"),
        ({"values": [35.3, 35.7, 34.7, 35.2, 36.1, 37.1], "sd": 1.2}, "sd", "violated"),
        ({"values": [35.3, 37.1], "range": 1.8}, "range", "agree"),
        ({"values": [35.3, 37.1], "range": 2.4}, "range", "violated"),
        ({"values": [12, 13, 14], "sum": 39}, "sum", "agree"),
        ({"values": [12, 13, 14], "sum": 45}, "sum", "violated"),
    ],
)
def test_what_is_said_of_a_list(figures: dict[str, Any], which: str, reading: str) -> None:
    assert identity(which, **figures).reading == reading


def test_a_figure_outside_its_list_is_compared_with_the_nearest_end() -> None:
    r = identity("one-of", values=[96, 102], one_of=106)
    assert r.value == pytest.approx(102 / 106, rel=1e-3)
    assert r.arithmetic == "96, 102 lie in 96..102, 106 as stated"


def test_a_rate_that_counts_the_first_token_and_a_time_that_does_not() -> None:
    apart = identity("rate-and-time", tok_s=21.1, ms_per_token=47.8)
    assert apart.reading == "violated"
    assert "an answer of 85 to 196 tokens would explain it" in apart.caveats[0]
    assert identity("rate-and-time", tok_s=21.1, ms_per_token=47.8, tokens=128).reading == "agree"
    longer = identity("rate-and-time", tok_s=21.1, ms_per_token=47.8, tokens=2000)
    assert longer.reading == "violated"


def test_tokens_per_pass_follow_from_drafts_and_acceptance() -> None:
    assert identity(
        "tokens-per-pass", tokens_per_round=3.31, acceptance=0.77, drafts=3
    ).reading == ("agree")
    r = identity("tokens-per-pass", tokens_per_round=2.7, acceptance=0.85, drafts=3)
    assert r.reading == "violated"
    assert r.caveats == ["k = 2 gives 2.7: 3 may count the block"]


def test_a_probe_above_the_datasheet() -> None:
    r = identity("probe", probe=1004, datasheet=900)
    assert r.reading == "violated"
    assert r.value == pytest.approx(1.116, abs=0.0005)
    assert identity("probe", probe=878, datasheet=900).reading == "agree"


def test_a_cache_that_the_geometry_does_not_give() -> None:
    model = {"attention_layers": 16, "kv_heads": 4, "head_size": 256, "kv_bytes_per_element": 1}
    figures = [Figures(name="KV at 150 K", kv_bytes=7e9, context_tokens=150_000)]
    r = result(
        verdicts(spec(model=model), seen(origin="audit", figures=figures)),
        "identities",
        identity="kv",
    )
    assert r.reading == "violated"
    assert "= 4.9 GB against 7 GB" in (r.arithmetic or "")


# -- time budget and ablation


def test_a_budget_accounts_and_bounds() -> None:
    parts = {"attention": 10.5, "matmul": 13.2, "drafting": 4.6, "link": 2.2}
    r = judged("time-budget", budgets=[Budget(name="round", total_ms=33.0, parts=parts)])
    assert r.reading == "accounted"
    assert r.remainder == pytest.approx(0.076, abs=0.0005)
    assert "2.5 ms not listed" in (r.arithmetic or "")
    assert "without link at most 1.07 x" in (r.arithmetic or "")


def test_a_part_that_gets_faster_moves_the_whole_by_its_share() -> None:
    budget = Budget(
        name="round",
        total_ms=93,
        parts={"attention": 52, "rest": 41},
        after={"attention": 52 * 1.29 / 2.79},
    )
    r = judged("time-budget", budgets=[budget])
    assert "attention at 24.04 ms gives 1.43 x" in (r.arithmetic or "")


def test_a_link_of_two_in_twenty_milliseconds() -> None:
    budget = Budget(name="token", total_ms=20, parts={"link": 2, "waiting": 3.5, "computing": 14.5})
    assert "without link at most 1.11 x" in (
        judged("time-budget", budgets=[budget]).arithmetic or ""
    )


def test_what_is_not_listed_is_unexplained() -> None:
    budget = Budget(name="token", total_ms=20, parts={"link": 2})
    assert judged("time-budget", budgets=[budget]).reading == "unexplained"
    too_much = Budget(name="token", total_ms=20, parts={"link": 30})
    assert judged("time-budget", budgets=[too_much]).state == "invalid"


def test_what_two_ablations_leave_belongs_to_neither() -> None:
    kernel = Ablation(name="kernel", full_ms=2.79, without={"compute": 2.14, "loads": 1.96})
    r = judged("ablation", ablations=[kernel])
    assert r.reading == "unexplained"
    assert r.value == pytest.approx(1.31)
    assert "1.31 ms, 47 % of the whole" in (r.arithmetic or "")
    assert r.quotable == "bound"


def test_one_ablation_is_none() -> None:
    kernel = Ablation(name="kernel", full_ms=2.79, without={"compute": 2.14})
    assert judged("ablation", ablations=[kernel]).state == "insufficient"


# -- speculation

DRAFTING = [{"id": "plain", "control_for": "drafting"}, {"id": "drafting"}]


def drafting(plain: dict[str, Any], drafted: dict[str, Any]) -> CheckResult:
    steps = [
        Step(arm="plain", concurrency=1, **plain),
        Step(arm="drafting", concurrency=1, **drafted),
    ]
    return result(verdicts(spec(arms=DRAFTING), seen(*steps, origin="audit")), "speculation")


def test_drafting_pays_above_an_acceptance() -> None:
    r = drafting({"round_ms": 28.0}, {"round_ms": 32.4, "acceptance": 0.77, "drafts": 3})
    assert r.reading == "gain"
    assert r.value == pytest.approx(3.31 * 28 / 32.4)
    assert "pays above an acceptance of 0.052" in (r.arithmetic or "")


@pytest.mark.parametrize(
    ("before", "after", "gain", "reading"),
    [
        ((33, 3.16), (32.7, 3.28), 1.047, "gain"),
        ((33, 3.16), (33 / 1.044, 3.16 * 0.877), 0.915, "loss"),
        ((33, 3.16), (33, 3.18), 1.006, "break-even"),
    ],
)
def test_passes_and_tokens_per_pass_are_kept_apart(
    before: tuple[float, float], after: tuple[float, float], gain: float, reading: str
) -> None:
    r = drafting(
        {"round_ms": before[0], "tokens_per_round": before[1]},
        {"round_ms": after[0], "tokens_per_round": after[1]},
    )
    assert r.reading == reading
    assert r.value == pytest.approx(gain, abs=0.001)
    assert r.quotable == "no"  # one run


def test_without_k_nothing_is_said() -> None:
    r = drafting({"decode_tok_s": 24.39}, {"decode_tok_s": 13.78, "acceptance": 0.75})
    assert r.state == "insufficient"
    assert r.missing == ["k, the drafts per pass, and the acceptance"]
