"""Asked against found."""

from __future__ import annotations

from typing import Any

import pytest

from benchspec.judge.checks.effective_settings import same
from benchspec.judge.result import CheckResult
from benchspec.observations.model import (
    ArmObservation,
    LogLine,
    Observations,
    Series,
    Setting,
    Step,
)
from tests.judge.published import all_reduce, serial_engine
from tests.judge.world import result, spec, sweep, verdicts


def judged(arm: ArmObservation, *steps: Step, **sections: Any) -> CheckResult:
    observed = Observations(arms={"main": arm}, steps=list(steps))
    return result(verdicts(spec(**sections), observed), "effective-settings")


def asked(name: str, wanted: object, found: object) -> Setting:
    return Setting.model_validate({"name": name, "asked": wanted, "found": found})


def test_found_as_asked_has_the_slots_as_value_and_one_input_per_setting() -> None:
    arm = ArmObservation(
        settings=[asked("parallel", 4, 4), asked("fit", "off", "off")],
        slots=4,
        slots_source="/props",
    )
    r = judged(arm)
    assert (r.reading, r.value, r.unit) == ("as-asked", 4, "slots")
    assert [(i.name, i.asked, i.value) for i in r.inputs] == [
        ("parallel", 4, 4),
        ("fit", "off", "off"),
    ]


def test_a_changed_value_is_named() -> None:
    r = judged(ArmObservation(settings=[asked("ctx-size", 8192, 4096)]))
    assert r.reading == "changed"
    assert "ctx-size: asked 8192, found 4096" in (r.arithmetic or "")


def test_a_flag_refused_in_the_log_is_refused() -> None:
    r = result(verdicts(*serial_engine()), "effective-settings")
    assert r.reading == "refused"
    assert "not available for this hybrid architecture" in (r.arithmetic or "")


def test_a_refusal_of_something_not_asked_is_a_caveat() -> None:
    arm = ArmObservation(
        settings=[asked("parallel", 4, 4)],
        log=[LogLine(effect="ignored", setting="cache-idle-slots", text="needs a cache")],
    )
    r = judged(arm)
    assert (r.reading, r.caveats) == ("as-asked", ["log: needs a cache"])


def test_what_the_engine_changed_on_its_own_is_changed_though_nobody_asked() -> None:
    arm = ArmObservation(
        settings=[asked("parallel", 4, 4)],
        log=[LogLine(effect="changed", setting="ctx-size", text="context reduced")],
    )
    r = judged(arm)
    assert r.reading == "changed"
    assert "context reduced" in (r.arithmetic or "")


def test_a_line_about_speculation_concerns_whoever_asked_for_any_of_it() -> None:
    arm = ArmObservation(
        settings=[asked("parallel", 4, 4), asked("spec-draft-model", "draft.gguf", None)],
        log=[LogLine(effect="ignored", setting="spec-type", text="no speculation")],
    )
    assert judged(arm).reading == "refused"


def test_slots_that_serve_one_by_one_are_on_but_unused() -> None:
    arm = ArmObservation(settings=[asked("parallel", 4, 4)], slots=4)
    r = judged(arm, *sweep("main", 1, (1, 4)), engine={"kind": "llama.cpp", "flags": {"np": 4}})
    assert r.reading == "on-but-unused"
    assert "4 answers came one by one" in (r.arithmetic or "")


def test_a_path_that_nothing_takes_is_on_but_unused() -> None:
    study, observed = all_reduce()
    quiet = [
        s.model_copy(update={"mean": 30.0, "range": None})
        if (s.arm, s.counter) == ("C", "pcie-rx")
        else s
        for s in observed.series
    ]
    p2p = ArmObservation(settings=[asked("GGML_CUDA_P2P", 1, 1)])
    arms = {**observed.arms, "C": p2p}

    def reading(series: list[Series]) -> str | None:
        found = observed.model_copy(update={"series": series, "arms": arms})
        return result(verdicts(study, found), "effective-settings", arm="C").reading

    assert reading(observed.series) == "as-asked"
    assert reading(quiet) == "on-but-unused"


def test_what_cannot_be_read_back_is_never_assumed() -> None:
    partly = judged(ArmObservation(settings=[asked("parallel", 4, 4), asked("threads", 1, None)]))
    assert partly.caveats == ["could not be read back: threads"]
    nothing = judged(ArmObservation(settings=[asked("parallel", 4, None)]))
    assert (nothing.state, nothing.reading) == ("insufficient", None)


@pytest.mark.parametrize(
    ("wanted", "found", "equal"),
    [
        (8192, "8192", True),
        ("on", True, True),
        ("off", False, True),
        ("auto", 4, True),
        (-1, 4, True),
        ("q8_0", "q8_0", True),
        ("q8_0", "f16", False),
        (4, 1, False),
        ("on", "off", False),
        (1, True, True),
    ],
)
def test_values_are_equal_when_they_mean_the_same(
    wanted: str | int, found: str | int, equal: bool
) -> None:
    assert same(wanted, found) is equal
