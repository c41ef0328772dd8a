"""The list of what was not finished."""

from __future__ import annotations

from typing import Any

from benchspec.judge.result import Unfinished
from benchspec.observations.model import Series, Step
from tests.judge.published import four_slots
from tests.judge.world import burst, hypothesis, seen, spec, sweep, verdicts


def kinds(lines: list[Unfinished]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in lines:
        found.setdefault(line.kind, []).append(line.text)
    return found


def test_the_published_plateau_leaves_its_questions() -> None:
    lines = kinds(verdicts(*four_slots()).unfinished)
    assert "no step above 4 slots ran in parallel" in lines["within-slots"][0]
    assert "An arm with 8 slots at C=8 answers it" in lines["within-slots"][0]
    assert "from 48.2 to 74.8 ms between C=2 and C=4" in lines["jump"][0]
    assert "fewer than three runs at C=1, C=2, C=4, C=8" in lines["single-run"][0]


def test_a_sweep_that_ends_within_the_slots() -> None:
    lines = kinds(verdicts(spec(), seen(*sweep("main", 4, (1, 4)), slots={"main": 4})).unfinished)
    assert "ends at C=4, within its 4 slots" in lines["within-slots"][0]


def test_an_arm_with_more_slots_answers_for_one_with_fewer() -> None:
    study = spec(arms=[{"id": "one"}, {"id": "four"}])
    steps = [*sweep("one", 1, (1, 4)), *sweep("four", 4, (1, 4, 8))]
    v = verdicts(study, seen(*steps, slots={"one": 1, "four": 4}))
    assert [u.arm for u in v.unfinished if u.kind == "within-slots"] == ["four"]


def test_everything_that_keeps_a_study_open_has_a_line() -> None:
    study = spec(
        load={"concurrency": [1, 4, 8]},
        repeats=3,
        hypotheses=[
            hypothesis(test={"metric": "itl_ms.p99", "at": {"concurrency": 4}, "relation": "<"})
        ],
        unfinished=["one machine"],
        waivers=[{"rule": "BS505", "reason": "a pilot"}],
    )
    steps = [
        *sweep("main", 4, (1,)),
        *sweep("main", 4, (4,), repeats=2),
        burst("main", 4, 4, repeat=3, state="aborted", reason="the engine hangs"),
    ]
    series = [
        Series(counter="nvlink", unit="MB/s", device="gpu0", not_measured="the driver says N/A")
    ]
    found = kinds(
        verdicts(
            study,
            seen(*steps, slots={"main": 4}, series=series),
            overrides={"BS201": "known"},
            notes=[Unfinished(kind="note", text="from the run")],
        ).unfinished
    )
    expected: dict[str, Any] = {
        "author": "one machine",
        "not-run": "C=8: no repeat was run",
        "aborted": "C=4, repeat 3 aborted: the engine hangs",
        "inconclusive": "H1 is inconclusive",
        "not-measured": "nvlink of gpu0 was not measured: the driver says N/A",
        "insufficient": "needs processor time",
        "single-run": "fewer than three runs at C=4",
        "waiver": "BS505 was waived: a pilot",
        "override": "BS201 was overridden: known",
        "note": "from the run",
    }
    for kind, words in expected.items():
        assert any(words in text for text in found[kind]), (kind, found.get(kind))


def test_every_line_is_a_sentence() -> None:
    for line in verdicts(*four_slots()).unfinished:
        assert line.text[0].isupper() or line.check, line
        assert line.text.endswith((".", "given"))


def test_what_one_check_leaves_of_an_arm_is_one_line() -> None:
    devices = [{"id": "gpu0", "memory_bandwidth": "1000 GB/s"}]
    study = spec(model={"bytes_per_token": "10 GB"}, hardware={"devices": devices})
    rates = {1: 20.0, 2: 15.0, 8: 95.0}
    steps = [Step(arm="main", concurrency=c, decode_tok_s=rate) for c, rate in rates.items()]
    (line,) = kinds(verdicts(study, seen(*steps)).unfinished)["remainder"]
    assert line.startswith("bandwidth-ceiling main C=1: 80 % stays unexplained (10 GB per pass;")
    assert line.endswith("; at C=2 85 %. A profile of where that time goes would tell.")
