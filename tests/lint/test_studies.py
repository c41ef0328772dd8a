"""Specs that published measurements amount to: what the linter would have said before the run."""

from __future__ import annotations

import pytest

from tests.lint.specs import HERE, described, found, linted

A = (HERE / "studies" / "a.yaml").read_text("utf-8")
C = (HERE / "studies" / "c.yaml").read_text("utf-8")


def codes(text: str) -> set[str]:
    return {finding.name for finding in linted(text).findings}


def test_three_cards_at_a_third_is_refused() -> None:
    result = linted(A)
    names = {finding.name for finding in result.errors}
    assert {
        "slots-undeclared",
        "auto-fit-on",
        "evidence-not-collected",
        "single-run",
    } <= names, described(result)


def test_the_published_all_reduce_study_is_clean_but_for_what_its_counter_can_see() -> None:
    assert found(linted(C)) == {("warning", "BS403", 75): 1}, described(linted(C))


@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        ('    fit: "off"\n', "", "auto-fit-on"),
        ('    fit: "off"\n', "", "auto-tuned-arms"),
        ('    fit: "off"\n', '    fit: "on"\n', "auto-fit-on"),
        ("{sm: layer}", "{sm: row}", "dead-value"),
        ("pcie: mean", "pcie: median", "median-on-bursty"),
        (
            "{sm: tensor}, env: {GGML_CUDA_ALLREDUCE: internal}",
            "{sm: tensor}",
            "allreduce-unstated",
        ),
        ("  idle_baseline: 8 s\n", "", "no-idle-baseline"),
        ("repeats: 3\n", "", "single-run"),
        ("    workload: {label: {speculation: mtp k=3}}\n", "", "label-contradicts-engine"),
    ],
)
def test_each_slip_of_that_study_has_its_own_finding(before: str, after: str, name: str) -> None:
    changed = C.replace(before, after)
    assert changed != C
    assert name in codes(changed) - codes(C)
