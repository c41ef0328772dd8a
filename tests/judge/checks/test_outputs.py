"""output-sanity and output-agreement of a run, and what degenerate text does to its rates."""

from __future__ import annotations

from typing import Any

import pytest

from benchspec.judge.result import Verdicts
from benchspec.observations.answers import Agreement, Text
from benchspec.observations.model import ArmObservation, Observations, Step
from benchspec.observations.node import Bounds, Number
from benchspec.spec.models import Spec
from tests.judge.world import burst, hypothesis, result, seen, spec, verdicts

SANE = Text(chars=120, looped_chars=0, entropy_bits=4.1)
MARKS = Text(chars=40, looped_chars=40, entropy_bits=0.0)
SOUP = Text(chars=400, looped_chars=30, entropy_bits=1.0)
CIRCLES = Text(chars=400, looped_chars=330, entropy_bits=3.6)
SHORT = Text(chars=5, looped_chars=0, entropy_bits=0.7)

FREE = {"output": {"tokens": 32, "forced": False}}


def steps(*texts: Text | None, finish: str = "length", drafted: bool = False) -> list[Step]:
    """Three repeats of a wave with these answers."""
    made = []
    for repeat in (1, 2, 3):
        step = burst("main", len(texts), 8, repeat=repeat)
        more: dict[str, Any] = {"finish_reason": finish}
        more |= {"draft_tokens": 30, "accepted_tokens": 29} if drafted else {}
        said = zip(step.requests, texts, strict=True)
        requests = [request.model_copy(update={"text": text, **more}) for request, text in said]
        made.append(step.model_copy(update={"requests": requests}))
    return made


def judged(*made: Step, **sections: Any) -> Verdicts:
    return verdicts(spec(**sections), seen(*made, slots={"main": 8}))


# -- sanity


def test_a_server_that_says_question_marks_has_no_rate() -> None:
    v = judged(*steps(MARKS, MARKS, MARKS, SANE))
    sanity, rate = result(v, "output-sanity"), result(v, "aggregate")
    assert (sanity.reading, sanity.value, sanity.quotable) == ("degenerate", 0.75, "no")
    assert sanity.arithmetic == "9 / 12 degenerate = 75 %"
    why = (
        "the rate of degenerate text is not quotable: {} answers are a word or less, over and over"
    )
    assert sanity.caveats == [why.format("9 of 12")]
    assert (rate.state, rate.quotable) == ("judged", "no")
    assert rate.caveats == [why.format("3 of 4")]
    (line,) = [u for u in v.unfinished if u.check == "output-sanity"]
    assert line.kind == "invalid"


def test_ordinary_answers_are_sane_and_their_rate_is_quotable() -> None:
    v = judged(*steps(SANE, SANE, SANE, SANE))
    sanity, rate = result(v, "output-sanity"), result(v, "aggregate")
    assert (sanity.reading, sanity.quotable, sanity.caveats) == ("sane", "yes", [])
    assert (rate.quotable, rate.caveats) == ("yes", [])


def test_a_tenth_is_not_more_than_a_tenth() -> None:
    assert result(judged(*steps(MARKS, *[SANE] * 9)), "output-sanity").reading == "sane"
    assert result(judged(*steps(MARKS, *[SANE] * 8)), "output-sanity").reading == "degenerate"


def test_where_the_length_is_forced_circles_are_found_and_spoil_no_rate() -> None:
    v = judged(*steps(CIRCLES, CIRCLES))
    sanity = result(v, "output-sanity")
    assert (sanity.reading, sanity.value, sanity.quotable) == ("degenerate", 1.0, "yes")
    assert "the length is forced" in sanity.caveats[0]
    assert result(v, "aggregate").quotable == "yes"
    assert not [u for u in v.unfinished if u.check == "output-sanity"]


