"""Specs for the linter's tests: a snippet laid over a good base, and what is expected of it.

A snippet is one or more top-level keys; each replaces that key of `base.yaml`. A comment such as
`# error: BS201` (or `# warning: BS204, error: BS301`) at the end of a line expects exactly that
finding on that line. A snippet that starts with `benchspec:` is a whole spec.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from benchspec.lint.linter import LintResult, lint
from benchspec.spec.source import parse

HERE = Path(__file__).parent
BASE = (HERE / "base.yaml").read_text("utf-8")
_TOP = re.compile(r"^(?=[a-z_]+:)", re.MULTILINE)
_EXPECTED = re.compile(r"(error|warning|info): (BS\d{3})")

Expectation = tuple[str, str, int]
"""(severity, code, line)"""


def over_base(snippet: str) -> str:
    """The whole spec: what `base.yaml` has and `snippet` has not, then `snippet`."""
    own = _sections(snippet)
    if "benchspec" in own:
        return snippet
    kept = [text for key, text in _sections(BASE).items() if key not in own]
    return "".join(kept) + snippet


def _sections(text: str) -> dict[str, str]:
    parts = [part for part in _TOP.split(text) if part.strip()]
    return {part.partition(":")[0]: part for part in parts if not part.startswith("#")}


def expected(text: str) -> Counter[Expectation]:
    """What the comments of `text` expect."""
    return Counter(
        (severity, code, number)
        for number, line in enumerate(text.split("\n"), 1)
        for severity, code in _EXPECTED.findall(line.partition("#")[2])
    )


def linted(text: str, *, audit: bool | None = None) -> LintResult:
    """`text` through the linter; an audit when it has observations, unless said otherwise."""
    document = parse(text.encode(), "spec.yaml")
    by_itself = isinstance(document.data, dict) and "observations" in document.data
    return lint(document, audit=by_itself if audit is None else audit)


def found(result: LintResult, code: str | None = None) -> Counter[Expectation]:
    """The findings that are not waived; with `code`, of that rule only."""
    return Counter(
        (f.severity, f.code, f.line)
        for f in result.findings
        if f.waived is None and code in (None, f.code)
    )


def described(result: LintResult) -> str:
    """The findings in one line each, for the message of a failed test."""
    return "\n".join(
        f"{f.severity} {f.code} {f.name} line {f.line}: {f.message}" for f in result.findings
    )
