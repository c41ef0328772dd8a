"""What a waiver covers: by code or name, everywhere, for an arm, or at a path."""

from __future__ import annotations

import pytest

from tests.lint.specs import linted, over_base

TWO_ARMS = "arms:\n  - {id: A}\n  - {id: B, engine: {flags: {flash-attn: 'on'}}}\n"


def waived(waivers: str, arms: str = "") -> list[str | None]:
    result = linted(over_base(f"repeats: 1\n{arms}waivers: [{waivers}]\n"))
    return [f.waived for f in result.findings if f.code == "BS505"]


@pytest.mark.parametrize("rule", ["BS505", "single-run"])
def test_a_waiver_names_a_code_or_a_name(rule: str) -> None:
    assert waived(f"{{rule: {rule}, reason: pilot}}") == ["pilot"]


def test_a_waived_error_does_not_refuse_the_spec() -> None:
    result = linted(over_base("repeats: 1\nwaivers: [{rule: BS505, reason: pilot}]\n"))
    assert not result.errors
    assert [f.severity for f in result.findings if f.code == "BS505"] == ["error"]


def test_every_arm_that_a_finding_concerns_has_to_be_waived() -> None:
    one = "{rule: BS505, arm: A, reason: pilot}"
    both = f"{one}, {{rule: BS505, arm: B, reason: borrowed card}}"
    assert waived(one, TWO_ARMS) == [None]
    assert waived(both, TWO_ARMS) == ["pilot; borrowed card"]


def test_a_waiver_holds_at_its_path_only() -> None:
    assert waived("{rule: BS505, path: repeats, reason: pilot}") == ["pilot"]
    assert waived("{rule: BS505, path: load, reason: pilot}") == [None]


def test_a_rule_without_a_reason_is_not_waived() -> None:
    assert waived("{rule: BS505}") == [None]


@pytest.mark.parametrize("reason", ['""', '"  "', '"\\n"', "null"])
def test_blanks_are_no_reason(reason: str) -> None:
    result = linted(over_base(f"repeats: 1\nwaivers: [{{rule: BS505, reason: {reason}}}]\n"))
    assert {f.code for f in result.errors} == {"BS505", "BS901"}
