"""Specs that published measurements amount to: what the linter would have said before the run."""

from __future__ import annotations

import pytest

from tests.lint.specs import HERE, described, found, linted, over_base

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


def message(text: str, code: str) -> str:
    (finding,) = [finding for finding in linted(text).findings if finding.code == code]
    return finding.message


def test_a_target_beyond_the_memory_prints_its_division() -> None:
    """A laptop of 265-315 GB/s that is to decode 125 tok/s of 1.849 GB each."""
    text = over_base(
        "model: {name: 35B, source: served, parameters: {total: 35e9, active: 3e9},"
        " bytes_per_token: 1.849 GB}\n"
        "hardware: {devices: [{id: gpu0, name: M1 Max, memory_bandwidth: 265..315 GB/s}]}\n"
        "hypotheses: [{id: H1, claim: c, test: {metric: stream_tok_s, at: {concurrency: 1},"
        ' relation: ">=", value: 125 tok/s}}]\n'
    )
    assert message(text, "BS105") == (
        "125 tok/s x 1.849 GB = 231 GB/s = 73-87 % of 265-315 GB/s; such a decode is known to reach "
        "65 %."
    )


def test_a_measured_bandwidth_above_the_datasheet_prints_its_division() -> None:
    text = over_base(
        "hardware: {devices: [{id: gpu0, name: V100, memory_bandwidth: 1004 GB/s, source: measured,"
        " datasheet_bandwidth: 900 GB/s}]}\n"
    )
    assert message(text, "BS411").startswith("1004 GB/s / 900 GB/s = 1.12:")


def test_a_size_in_the_wrong_unit_prints_its_division() -> None:
    text = over_base(
        "model: {name: m, source: served, parameters: {total: 320e9, active: 18e9},"
        " bits_per_weight: 3.01, size: 112.1 GB}\n"
    )
    assert "320e9 x 3.01 / 8 = 120 GB" in message(text, "BS601")
