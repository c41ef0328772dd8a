"""Whole outputs against golden files: `BENCHSPEC_GOLDEN=write pytest tests/lint` writes them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from benchspec.lint.linter import LintResult, lint
from benchspec.lint.output import github, sarif, text
from benchspec.lint.output import json as json_output
from benchspec.lint.rules import ALL
from benchspec.spec.source import parse

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="module")
def result() -> LintResult:
    return lint(parse((GOLDEN / "findings.yaml").read_bytes(), "study.yaml"))


def same_as_golden(name: str, got: str) -> None:
    path = GOLDEN / name
    if os.environ.get("BENCHSPEC_GOLDEN") == "write":
        path.write_text(got, "utf-8")
    assert got == path.read_text("utf-8")


def test_text(result: LintResult) -> None:
    same_as_golden("findings.txt", f"{text.render(result)}\n\n{text.summary([result])}\n")


def test_json(result: LintResult) -> None:
    data = json_output.as_data([result])
    same_as_golden("findings.json", json.dumps(data, ensure_ascii=False, indent=2) + "\n")


def test_carets_stand_under_wide_characters() -> None:
    source = 'benchspec: 1\nstudy: {title: 三张卡, questions: "?"}\n'
    got = text.render(lint(parse(source.encode(), "s.yaml"))).split("\n")
    head = next(i for i, row in enumerate(got) if row.startswith("error[BS001]"))
    line = head + 2
    # Three wide characters take six cells, so the caret stands three columns further right.
    column = got[line].index("questions")
    assert got[line + 1].index("^") == column + 3


def test_control_sequences_of_a_spec_do_not_reach_the_terminal() -> None:
    source = 'benchspec: 1\nstudy: {title: t, "\\e[31mred": 1, "\\u202eevil": 2}\n'
    got = text.render(lint(parse(source.encode(), "s\x1b[2J.yaml")))
    assert "\x1b" not in got and "\u202e" not in got


def test_a_very_long_line_is_cut_around_the_place() -> None:
    source = f"benchspec: 1\nstudy: {{title: {'x' * 5000}, questions: 1}}\n"
    got = text.render(lint(parse(source.encode(), "s.yaml")))
    assert max(map(len, got.split("\n"))) < 400
    assert "questions" in got


def test_github(result: LintResult) -> None:
    same_as_golden("findings.github", github.render([result]) + "\n")


def test_github_escapes_what_would_end_a_command() -> None:
    source = 'benchspec: 1\nstudy: {title: t, "a%::b\\n,c": 1}\n'
    got = github.render([lint(parse(source.encode(), "a,b:c.yaml"))])
    assert "\n" not in got.split("::error", 2)[1].rstrip("\n")
    assert "file=a%2Cb%3Ac.yaml" in got


def test_sarif(result: LintResult) -> None:
    data = sarif.as_data([result])
    (run,) = data["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert data["version"] == "2.1.0" and len(rules) == len(ALL)
    assert [rules[r["ruleIndex"]]["id"] for r in run["results"]] == [
        r["ruleId"] for r in run["results"]
    ]
    waived = [r for r in run["results"] if "suppressions" in r]
    assert [r["suppressions"][0]["justification"] for r in waived] == [
        "the machine has memory to spare"
    ]
    for found, finding in zip(run["results"], result.findings, strict=True):
        region = found["locations"][0]["physicalLocation"]["region"]
        assert (region["startLine"], region["startColumn"]) == (finding.line, finding.column)
        assert (region["endLine"], region["endColumn"]) > (
            region["startLine"],
            region["startColumn"],
        )


def test_sarif_names_files_as_uris() -> None:
    document = parse(b"benchspec: 1\nstudy: {}\n", "a folder/spec.yaml")
    found = sarif.as_data([lint(document)])["runs"][0]["results"][0]
    uri = found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "a%20folder/spec.yaml"
