"""identity, slots-moved, break-even, prefix-cache, outputs, parity: may two arms be compared at all?"""

from __future__ import annotations

from typing import Any

import pytest

from benchspec.judge.checks.parity import exact_p, p_range
from benchspec.judge.result import CheckResult
from benchspec.observations.answers import Agreement, Outputs, Parity
from benchspec.observations.model import ArmObservation, Observations, Request, Sends, Step
from tests.judge.published import all_reduce
from tests.judge.world import burst, result, seen, spec, sweep, verdicts


def judged(check: str, **observed: Any) -> CheckResult:
    return result(verdicts(spec(), seen(origin="audit", **observed)), check)


# -- identity


def compared(a: dict[str, Any], b: dict[str, Any], **seen_of_b: Any) -> CheckResult:
    base = {"model_sha256": "aa", "build": "b11434", "gpu0.pci_id": "10de:1df0"}
    study = spec(arms=[{"id": "A", **a}, {"id": "B", **b}])
    arms = {"A": ArmObservation(identity=base), "B": ArmObservation(identity=base | seen_of_b)}
    return result(verdicts(study, Observations(arms=arms)), "identity")


SLOTS = {"engine": {"flags": {"parallel": 8}}}


def test_one_setting_is_one_axis() -> None:
    r = compared({}, SLOTS)
    assert (r.reading, r.value) == ("comparable", 1)
    assert "slots: parallel unset and 8" in (r.arithmetic or "")


def test_settings_of_one_feature_are_one_axis() -> None:
    drafting = {"engine": {"flags": {"spec-type": "draft-mtp", "spec-draft-n-max": 3}}}
    assert compared({}, drafting).reading == "comparable"


def test_several_axes_are_confounded() -> None:
    many = {"engine": {"flags": {"parallel": 8, "split-mode": "tensor"}}}
    r = compared({}, many)
    assert r.reading == "not-comparable"
    assert "cannot be told" in r.caveats[-1]


@pytest.mark.parametrize(
    ("found", "axis"),
    [
        ({"model_sha256": "bb"}, "model"),
        ({"build": "b11435"}, "engine"),
        ({"gpu0.pci_id": "10de:1db5"}, "hardware"),
        ({"prompt": "other"}, None),
    ],
)
def test_another_file_or_card_of_the_same_name(found: dict[str, str], axis: str | None) -> None:
    r = compared({}, {}, **found)
    if axis is None:  # known of one arm only
        assert r.reading == "comparable"
    else:
        assert r.reading == "not-comparable"
        assert f"found different: {axis}" in r.caveats[0]


def test_where_a_card_sits_is_not_what_it_is() -> None:
    study = spec(arms=[{"id": "A"}, {"id": "B"}])
    slots = {"A": "0000:01:00.0", "B": "0000:c1:00.0"}
    arms = {arm: ArmObservation(identity={"gpu0.pci_bus": bus}) for arm, bus in slots.items()}
    assert result(verdicts(study, Observations(arms=arms)), "identity").reading == "comparable"


def test_a_footprint_is_a_fingerprint_of_the_configuration() -> None:
    def reading(a: int, b: int, **arm: Any) -> str | None:
        study = spec(arms=[{"id": "A"}, {"id": "B", **arm}])
        arms = {
            "A": ArmObservation(identity={"gpu0.memory_used_mib": a}),
            "B": ArmObservation(identity={"gpu0.memory_used_mib": b}),
        }
        return result(verdicts(study, Observations(arms=arms)), "identity").reading

    assert reading(18890, 18888) == "comparable"
    assert reading(18890, 17752) == "not-comparable"
    assert reading(18890, 17752, **SLOTS) == "comparable"


def test_two_probes_of_one_card_agree_and_two_cards_of_one_name_need_not() -> None:
    def reading(a: float, b: float, median: float = 800.0) -> str | None:
        arms = {
            "A": ArmObservation(identity={"gpu0.probed_read_gb_s": a}),
            "B": ArmObservation(
                identity={"gpu0.probed_read_gb_s": b, "gpu0.probed_read_median_gb_s": median}
            ),
        }
        study = spec(arms=[{"id": "A"}, {"id": "B"}])
        return result(verdicts(study, Observations(arms=arms)), "identity").reading

    assert reading(878.0, 861.0) == "comparable"
    assert reading(878.0, 861.0, median=100.0) == "comparable", "a busy machine's median"
    assert reading(878.0, 1004.0) == "not-comparable"
    assert (reading(1000.0, 905.0), reading(905.0, 1000.0)) == ("comparable", "comparable")
    assert (reading(1000.0, 895.0), reading(895.0, 1000.0)) == ("not-comparable",) * 2


