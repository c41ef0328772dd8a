"""What the linter says about a file: plain data with positions, ready to print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]
"""error: this spec cannot answer the question; warning: the answer will be weaker; info."""


@dataclass(frozen=True)
class Related:
    """Another place that belongs to a finding; line and column count from 1."""

    message: str
    line: int
    column: int


@dataclass(frozen=True)
class Finding:
    """A defect at `path`:`line`:`column` (1-based, the end not included).

    `affects` are the ids of the hypotheses whose verdict it touches; `waived` is the author's
    reason where the spec waives it; `excerpt` is the source line.
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
