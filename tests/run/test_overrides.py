"""Overrides: a code and a reason, and what they leave on the verdicts."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchspec.errors import UsageError
from benchspec.run.prepare import SpecRefused, parse_overrides, prepare
from benchspec.run.resolved import affected
from benchspec.spec.source import parse
from tests.run.specs import BASE


def test_by_code_or_by_name() -> None:
    assert parse_overrides(["BS201=a pilot", "auto-fit-on = b "]) == {
        "BS201": "a pilot",
        "BS301": "b",
    }


@pytest.mark.parametrize("text", ["BS201", "BS201=", "BS000=x", "nonsense=x", "BS001=x", "=x"])
def test_not_an_override(text: str) -> None:
    with pytest.raises(UsageError):
        parse_overrides([text])


def test_a_spec_is_refused_until_every_error_is_overridden() -> None:
    document = parse((BASE + "load: {concurrency: [1, 2]}\n").encode(), "spec.yaml")
    with pytest.raises(SpecRefused) as refusal:
        prepare(document, Path(), {})
    codes = {finding.code for finding in refusal.value.result.errors}
    assert "BS201" in codes
    with pytest.raises(SpecRefused):
        prepare(document, Path(), {"BS201": "a pilot"})
    prepared = prepare(document, Path(), dict.fromkeys([*codes, "BS505"], "a pilot"))
    assert prepared.overrides == dict.fromkeys(codes, "a pilot"), "only what was needed"


def finding(code: str, *affects: str, waived: str | None = None) -> dict[str, object]:
    return {"code": code, "affects": list(affects), "waived": waived}


def test_affected_are_the_hypotheses_of_all_findings_of_a_code() -> None:
    resolved = {
        "findings": [finding("BS201", "H1"), finding("BS201", "H2", "H1"), finding("BS505", "H3")]
    }
    assert affected(resolved, ["BS201"]) == {"BS201": ["H1", "H2"]}


def test_a_finding_that_names_none_affects_all() -> None:
    resolved = {"findings": [finding("BS201", "H1"), finding("BS201")]}
    assert affected(resolved, ["BS201"]) == {"BS201": []}


def test_a_waived_finding_is_not_overridden() -> None:
    resolved = {"findings": [finding("BS201", "H1"), finding("BS201", "H2", waived="known")]}
    assert affected(resolved, ["BS201"]) == {"BS201": ["H1"]}