@pytest.mark.parametrize(
    ("drafted", "sections", "said"),
    [
        (False, {"workload": FREE}, "go round in circles"),
        (True, {}, "go round in circles, where drafts are accepted more often"),
    ],
)
def test_where_the_text_matters_circles_spoil_the_rate(
    drafted: bool, sections: dict[str, Any], said: str
) -> None:
    v = judged(*steps(CIRCLES, SANE, drafted=drafted), **sections)
    for check in ("output-sanity", "aggregate"):
        found = result(v, check)
        assert found.quotable == "no"
        assert [caveat for caveat in found.caveats if caveat.endswith(said)]


def test_one_or_two_characters_in_any_order_are_degenerate() -> None:
    assert result(judged(*steps(SOUP, SOUP)), "output-sanity").quotable == "no"


def test_short_answers_tell_nothing() -> None:
    found = result(judged(*steps(SHORT, SHORT)), "output-sanity")
    assert (found.state, found.missing) == ("insufficient", ["answers of at least 16 characters"])
    mixed = result(judged(*steps(SHORT, SANE)), "output-sanity")
    assert (mixed.reading, mixed.arithmetic) == ("sane", "0 / 3 degenerate = 0 %")


def test_a_bundle_without_measures_of_text_says_nothing_of_it() -> None:
    assert not [c for c in judged(*steps(None, None)).checks if c.check == "output-sanity"]


def test_only_who_was_free_to_stop_is_truncated() -> None:
    forced = result(judged(*steps(SANE, SANE)), "output-sanity")
    free = result(judged(*steps(SANE, SANE), workload=FREE), "output-sanity")
    stopped = result(judged(*steps(SANE, SANE, finish="stop"), workload=FREE), "output-sanity")
    assert forced.caveats == []
    assert "truncated" not in (forced.arithmetic or "")
    assert free.caveats == ["100 % ended at the token limit"]
    assert (stopped.caveats, stopped.arithmetic) == (
        [],
        "0 / 6 degenerate = 0 %; 0 truncated = 0 %",
    )


def test_the_gain_of_drafting_on_circles_is_not_quotable() -> None:
    study = spec(
        engine={"kind": "llama.cpp", "flags": {"draft-max": 3}},
        arms=[{"id": "main"}, {"id": "plain", "control_for": "main"}],
    )
    plain = [s.model_copy(update={"arm": "plain"}) for s in steps(SANE, SANE)]
    for text, quotable in ((SANE, "yes"), (CIRCLES, "no")):
        drafting = [
            s.model_copy(update={"drafts": 3, "round_ms": 30.0})
            for s in steps(text, text, drafted=True)
        ]
        timed = [s.model_copy(update={"round_ms": 20.0, "tokens_per_round": 1}) for s in plain]
        found = result(verdicts(study, seen(*drafting, *timed)), "speculation")
        assert (found.state, found.quotable) == ("judged", quotable), found


# -- agreement


def two_arms(changes: dict[str, Any] | None = None, temperature: float | None = 0) -> Spec:
    return spec(
        workload={"sampling": {"temperature": temperature}},
        arms=[{"id": "A"}, {"id": "B", **(changes or {})}],
    )


def agreement(
    parted: list[Number], whole: list[int], acceptance: list[float] | None = None
) -> Agreement:
    return Agreement(
        arms=["B", "A"],
        common_prefix_tokens=parted,
        whole_tokens=whole,
        acceptance=acceptance or [],
    )


def compared(one: Agreement, study: Spec | None = None, **rest: Any) -> Verdicts:
    observed = Observations(origin="run", agreement=[one], steps=[Step(arm="A")], **rest)
    return verdicts(study or two_arms(), observed)


@pytest.mark.parametrize(
    ("parted", "whole", "reading"),
    [
        ([], [128, 200], "agrees"),
        ([130.0], [], "agrees"),
        ([12.0, 30.0], [128, 128, 128], "agrees"),
        ([12.0, 30.0], [128, 128], "diverges"),
        ([3.0], [], "diverges"),
        ([3.0, 4.0], [32, 32], "diverges"),
        ([], [32] * 40, None),
        ([3.0], [32] * 40, None),
        ([Bounds(low=90, high=120)], [], None),
        ([Bounds(low=90, high=99)], [], "diverges"),
        ([Bounds(low=100, high=220)], [], "agrees"),
    ],
)
def test_most_answers_must_agree_over_a_hundred_tokens(
    parted: list[Number], whole: list[int], reading: str | None
) -> None:
    found = result(compared(agreement(parted, whole)), "output-agreement")
    assert found.reading == reading
    assert found.state == ("judged" if reading else "insufficient")
    assert found.key == "output-agreement B against=A"


