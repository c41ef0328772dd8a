"""YAML's syntax errors in words that name the usual cause."""

from __future__ import annotations

import yaml

from benchspec.spec.problems import shown

_CAUSES = (
    (
        "mapping values are not allowed",
        "a second `: ` on this line, where no key can stand",
        "quote text that holds a colon followed by a space; indent keys alike",
    ),
    (
        "could not find expected ':'",
        "a key without a colon, or text that continues on a line less indented",
        "write `key: value`, and quote text that runs over several lines",
    ),
    (
        "did not find expected key",
        "the indentation changes here without a new key, or a quote or bracket ended early",
        "align the keys of one map in one column",
    ),
    (
        "did not find expected ',' or",
        "a list or map in brackets is not closed, or a comma is missing",
        "close it, and quote text that holds a comma, a bracket or a brace",
    ),
    (
        "did not find expected '-' indicator",
        "a list item does not start with `- ` in the column of the others",
        "align the items of one list",
    ),
    ("found unexpected end of stream", "a quote is never closed", "close the quote"),
    (
        "exceeded maximum nesting depth",
        "brackets are nested too deep",
        "a spec needs about six levels",
    ),
    (
        "unexpected ':'",
        "a colon stands inside unquoted text in brackets",
        "quote the text, or put a space after the colon of a key",
    ),
)


def explain(error: yaml.MarkedYAMLError, text: str) -> tuple[int, int, str, str]:
    """(line, column, what is wrong, what to do) for a syntax error in `text`; 1-based.

    What is never closed is shown where it opens.
    """
    problem = error.problem or error.context or "unknown"
    unclosed = "end of stream" in problem or "',' or" in problem
    marks = (error.problem_mark, error.context_mark)
    mark = next((mark for mark in marks[:: -1 if unclosed else 1] if mark is not None), None)
    line, column = (mark.line, mark.column) if mark is not None else (0, 0)
    if "cannot start any token" in problem:
        return line + 1, column + 1, *_bad_start(_character(text, line, column))
    for part, message, hint in _CAUSES:
        if part in problem:
            return line + 1, column + 1, message, hint
    message = f"this is not YAML: {shown(problem, 200)}"
    return line + 1, column + 1, message, "check quotes, brackets and indentation"


def _character(text: str, line: int, column: int) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[line][column : column + 1] if line < len(lines) else ""


def _bad_start(character: str) -> tuple[str, str]:
    if character == "\t":
        return "a tab stands where YAML wants spaces", "indent with spaces"
    return f"text cannot start with `{shown(character)}`", "put the text in quotes"
