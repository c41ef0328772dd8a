"""badge.svg: the verdicts in a line of text for a README. States a result, never praise."""

from __future__ import annotations

from benchspec.report.html import render
from benchspec.report.text import one_line
from benchspec.report.view import ReportView

CHARACTER_WIDTH = 6.3
"""Points per character at 11 px, the widest common fallback (Verdana); `textLength` fits the rest."""
MOST_CHARACTERS = 60
COLOURS = {
    "supported": "#00664a",
    "refuted": "#a23c00",
    "inconclusive": "#705200",
    "invalid": "#86326a",
    "not-run": "#57606a",
}


def badge(view: ReportView) -> bytes:
    """`benchspec | 3 supported, 1 refuted (code, 8192 tokens of context)`, coloured by the commonest
    verdict: a rate without its conditions is nobody's."""
    tally = view.headline.tally
    result = ", ".join(f"{n} {word.lower()}" for _, word, n in tally) or "no hypothesis"
    if view.headline.audited:
        result = f"audited: {result}"
    if view.headline.conditions:
        result = f"{result} ({one_line(view.headline.conditions, MOST_CHARACTERS)})"
    commonest = max(tally, key=lambda entry: entry[2], default=("not-run", "", 0))[0]
    widths = [round(len(text) * CHARACTER_WIDTH) + 12 for text in ("benchspec", result)]
    return render(
        "badge.svg.j2",
        title=f"benchspec: {result}",
        result=result,
        left=widths[0],
        right=widths[1],
        colour=COLOURS[commonest],
    )