def test_what_agrees_to_its_end_is_a_bound() -> None:
    found = result(compared(agreement([], [128, 300])), "output-agreement")
    assert (found.value, found.unit, found.quotable) == (300, "tokens", "bound")
    assert "2 of 2 answers agree to their end, up to 300 tokens" in (found.arithmetic or "")


def test_answers_too_short_to_tell_are_said_to_be_so() -> None:
    found = result(compared(agreement([9.0], [32, 32])), "output-agreement")
    assert found.reason == (
        "needs longer answers (common prefix 9 tokens; 2 of 3 answers agree to their end, up to "
        "32 tokens; 1 of 3 part within 100 tokens)"
    )


def test_sampled_answers_are_not_compared() -> None:
    for temperature in (0.7, None):
        v = compared(agreement([3.0], []), two_arms(temperature=temperature))
        assert not [c for c in v.checks if c.check == "output-agreement"]


def test_another_model_says_something_else() -> None:
    arms = {
        name: ArmObservation(identity={"model_sha256": digest})
        for name, digest in zip("AB", "01", strict=True)
    }
    v = compared(agreement([3.0], []), arms=arms)
    assert not [c for c in v.checks if c.check == "output-agreement"]


def test_the_acceptance_of_one_drafter_moves_only_with_the_target() -> None:
    found = result(compared(agreement([], [32], [0.38, 0.77])), "output-agreement")
    assert found.reading == "diverges"
    assert "acceptance 0.38 and 0.77" in (found.arithmetic or "")
    steady = result(compared(agreement([], [32], [0.76, 0.77])), "output-agreement")
    assert (steady.reading, steady.caveats) == (
        "agrees",
        ["too few answers are long enough to tell"],
    )
    more = two_arms({"engine": {"flags": {"draft-max": 8}}})
    other = result(compared(agreement([], [32], [0.38, 0.77]), more), "output-agreement")
    assert other.state == "insufficient", "another number of drafts has another acceptance"


def test_an_arm_is_compared_with_its_control() -> None:
    study = spec(
        workload={"sampling": {"temperature": 0}},
        arms=[{"id": "A"}, {"id": "B"}, {"id": "C", "control_for": "B"}],
    )
    pairs = [("A", "B"), ("A", "C"), ("B", "C")]
    every = [Agreement(arms=list(pair), whole_tokens=[200]) for pair in pairs]
    v = verdicts(study, Observations(origin="run", agreement=every))
    keys = [c.key for c in v.checks if c.check == "output-agreement"]
    assert keys == ["output-agreement B against=C", "output-agreement C against=A"]


# -- hypotheses


@pytest.mark.parametrize(
    ("text", "verdict"), [(SANE, "supported"), (CIRCLES, "supported"), (MARKS, "invalid")]
)
def test_the_rate_of_a_broken_model_supports_nothing(text: Text, verdict: str) -> None:
    test = {"metric": "aggregate_tok_s", "relation": ">=", "value": 1}
    shape = {"check": "completion-shape", "expect": "parallel"}
    claims = [hypothesis("H1", test=test), hypothesis("H2", test=shape)]
    v = judged(*steps(text, text), hypotheses=claims)
    assert [h.verdict for h in v.hypotheses] == [verdict, "supported"]


def test_a_claim_on_the_answers_can_be_tested_in_a_run() -> None:
    claims = [
        hypothesis("H1", test={"check": "output-sanity", "at": {"arm": "main"}, "expect": "sane"}),
        hypothesis("H2", test={"check": "output-sanity", "expect": "degenerate"}),
    ]
    v = judged(*steps(MARKS, MARKS), hypotheses=claims)
    assert [h.verdict for h in v.hypotheses] == ["refuted", "supported"]
