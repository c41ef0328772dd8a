"""Writes the safe fixes of a spec's findings into its text, one at a time, linting in between."""

from __future__ import annotations

from benchspec.errors import SpecUnreadable
from benchspec.lint.edits import apply
from benchspec.lint.fixes import Fix
from benchspec.lint.linter import LintResult, lint
from benchspec.spec.source import Document, parse

_MOST = 50  # a fix may raise the next finding, which may have a fix in turn


def fixed(document: Document, *, audit: bool = False) -> LintResult:
    """The result of linting `document` after every fix that makes its finding go away."""
    result = lint(document, audit=audit)
    refused: set[tuple[str, Fix]] = set()
    for _ in range(_MOST):
        todo = [
            (f.code, f.fix)
            for f in result.findings
            if f.fix is not None and f.waived is None and (f.code, f.fix) not in refused
        ]
        if not todo:
            break
        code, fix = todo[0]
        better = _with(result, fix, audit=audit)
        if better is None or _count(better, code) >= _count(result, code):
            refused.add((code, fix))
        else:
            result = better
    return result


def _with(result: LintResult, fix: Fix, *, audit: bool) -> LintResult | None:
    """The result with one more fix; None where it cannot be written, or breaks the file."""
    text = apply(result.document, fix)
    if text is None:
        return None
    mark = b"\xef\xbb\xbf" if result.document.raw.startswith(b"\xef\xbb\xbf") else b""
    try:
        document = parse(mark + text.encode(), result.document.name)
    except SpecUnreadable:
        return None
    better = lint(document, audit=audit)
    return better if better.spec is not None else None


def _count(result: LintResult, code: str) -> int:
    return sum(finding.code == code for finding in result.findings)
