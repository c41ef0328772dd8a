"""What was registered against what was found."""

from __future__ import annotations

from typing import Any

import pytest

from benchspec.judge.result import HypothesisResult
from benchspec.observations.model import ArmObservation, LogLine, Observations, Quiet, Setting, Step
from tests.judge.world import burst, hypothesis, result, seen, spec, sweep, verdicts

WAIT = {
    "metric": "wall_s",
    "at": {"concurrency": 4},
    "over": {"concurrency": 1},
    "relation": ">=",
    "value": 2,
}
"""Four requests take at least twice as long as one."""


def judged(test: dict[str, Any], *steps: Step, **rest: Any) -> HypothesisResult:
    study = spec(hypotheses=[hypothesis(test=test, **rest)])
    return verdicts(study, seen(*steps, slots={"main": 4})).hypotheses[0]


def walls(*seconds: float, arm: str = "main", concurrency: int = 1) -> list[Step]:
    return [
        Step(arm=arm, concurrency=concurrency, repeat=i, wall_s=s) for i, s in enumerate(seconds, 1)
    ]


def below(limit: float | str, **rest: Any) -> dict[str, Any]:
    return {"metric": "wall_s", "relation": "<=", "value": limit, **rest}


# -- thresholds and repeats


def test_three_repeats_on_one_side_decide() -> None:
    h = judged(WAIT, *sweep("main", 1, (1, 4)))
    assert h.verdict == "supported"
    assert h.value == pytest.approx(4.0)
    assert (h.n, h.unit) == (3, "ratio")
    assert "2.52 / 0.63 = 4" in (h.arithmetic or "")
    assert judged(WAIT, *sweep("main", 4, (1, 4), token_s=lambda _: 0.02)).verdict == "refuted"


def test_repeats_on_both_sides_do_not() -> None:
    h = judged(below(10), *walls(9, 10, 11))
    assert (h.verdict, h.value) == ("inconclusive", 10)
    assert h.range is not None
    assert (h.range.low, h.range.high) == (9, 11)


@pytest.mark.parametrize("count", [1, 2])
def test_below_three_repeats_a_rate_decides_nothing(count: int) -> None:
    h = judged(below(10), *walls(*[5.0] * count))
    assert h.verdict == "inconclusive"
    assert f"{count} of the 3 repeats" in h.reason


def test_a_shape_needs_one_repeat() -> None:
    test = {"check": "completion-shape", "at": {"concurrency": 4}, "expect": "staircase"}
    assert judged(test, burst("main", 4, 1)).verdict == "supported"
    h = judged(test, burst("main", 4, 4))
    assert (h.verdict, h.readings) == ("refuted", ["parallel"])


def test_repeats_divide_within_themselves() -> None:
    slow = [s.model_copy(update={"wall_s": s.wall_s * s.repeat}) for s in sweep("main", 1, (1, 4))]  # type: ignore[operator]
    h = judged(WAIT, *slow)
    assert h.verdict == "supported"
    assert h.value == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("relation", "value", "verdict"),
    [
        (">=", 10, "supported"),
        (">", 10, "inconclusive"),
        ("<", 10, "refuted"),
        ("<=", 12, "supported"),
        ("==", "10..12", "supported"),
        ("==", 20, "refuted"),
        (">=", "11..13", "inconclusive"),
        ("<=", "9999 ms", "refuted"),
    ],
)
def test_relations_between_intervals(relation: str, value: Any, verdict: str) -> None:
    test = {"metric": "wall_s", "relation": relation, "value": value}
    assert judged(test, *walls(10, 11, 12)).verdict == verdict


def test_equal_means_within_the_margin() -> None:
    def verdict(margin: Any) -> str:
        test = {"metric": "wall_s", "relation": "==", "value": 10, "margin": margin}
        return judged(test, *walls(9.6, 10, 10.4)).verdict

    assert [verdict("5 %"), verdict(0.4), verdict(0.1)] == [
        "supported",
        "supported",
        "inconclusive",
    ]


def test_a_value_of_another_dimension_is_named() -> None:
    h = judged(below("10 GB/s"), *walls(1, 1, 1))
    assert h.verdict == "inconclusive"
    assert "cannot be used" in h.reason


# -- at and over


def test_what_at_leaves_out_must_hold_everywhere() -> None:
    steps = [*walls(5, 5, 5), *walls(20, 20, 20, concurrency=4)]
    assert judged(below(10), *steps).verdict == "refuted"
    assert judged(below(10, at={"concurrency": 1}), *steps).verdict == "supported"


