"""Whole outputs against golden files: `BENCHSPEC_GOLDEN=write pytest tests/lint` writes them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from benchspec.lint.linter import LintResult, lint
from benchspec.lint.output import json as json_output
from benchspec.lint.output import text
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
