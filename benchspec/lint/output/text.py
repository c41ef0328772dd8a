"""Findings for people: what, where, the line itself, what else belongs to it, what to do.

Text from a spec may hold terminal control sequences, so it is made visible before it is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from benchspec.lint.finding import Finding
from benchspec.lint.linter import LintResult

Paint = Callable[[str, str], str]
"""(text, style) -> text in that style, or as it is."""

_WIDEST_LINE = 160


def plain(text: str, _style: str) -> str:
    """Paint that changes nothing."""
    return text


def render(result: LintResult, paint: Paint = plain) -> str:
    """All findings of one file, an empty line between them; waived ones in one line each."""
    lines = result.document.lines
    return "\n\n".join("\n".join(_finding(f, lines, paint)) for f in result.findings)


def summary(results: Iterable[LintResult]) -> str:
    """`2 errors, 1 warning in 1 file`."""
    files = list(results)
    findings = [finding for result in files for finding in result.findings]
    waived = sum(finding.waived is not None for finding in findings)
    counts = [
        _count(sum(f.severity == level and f.waived is None for f in findings), word)
        for level, word in (("error", "error"), ("warning", "warning"), ("info", "remark"))
    ]
    stated = [count for count in counts if count] + ([f"{waived} waived"] if waived else [])
    return f"{', '.join(stated) or 'no findings'} in {_count(len(files), 'file')}"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}" if number else ""


def _finding(finding: Finding, lines: list[str], paint: Paint) -> Iterable[str]:
    head = f"{finding.severity}[{finding.code}]"
    place = f"{_visible(finding.path)}:{finding.line}:{finding.column}"
    if finding.waived is not None:
        yield paint(f"waived[{finding.code}]", "dim") + f" {finding.name} at {place}"
        yield f"  reason: {_visible(finding.waived)}"
        return
    yield f"{paint(head, finding.severity)} {finding.name}: {_visible(finding.message)}"
    gutter = len(str(max([finding.line, *(r.line for r in finding.related)])))
    yield f"{' ' * gutter}{paint('-->', 'dim')} {place}"
    yield from _excerpt(finding, gutter, paint)
    shown = {finding.line}
    for related in finding.related:
        yield f"{' ' * gutter} {paint('=', 'dim')} line {related.line}: {_visible(related.message)}"
        if related.line not in shown and related.line <= len(lines):
            shown.add(related.line)
            text = _visible(lines[related.line - 1])[:_WIDEST_LINE]
            yield f"{related.line:>{gutter}} {paint('|', 'dim')} {text}"
    yield f"  {paint('help:', 'info')} {_visible(finding.help)}"
    yield f"  {paint('docs:', 'dim')} {finding.docs} (benchspec explain {finding.code})"


def _excerpt(finding: Finding, gutter: int, paint: Paint) -> Iterable[str]:
    """The source line, cut where it is very long, and carets under the place."""
    first = max(0, finding.column - 1 - _WIDEST_LINE // 2)
    text = finding.excerpt[first : first + _WIDEST_LINE]
    start = finding.column - 1 - first
    end = finding.end_column - 1 - first if finding.end_line == finding.line else len(text)
    width = max(1, min(end, len(text)) - start)
    yield f"{finding.line:>{gutter}} {paint('|', 'dim')} {_visible(text)}"
    carets = paint("^" * _cells(text[start : start + width]), finding.severity)
    yield f"{' ' * gutter} {paint('|', 'dim')} {' ' * _cells(text[:start])}{carets}"


def _visible(text: str) -> str:
    """Control characters, and the invisible ones that reorder text, as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _cells(text: str) -> int:
    """How many terminal cells `text` takes: East Asian wide characters take two."""
    from unicodedata import east_asian_width

    return sum(2 if east_asian_width(c) in "WF" else 1 for c in _visible(text))
