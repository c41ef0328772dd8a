"""Lines that people have posted, linted bare: what is found, and in words that a person can read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from benchspec.cli import new
from benchspec.errors import UsageError
from benchspec.knowledge.engines import parse_command
from benchspec.lint.bare_command import lint_command
from benchspec.lint.linter import lint
from benchspec.lint.output import text
from benchspec.spec.source import parse

FIXTURE = Path(__file__).parents[1] / "knowledge" / "fixtures" / "posted-command-lines.yaml"
CASES: list[dict[str, Any]] = yaml.load(FIXTURE.read_text(encoding="utf-8"), yaml.CSafeLoader)

# Errors that stay in a spec written from a line: the line really asks for this, and only a person
# can say what else is meant.
LEFT_TO_A_PERSON = {
    "BS301",  # `-fit on` is written out
    "BS304",  # `-sm row`
    "BS307",  # a draft model without --spec-type
    "BS325",  # sleeps when idle, or routes
    "BS704",  # a placeholder
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_a_posted_line_has_the_findings_that_it_has(case: dict[str, Any]) -> None:
    if "findings" not in case:
        with pytest.raises(UsageError):
            lint_command(case["command"])
        return
    result = lint_command(case["command"])
    assert [f"{f.code} {f.severity}" for f in result.findings] == case["findings"]
    for finding in result.findings:
        assert finding.message.endswith((".", "…")) and "\n" not in finding.message
        assert len(finding.message) < 400 and finding.help
    text.render(result)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_new_writes_a_spec_that_says_what_is_left(case: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    kind = ["--engine", case["kind"]] if "kind" in case else []
    arguments = [str(path), "--from-command", case["command"], "--json", *kind]
    done = CliRunner().invoke(new.command, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    to_do = "\n".join(json.loads(done.stdout)["to_do"])
    result = lint(parse(path.read_bytes(), "spec.yaml"))
    assert result.spec is not None
    assert {finding.code for finding in result.errors} <= LEFT_TO_A_PERSON
    for finding in result.findings:
        assert finding.message in to_do
    for problem in parse_command(case.get("kind"), case["command"]).problems:
        assert problem.text in to_do