def test_controls_decide_who_is_compared_with_whom() -> None:
    v = verdicts(*all_reduce())
    pairs = {(r.arm, r.at["against"]): r.reading for r in v.checks if r.check == "identity"}
    assert pairs == {("C", "B"): "comparable", ("C2", "C"): "comparable"}


# -- slots-moved


def moved(many: int, **rest: Any) -> CheckResult:
    study = spec(arms=[{"id": "S"}, {"id": "2S"}])
    steps = [*sweep("S", 4, (8,), **rest), *sweep("2S", many, (8,), **rest)]
    return result(verdicts(study, seen(*steps, slots={"S": 4, "2S": 8})), "slots-moved")


def test_a_plateau_that_moves_with_the_slots_was_the_slots() -> None:
    r = moved(8)
    assert (r.reading, r.arm, r.n) == ("slots", "2S", 3)
    assert "with 8 slots / with 4" in (r.arithmetic or "")


def test_a_plateau_that_stays_is_the_hardware() -> None:
    r = moved(8, token_s=lambda batch: 0.02 * batch, prefill_s=0.0)
    assert r.reading == "hardware"


# -- break-even


def test_tensor_wins_unless_the_prompt_is_a_hundred_times_the_answer() -> None:
    r = result(verdicts(*all_reduce()), "break-even", arm="C", against="B")
    assert r.reading == "crossing"
    assert r.value == pytest.approx(100, abs=0.5)
    assert "over 100 times the answer" in (r.arithmetic or "")
    assert result(verdicts(*all_reduce()), "break-even", arm="B", against="A").reading == "never"


@pytest.mark.parametrize(
    ("pair", "single", "tokens"),
    [((94.7, 80.9), (393, 210), 101_600), ((71.0, 67.4), (393, 210), 243_000)],
)
def test_a_slow_first_token_is_made_up_after_many(
    pair: tuple[float, float], single: tuple[float, float], tokens: float
) -> None:
    study = spec(arms=[{"id": "old"}, {"id": "new"}])
    steps = [
        Step(arm="old", concurrency=1, decode_tok_s=pair[0], ttft_ms=single[0] * 1e3),
        Step(arm="new", concurrency=1, decode_tok_s=pair[1], ttft_ms=single[1] * 1e3),
    ]
    r = result(verdicts(study, seen(*steps, origin="audit")), "break-even")
    assert (r.reading, r.arm) == ("crossing", "old")
    assert r.value == pytest.approx(tokens, rel=0.002)


def test_overlapping_repeats_have_no_crossing() -> None:
    study = spec(arms=[{"id": "A"}, {"id": "B"}])
    steps = [*sweep("A", 1, (1,)), *sweep("B", 1, (1,))]
    v = verdicts(study, seen(*steps))
    assert not [r for r in v.checks if r.check == "break-even"]


# -- prefix cache


def sends(**rest: Any) -> CheckResult:
    return judged("prefix-cache", sends=[Sends(arm="main", prompt_tokens=6000, **rest)])


@pytest.mark.parametrize(
    ("ttft", "cached", "reading"),
    [
        ([6800, 6800, 6800], [0, 0, 0], "not-effective"),
        ([393_000, 100], [], "effective"),
        ([6800, 700], [0, 5900], "effective"),
        ([6800, 4800], [0, 2000], "partial"),
        ([6800, 700], [0, 100], "partial"),
    ],
)
def test_the_second_send_tells(ttft: list[float], cached: list[int | None], reading: str) -> None:
    assert sends(ttft_ms=ttft, cached_tokens=cached).reading == reading


def test_more_than_one_in_flight_measures_the_queue() -> None:
    assert sends(ttft_ms=[6800, 700], in_flight=2).state == "invalid"
    assert sends(ttft_ms=[6800]).state == "insufficient"


def test_cold_and_warm_steps_are_sends_too() -> None:
    def at(cache: Any, ttft: float) -> Step:
        return Step(arm="main", concurrency=1, cache=cache, ttft_ms=ttft)

    steps = [at("cold", 6800), at("warm", 500)]
    r = result(verdicts(spec(), seen(*steps)), "prefix-cache")
    assert r.reading == "effective"