def test_over_inherits_from_at() -> None:
    arms = [{"id": "A"}, {"id": "B"}]
    test = below(0.6, at={"arm": "B"}, over={"arm": "A"})
    study = spec(arms=arms, hypotheses=[hypothesis(test=test)])
    steps = [
        *walls(10, 11, 12, arm="A", concurrency=1),
        *walls(5, 5.5, 6, arm="B", concurrency=1),
        *walls(20, 22, 24, arm="A", concurrency=4),
        *walls(10, 11, 12, arm="B", concurrency=4),
    ]
    h = verdicts(study, seen(*steps)).hypotheses[0]
    assert (h.verdict, h.value) == ("supported", 0.5)


def materials(*others: str) -> dict[str, Any]:
    """Arms that differ in what their label says of the prompts."""
    labels = {"A": "english-prose", **dict.fromkeys(others, "code")}
    return {
        "arms": [
            {"id": arm, "workload": {"label": {"material": material}}}
            for arm, material in labels.items()
        ]
    }


def test_in_a_run_a_material_is_that_of_an_arms_label() -> None:
    steps = [*walls(10, 10, 10, arm="A"), *walls(4, 4, 4, arm="B")]
    tests = [
        below(5, at={"material": "code"}),
        below(0.5, at={"material": "code"}, over={"material": "english-prose"}),
        {"check": "aggregate", "at": {"material": "code"}, "expect": "rate"},
        below(5, at={"material": "poems"}),
    ]
    claims = [hypothesis(f"H{n}", test=test) for n, test in enumerate(tests)]
    timed = [s.model_copy(update={"aggregate_tok_s": 9.0}) for s in steps]
    v = verdicts(spec(hypotheses=claims, **materials("B")), seen(*timed))
    assert [h.verdict for h in v.hypotheses] == ["supported"] * 3 + ["not-run"]
    assert v.hypotheses[1].value == 0.4
    assert v.hypotheses[2].checks == ["aggregate B C=1"]


def test_a_check_is_divided_by_that_of_another_material() -> None:
    test = {
        "check": "aggregate",
        "at": {"material": "code"},
        "over": {"material": "english-prose"},
        "relation": ">=",
        "value": 2,
    }
    study = spec(hypotheses=[hypothesis(test=test)], **materials("B"))
    steps = [
        step.model_copy(update={"aggregate_tok_s": rate})
        for arm, rate in (("A", 10.0), ("B", 25.0))
        for step in walls(10, 10, 10, arm=arm)
    ]
    h = verdicts(study, seen(*steps)).hypotheses[0]
    assert (h.verdict, h.value) == ("supported", 2.5)


def test_a_material_that_two_arms_have_is_nothing_to_divide_by() -> None:
    test = below(5, at={"arm": "A"}, over={"material": "code"})
    steps = [s for arm in "ABC" for s in walls(10, 10, 10, arm=arm)]
    study = spec(hypotheses=[hypothesis(test=test)], **materials("B", "C"))
    h = verdicts(study, seen(*steps)).hypotheses[0]
    assert (h.verdict, h.reason) == (
        "not-run",
        "no repeat of arm A, C=1, material=code was finished",
    )


def test_a_check_can_be_divided_by_itself_elsewhere() -> None:
    test = {
        "check": "aggregate",
        "at": {"concurrency": 4},
        "over": {"concurrency": 1},
        "relation": ">=",
        "value": 1.2,
    }
    h = judged(test, *sweep("main", 4, (1, 4)))
    assert h.verdict == "supported"
    assert "aggregate main C=4 / aggregate main C=1" in (h.arithmetic or "")


def test_the_value_of_a_check_can_be_bounded() -> None:
    test = {"check": "queueing", "relation": "==", "value": 1, "margin": 0.1}
    h = judged(test, *sweep("main", 4, (4, 8)))
    assert (h.verdict, h.checks) == ("supported", ["queueing main C=8"])


def test_a_percentile_is_one_of_the_requests() -> None:
    test = {"metric": "ttft_ms.p95", "relation": "<", "value": "1 s", "at": {"concurrency": 8}}
    assert judged(test, *sweep("main", 4, (8,))).verdict == "refuted"
    assert judged({**test, "metric": "ttft_ms"}, *sweep("main", 4, (8,))).verdict == "supported"


# -- what keeps a verdict away


def test_cells_that_were_not_run() -> None:
    study = spec(
        load={"concurrency": [1, 4]},
        hypotheses=[
            hypothesis("H1", test=WAIT),
            hypothesis(
                "H2", test={"check": "queueing", "at": {"concurrency": 4}, "expect": "queued"}
            ),
        ],
    )
    aborted = burst("main", 4, 1, state="aborted", reason="Ctrl-C")
    v = verdicts(study, seen(*sweep("main", 1, (1,)), aborted))
    assert [h.verdict for h in v.hypotheses] == ["not-run", "not-run"]


def test_an_unresolved_reading_refutes_nothing() -> None:
    test = {"check": "queueing", "at": {"concurrency": 8}, "expect": "queued"}
    steps = [Step(arm="main", concurrency=c, wall_s=4.0 * c) for c in (4, 8)]
    assert judged(test, *steps).verdict == "inconclusive"


