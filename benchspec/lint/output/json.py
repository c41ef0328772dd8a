"""Findings for programs: one versioned object; lines and columns count from 1."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchspec.lint.finding import Finding
from benchspec.lint.linter import LintResult

FORMAT_VERSION = 1


def as_data(results: Iterable[LintResult]) -> dict[str, Any]:
    """`{format_version, files: [{path, findings: [...]}]}`."""
    return {
        "format_version": FORMAT_VERSION,
        "files": [
            {"path": r.document.name, "findings": [_finding(f) for f in r.findings]}
            for r in results
        ],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity,
        "message": finding.message,
        "path": finding.path,
        "line": finding.line,
        "column": finding.column,
        "related": [
            {"message": r.message, "line": r.line, "column": r.column} for r in finding.related
        ],
        "help": finding.help,
        "docs": finding.docs,
        "affects": list(finding.affects),
        "waived": finding.waived,
    }
