"""How verify compares: figures, not wording; the first difference by its place."""

from __future__ import annotations

import pytest

from benchspec.judge.result import CheckResult, HypothesisResult, Input, Verdicts
from benchspec.run import differences


@pytest.mark.parametrize(
    ("recorded", "true", "where"),
    [
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 2}]}, None),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, "a[1].b is 2, should be 3"),
        ({}, {"a": 1}, "a is absent, should be 1"),
        ({"a": 1}, {}, "a is 1, should be absent"),
        ({"a": [1]}, {"a": [1, 2]}, "a is [1], should be [1, 2]"),
        ({"a": 1.0000000001}, {"a": 1.0}, None),
        ({"a": 1.0001}, {"a": 1.0}, "a is 1.0001, should be 1.0"),
        ({"a": "\x1b[2J"}, {"a": ""}, "a is '\\x1b[2J', should be ''"),
        ({"a": True}, {"a": 1.0}, None),
    ],
)
def test_the_first_difference(recorded: object, true: object, where: str | None) -> None:
    assert differences.difference(recorded, true) == where


def verdicts(benchspec: str = "0.1.0", *, value: float = 1.0, **check: str) -> Verdicts:
    return Verdicts(
        benchspec=benchspec,
        study="T",
        spec_sha256="0" * 64,
        hypotheses=[
            HypothesisResult(
                id="H1", claim="c", verdict="supported", reason="r", checks=["queueing A"]
            )
        ],
        checks=[
            CheckResult(
                check="queueing",
                arm="A",
                state="judged",
                value=value,
                inputs=[Input(name="T(4)", value=2.0)],
                **check,
            )
        ],
    )


def mismatches(recorded: Verdicts, true: Verdicts) -> list[str]:
    return [one.text for one in differences.verdict_mismatches("verdicts.json", recorded, true)]


def test_other_wording_is_no_mismatch() -> None:
    assert mismatches(verdicts(arithmetic="1 / 1 = 1"), verdicts(arithmetic="one")) == []


def test_another_value_is_one() -> None:
    (text,) = mismatches(verdicts(value=1.1), verdicts())
    assert text == "Check queueing A is not what is judged: value is 1.1, should be 1.0."


def test_a_newer_judge_may_know_more_checks_but_not_fewer() -> None:
    more = verdicts("0.2.0")
    more = more.model_copy(
        update={"checks": [*more.checks, CheckResult(check="scaling", state="judged")]}
    )
    assert mismatches(verdicts("0.1.0"), more) == []
    assert len(mismatches(verdicts("0.2.0"), more)) == 1
    assert len(mismatches(more, verdicts("0.3.0"))) == 1


def test_a_check_that_moved_names_the_hypothesis_that_rests_on_it() -> None:
    assert differences.moved_hypotheses(verdicts(value=2.0), verdicts()) == ["H1"]
    assert differences.moved_hypotheses(verdicts(), verdicts()) == []
