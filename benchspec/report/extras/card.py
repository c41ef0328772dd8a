"""card.png, 1200 x 630: what a link to the report shows on a page of others."""

from __future__ import annotations

import io
import textwrap
import unicodedata
import warnings
from typing import TYPE_CHECKING, Any

from benchspec.report.extras.badge import COLOURS
from benchspec.report.numbers import count
from benchspec.report.parts import VerdictCard
from benchspec.report.text import one_line
from benchspec.report.view import ReportView

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 1200, 630
_FONTS = ("DejaVu Sans", "Noto Sans CJK JP", "Noto Sans CJK SC")
_MARKERS = {"supported": "o", "refuted": "s", "inconclusive": "D", "invalid": "^", "not-run": "o"}
_QUIET, _INK = "#55606b", "#20262d"


def card(view: ReportView) -> bytes:
    """A PNG of title, conditions, verdict counts, the first verdict with its division, the date."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.font_manager import get_font_names

    known = set(get_font_names())
    data = io.BytesIO()
    with mpl.rc_context(), warnings.catch_warnings():
        # A glyph that no font here has is drawn as a box: nothing to tell anyone on stderr.
        warnings.filterwarnings("ignore", message=r"Glyph \d+")
        mpl.rcdefaults()
        mpl.rcParams["text.parse_math"] = False
        mpl.rcParams["font.family"] = [name for name in _FONTS if name in known]
        figure = Figure(figsize=(WIDTH / 100, HEIGHT / 100), dpi=100, facecolor="white")
        FigureCanvasAgg(figure)
        _draw(figure, view)
        figure.savefig(data, format="png", metadata={"Software": None})
    return data.getvalue()


def _draw(figure: Figure, view: ReportView) -> None:
    head = view.headline
    kind = "benchspec report" + (" · audited, not measured here" if head.audited else "")
    first = " · ".join(filter(None, (kind, head.conditions)))
    _text(figure, 0.885, one_line(first, 96), fontsize=19, color=_QUIET)
    title = _wrapped(head.title, 42, 2)
    _text(figure, 0.82, title, fontsize=38, weight="bold", linespacing=1.15)
    if view.cards:
        _first(figure, view.cards[0])
    _tally(figure, view)
    gaps = count(sum(len(group.items) for group in view.unfinished), "point")
    foot = f"{view.facts.utc[:10]} · spec {view.facts.spec_sha256[:12]} · {gaps} not finished"
    _text(figure, 0.1, one_line(foot, 90), fontsize=17, color=_QUIET)


def _first(figure: Figure, first: VerdictCard) -> None:
    state = f"{one_line(first.id, 20)} {first.word.lower()}"
    _text(figure, 0.56, state, fontsize=19, weight="bold", color=COLOURS[first.state])
    _text(figure, 0.505, _wrapped(first.claim, 68, 2), fontsize=24, linespacing=1.3)
    if first.division:
        division = _wrapped(first.division, 84, 1)
        _text(figure, 0.35, division, fontsize=17, color=_QUIET, family=["DejaVu Sans Mono"])


def _text(figure: Figure, y: float, text: str, **style: Any) -> None:
    figure.text(0.06, y, text, va="top", **{"color": _INK, **style})


def _tally(figure: Figure, view: ReportView) -> None:
    """Each verdict's shape and count, side by side as far as they reach."""
    axes = figure.add_axes((0.0, 0.13, 1.0, 0.13))
    axes.set_axis_off()
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(-1, 1)
    at = 84.0
    for state, word, number in view.headline.tally:
        fill = "none" if state == "not-run" else "full"
        axes.plot(at, 0, _MARKERS[state], color=COLOURS[state], markersize=17, fillstyle=fill)
        label = axes.text(at + 24, 0, f"{number} {word.lower()}", fontsize=23, weight="bold")
        label.set(color=COLOURS[state], va="center_baseline")
        at = label.get_window_extent().x1 + 50


def _wrapped(text: str, columns: int, lines: int) -> str:
    """At most `lines` lines of about `columns` Latin characters; wide characters count double."""
    line = one_line(text, columns * lines * 2)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in line) / max(1, len(line))
    width = max(8, round(columns / (1 + wide)))
    return "\n".join(textwrap.wrap(line, width, max_lines=lines, placeholder=" …"))
