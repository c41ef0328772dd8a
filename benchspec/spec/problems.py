"""What is wrong with the form of a spec, as data: the linter makes findings of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

Path = tuple[str | int, ...]
"""Where in the document: `("load", "concurrency", 1)`."""

ProblemKind = Literal[
    "unknown-key",
    "wrong-type",
    "missing-key",
    "wrong-unit",
    "duplicate-key",
    "ambiguous-scalar",
    "wrong-value",
]


class Span(NamedTuple):
    """From line:column up to, not including, end_line:end_column; 1-based, in code points."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True)
class FormProblem:
    """One defect: `message` says what is there, `help` what to do.

    `span` is set where `path` alone would not find the place (a duplicate key, a complex key);
    `related` are other places with what they are.
    """

    kind: ProblemKind
    path: Path
    message: str
    help: str
    span: Span | None = None
    related: tuple[tuple[Span, str], ...] = ()

    def at(self, span: Span) -> FormProblem:
        """The same problem, shown at `span`."""
        return replace(self, span=span)


def dotted(path: Path) -> str:
    """`("arms", 0, "engine")` as `arms[0].engine`, for sentences."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return shown(text.removeprefix("."), 120) or "the top level"


def shown(value: object, limit: int = 60) -> str:
    """`value` short enough for a sentence, with control characters made visible."""
    text = value if isinstance(value, str) else str(value)
    text = text[: limit + 1].encode("unicode_escape").decode() if not text.isprintable() else text
    return text if len(text) <= limit else text[: limit - 1] + "…"
