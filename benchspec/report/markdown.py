"""The report in short, as Markdown for a post: summary, verdict table, what was not finished."""

from __future__ import annotations

import re

from benchspec.report.text import one_line
from benchspec.report.view import ReportView

MAX_GAPS = 12
_SPECIAL = re.compile(r"([\\`*_\[\]<>#!|~&$])")


def markdown(view: ReportView) -> str:
    """Text from the spec is escaped: it formats nothing."""
    head = view.headline
    lines = [f"**{_plain(head.title)}**", "", _plain(head.summary), ""]
    if view.cards:
        lines += ["| | Verdict | Hypothesis | Predicted | Measured | Division |"]
        lines += ["|---|---|---|---|---|---|"]
    for card in view.cards:
        cells = (card.id, card.word, card.claim, card.predicted or "–", card.measured or "–")
        division = f"`{one_line(card.division).replace('`', chr(39))}`" if card.division else "–"
        lines.append(f"| {' | '.join(_plain(c) for c in cells)} | {_in_table(division)} |")
    gaps = [item.text for group in view.unfinished for item in group.items]
    if gaps:
        lines += ["", "What this didn’t finish:", ""]
        lines += [f"- {_plain(gap)}" for gap in gaps[:MAX_GAPS]]
    if gaps[MAX_GAPS:]:
        lines.append(f"- … and {len(gaps) - MAX_GAPS} more in the report")
    lines += ["", _plain(head.origin), "", _plain(view.citation.sentence), ""]
    return "\n".join(lines)


def _plain(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", one_line(text))


def _in_table(code: str) -> str:
    return code.replace("|", "\\|")
