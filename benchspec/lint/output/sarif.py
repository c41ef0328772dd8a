"""Findings as SARIF 2.1.0, for code scanning and editors.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html. A waiver is a suppression with its
justification; columns count code points.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchspec import __version__
from benchspec.lint.finding import Finding
from benchspec.lint.linter import LintResult
from benchspec.lint.rule import Documented, manual
from benchspec.lint.rules import ALL

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_INDEX = {module.RULE.code: index for index, module in enumerate(ALL)}


def as_data(results: Iterable[LintResult]) -> dict[str, Any]:
    """One run with every rule and every finding."""
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "benchspec",
                        "version": __version__,
                        "rules": [_rule(module) for module in ALL],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(f) for result in results for f in result.findings],
            }
        ],
    }


def _rule(module: Documented) -> dict[str, Any]:
    page, rule = manual(module), module.RULE
    text = "\n\n".join(f"## {name}\n\n{part}" for name, part in page.sections.items())
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": page.title},
        "fullDescription": {"text": page.sections["Why it misleads"]},
        "help": {"text": page.sections["Fix"], "markdown": text},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(finding: Finding) -> dict[str, Any]:
    region = {
        "startLine": finding.line,
        "startColumn": finding.column,
        "endLine": finding.end_line,
        "endColumn": finding.end_column,
    }
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": _INDEX[finding.code],
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.message} {finding.help}"},
        "locations": [{"physicalLocation": _place(finding.path, region)}],
        "relatedLocations": [
            {
                "id": number,
                "message": {"text": related.message},
                "physicalLocation": _place(
                    finding.path, {"startLine": related.line, "startColumn": related.column}
                ),
            }
            for number, related in enumerate(finding.related, 1)
        ],
    }
    if finding.waived is not None:
        result["suppressions"] = [{"kind": "inSource", "justification": finding.waived}]
    return result


def _place(path: str, region: dict[str, int]) -> dict[str, Any]:
    file = Path(path)
    uri = file.as_uri() if file.is_absolute() else quote(file.as_posix())
    return {"artifactLocation": {"uri": uri}, "region": region}