def test_a_check_that_was_never_possible_says_what_it_needs() -> None:
    test = {"check": "effective-settings", "expect": "as-asked"}
    h = judged(test, *walls(1, 1, 1))
    assert h.verdict == "inconclusive"
    assert "needs the settings asked for and those found" in h.reason


def test_disturbed_repeats_invalidate_when_too_few_are_left() -> None:
    def verdict(disturbed: int, of: int) -> str:
        steps = [
            s.model_copy(update={"quiet": Quiet(foreign_share=0.5 if s.repeat <= disturbed else 0)})
            for s in walls(*[5.0] * of)
        ]
        return judged(below(10), *steps).verdict

    assert [verdict(1, 4), verdict(1, 3), verdict(3, 3)] == ["supported", "invalid", "invalid"]


@pytest.mark.parametrize("found", [1, None])
def test_an_engine_that_did_not_do_as_asked_invalidates_rates_not_shapes(found: int | None) -> None:
    log = [] if found else [LogLine(effect="refused", setting="parallel", text="no")]
    arm = ArmObservation(
        settings=[
            Setting(name="parallel", asked=4, found=found),
            Setting(name="x", asked=1, found=1),
        ],
        log=log,
        slots=1,
    )
    study = spec(
        hypotheses=[
            hypothesis("H1", test=WAIT),
            hypothesis("H2", test={"check": "completion-shape", "expect": "staircase"}),
            hypothesis("H3", test={"check": "effective-settings", "expect": "as-asked"}),
        ]
    )
    observed = Observations(arms={"main": arm}, steps=sweep("main", 1, (1, 4)))
    v = verdicts(study, observed)
    assert [h.verdict for h in v.hypotheses] == ["invalid", "supported", "refuted"]


# -- predictions, gates, what rests on what


def test_prediction_and_error() -> None:
    h = judged(WAIT, *sweep("main", 1, (1, 4)), prediction=5)
    assert h.predicted == 5
    assert h.prediction_error == pytest.approx(-0.2)


@pytest.mark.parametrize(
    ("seconds", "reading"),
    [((5, 5, 5), "triggered"), ((20, 20, 20), "not-triggered"), ((5, 20, 20), "undecided")],
)
def test_a_gate_needs_the_whole_interval(seconds: tuple[float, ...], reading: str) -> None:
    h = judged(below(10), *walls(*seconds), gate={"then": "stop", "cost": "one evening"})
    assert h.gate is not None
    assert (h.gate.reading, h.gate.then, h.gate.cost) == (reading, "stop", "one evening")


def test_what_rests_on_a_refuted_hypothesis_is_withdrawn_however_far_down() -> None:
    study = spec(
        hypotheses=[
            hypothesis("H1", test=below(1)),
            hypothesis("H2", test=below(10), rests_on=["H1"]),
            hypothesis("H3", test=below(10), rests_on=["H2"]),
            hypothesis("H4", test=below(10)),
        ]
    )
    v = verdicts(study, seen(*walls(5, 5, 5)))
    assert [h.verdict for h in v.hypotheses] == [
        "refuted",
        "inconclusive",
        "inconclusive",
        "supported",
    ]
    assert [h.withdrawn_by for h in v.hypotheses] == [[], ["H1"], ["H2"], []]
    assert [u.hypothesis for u in v.unfinished if u.kind == "withdrawn"] == ["H2", "H3"]


def test_a_circle_of_explanations_ends() -> None:
    study = spec(
        hypotheses=[
            hypothesis("H1", test=below(10), rests_on=["H2"]),
            hypothesis("H2", test=below(1), rests_on=["H1"]),
        ]
    )
    v = verdicts(study, seen(*walls(5, 5, 5)))
    assert [h.withdrawn_by for h in v.hypotheses] == [["H2"], ["H1"]]


def test_exploratory_hypotheses_get_no_verdict() -> None:
    h = judged(below(10), *walls(5, 5, 5), exploratory=True)
    assert (h.verdict, h.exploratory, h.value) == ("inconclusive", True, 5)


def test_overrides_make_the_affected_inadmissible_and_not_quotable() -> None:
    study = spec(
        hypotheses=[hypothesis("H1", test=WAIT), hypothesis("H2", test=below(10))],
    )
    v = verdicts(
        study,
        seen(*sweep("main", 1, (1, 4))),
        overrides={"BS201": "slots are in the log"},
        affected={"BS201": ["H1"]},
    )
    assert not v.admissible
    assert [(h.admissible, h.overridden) for h in v.hypotheses] == [(False, ["BS201"]), (True, [])]
    assert result(v, "aggregate", concurrency=4).quotable == "no"
    assert [u.kind for u in v.unfinished if u.kind == "override"] == ["override"]
    everything = verdicts(study, seen(), overrides={"BS501": "why not"})
    assert [h.admissible for h in everything.hypotheses] == [False, False]