def test_unique_prompts_that_come_from_the_cache_contaminate() -> None:
    step = burst("main", 4, 4)
    cached = [r.model_copy(update={"cached_tokens": 12}) for r in step.requests]
    v = verdicts(spec(), seen(step.model_copy(update={"requests": cached})))
    r = result(v, "prefix-cache")
    assert (r.reading, r.value) == ("contaminating", 0.75)
    fine = [r.model_copy(update={"cached_tokens": 1}) for r in step.requests]
    v = verdicts(spec(), seen(step.model_copy(update={"requests": fine})))
    assert not [r for r in v.checks if r.check == "prefix-cache"]


@pytest.mark.parametrize("shared", [{"turns": 3}, {"prompt": {"shared_prefix": 12}}])
def test_what_was_said_before_may_come_from_the_cache(shared: dict[str, object]) -> None:
    step = burst("main", 4, 4)
    cached = [r.model_copy(update={"cached_tokens": 12}) for r in step.requests]
    v = verdicts(spec(workload=shared), seen(step.model_copy(update={"requests": cached})))
    assert not [r for r in v.checks if r.check == "prefix-cache"]


# -- outputs


def test_question_marks_are_no_text() -> None:
    r = judged("output-sanity", outputs=[Outputs(arm="main", count=300, degenerate=291)])
    assert (r.reading, r.value, r.quotable) == ("degenerate", 0.97, "no")


def test_truncation_is_named() -> None:
    outputs = [Outputs(arm="main", count=30, degenerate=0, truncated=5)]
    r = judged("output-sanity", outputs=outputs)
    assert (r.reading, r.caveats) == ("sane", ["17 % ended at the token limit"])


@pytest.mark.parametrize(
    ("prefixes", "acceptance", "reading"),
    [
        ([229, 551], [], "agrees"),
        ([229, 12], [], "diverges"),
        ([229], [0.77, 0.76], "agrees"),
        ([], [0.77, 0.38], "diverges"),
    ],
)
def test_greedy_answers_share_their_beginning(
    prefixes: list[int], acceptance: list[float], reading: str
) -> None:
    agreement = Agreement(arms=["A", "B"], common_prefix_tokens=prefixes, acceptance=acceptance)
    assert judged("output-agreement", agreement=[agreement]).reading == reading


# -- parity


def parity(**rest: Any) -> CheckResult:
    return judged("parity", parity=[Parity(arms=["A", "B"], n=300, **rest)])


def test_marginals_leave_the_paired_p_open() -> None:
    r = parity(correct=[237, 245])
    assert r.reading == "no-difference-shown"
    assert r.value == pytest.approx(-0.0267, abs=0.0001)
    assert r.range is not None
    assert 100 * r.range.low == pytest.approx(-9.0, abs=0.05)
    assert 100 * r.range.high == pytest.approx(3.7, abs=0.05)
    assert list(p_range(237, 245, 300)) == pytest.approx([0.0078, 0.52], rel=0.01)
    assert r.caveats == ["up to 9 points are not excluded"]


def test_one_question_more_is_no_difference() -> None:
    assert parity(correct=[237, 236]).reading == "no-difference-shown"


@pytest.mark.parametrize(
    ("b", "c", "reading"), [(0, 12, "differs"), (10, 14, "no-difference-shown")]
)
def test_pairs_are_tested_exactly(b: int, c: int, reading: str) -> None:
    assert parity(only_first=b, only_second=c).reading == reading


def test_five_discordant_pairs_cannot_decide() -> None:
    assert (exact_p(0, 5), exact_p(0, 6)) == (0.0625, 0.03125)
    assert parity(only_first=0, only_second=5).state == "insufficient"


def test_equivalence_needs_a_registered_margin() -> None:
    assert parity(only_first=2, only_second=1, margin=0.03).reading == "equivalent-within-margin"
    assert parity(only_first=20, only_second=15, margin=0.03).reading == "no-difference-shown"


def test_truncated_answers_decide_nothing() -> None:
    assert parity(correct=[237, 245], truncated=[0.17, 0.0]).state == "invalid"


def test_a_request_may_lack_everything() -> None:
    assert not [
        r
        for r in verdicts(spec(), seen(Step(arm="main", requests=[Request()]))).checks
        if r.check == "prefix-cache"
    ]
