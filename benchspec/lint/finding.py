"""What the linter says about a file: plain data with positions, ready to print."""

from typing import Literal, NamedTuple

from benchspec.lint.fixes import Fix

Severity = Literal["error", "warning", "info"]
"""error: this spec cannot answer the question; warning: the answer will be weaker; info."""


class Related(NamedTuple):
    """Another place that belongs to a finding; line and column count from 1."""

    message: str
    line: int
    column: int


class Finding(NamedTuple):
    """A defect at `path`:`line`:`column` (1-based, the end not included).

    `affects` are the ids of the hypotheses whose verdict it touches; `waived` is the author's
    reason where the spec waives it; `excerpt` is the source line; `fix` a safe change that makes the
    finding go away.
    """

    code: str
    name: str
    severity: Severity
    message: str
    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    related: tuple[Related, ...]
    help: str
    docs: str
    affects: tuple[str, ...]
    waived: str | None
    excerpt: str
    fix: Fix | None = None
