"""Findings as workflow commands of GitHub Actions, which shows them beside the changed lines.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from collections.abc import Iterable

from benchspec.lint.finding import Finding
from benchspec.lint.linter import LintResult

_LEVELS = {"error": "error", "warning": "warning", "info": "notice"}


def render(results: Iterable[LintResult]) -> str:
    """One command a line; waived findings are left out."""
    found = (finding for result in results for finding in result.findings)
    return "\n".join(_command(finding) for finding in found if finding.waived is None)


def _command(finding: Finding) -> str:
    properties = {
        "file": finding.path,
        "line": str(finding.line),
        "col": str(finding.column),
        "title": f"{finding.code} {finding.name}",
    }
    stated = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    message = _data(f"{finding.message}\nhelp: {finding.help}")
    return f"::{_LEVELS[finding.severity]} {stated}::{message}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
