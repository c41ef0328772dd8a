"""A time budget as a waterfall: the parts, what they leave unlisted, and the whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchspec.judge.interval import Interval
from benchspec.observations.model import Budget
from benchspec.report.charts.canvas import INK
from benchspec.report.charts.chart import STYLES, Chart, Key, Style
from benchspec.report.material import Material
from benchspec.report.numbers import column, number, percent
from benchspec.report.parts import Cell, Table
from benchspec.report.text import anchor

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_CHARTS = 4
MAX_PARTS = 12
PART, REST = STYLES[0], Style("#d5dae0", "", "")


@dataclass(frozen=True)
class Bar:
    """One step of the waterfall, in ms from `start` to `end`; `rest` is what no part names."""

    name: str
    start: float
    end: float
    rest: bool = False


def charts(material: Material) -> list[Chart]:
    """One chart per budget with two parts or more (the first four)."""
    budgets = [b for b in material.observations.budgets if len(b.parts) > 1][:MAX_CHARTS]
    return [_chart(budget, _bars(budget)) for budget in budgets]


def _bars(budget: Budget) -> list[Bar]:
    bars, at = [], 0.0
    for name, value in list(budget.parts.items())[:MAX_PARTS]:
        width = Interval.of(value).mid
        bars.append(Bar(name, at, at + width))
        at += width
    total = Interval.of(budget.total_ms).mid
    return [
        *bars,
        Bar("not listed" if at <= total else "more than the whole", at, total, rest=True),
    ]


def _chart(budget: Budget, bars: list[Bar]) -> Chart:
    total = bars[-1].end
    rest = (bars[-1].end - bars[-1].start) / total if total else 0.0
    return Chart(
        id=anchor("chart-budget", budget.arm or "", budget.name),
        title=f"{budget.name}: {percent(abs(rest))} of {number(total)} ms {bars[-1].name}",
        description="A row per part, numbered as in the table. Each begins where the one above it "
        "ends; the last is what no part names, and the dashed line is the whole.",
        legend=(Key("a part", PART, box=True), Key(bars[-1].name, REST, box=True)),
        table=_table(budget, bars),
        paint=lambda canvas: _paint(canvas, bars),
        size=(460.0, 70.0 + 22.0 * len(bars)),
    )


def _table(budget: Budget, bars: list[Bar]) -> Table:
    widths = column([bar.end - bar.start for bar in bars])
    rows = [
        (Cell(str(row)), Cell(bar.name), Cell(width, None if bar.rest else budget.provenance))
        for row, (bar, width) in enumerate(zip(bars, widths, strict=True), 1)
    ]
    return Table(
        f"Time budget: {budget.name}", ("Row", "Part", "ms"), tuple(rows), frozenset({0, 2})
    )


def _paint(canvas: Figure, bars: list[Bar]) -> None:
    axes = canvas.subplots()
    for row, bar in enumerate(bars, 1):
        colour = REST.colour if bar.rest else PART.colour
        axes.barh(row, bar.end - bar.start, left=bar.start, height=0.6, color=colour)
    axes.axvline(bars[-1].end, color=INK, linewidth=1, linestyle=(0, (2, 2)))
    axes.set_ylim(len(bars) + 0.6, 0.4)
    axes.set_yticks(range(1, len(bars) + 1))
    axes.grid(visible=False, axis="y")
    axes.set_xlim(0, axes.dataLim.x1 * 1.05 or 1)
    axes.set_xlabel("ms")
    axes.set_ylabel("Row of the table")
