"""Arms beside each other where there is one load only: decode and prefill rate, a point a repeat."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from benchspec.judge.conditions import unfit
from benchspec.judge.metrics import METRICS
from benchspec.observations.model import Step
from benchspec.report.charts.canvas import INK
from benchspec.report.charts.chart import Chart, Key, Style, load_of, styled, usable
from benchspec.report.material import Material
from benchspec.report.numbers import column, number
from benchspec.report.parts import Cell, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANELS = (("stream_tok_s", "Decode, tok/s of one stream"), ("prefill_tok_s", "Prefill, tok/s"))
Rates = dict[str, list[float]]
"""Arm -> its repeats."""


def charts(material: Material) -> list[Chart]:
    """One chart of the first six arms, if there are two or more at a single load."""
    steps = [s for s in usable(material) if not unfit(s)]
    if len({load_of(s) for s in usable(material)}) != 1:
        return []
    panels = [(label, _rates(steps, name)) for name, label in PANELS]
    panels = [(label, rates) for label, rates in panels if len(rates) > 1]
    arms = list(dict.fromkeys(arm for _, rates in panels for arm in rates))
    if not arms:
        return []
    drawn = styled(arms)
    return [
        Chart(
            id="chart-arms",
            title=_title(panels),
            description="One row per arm, in the order of the legend. A mark is one repeat, the "
            "upright line is the median.",
            legend=tuple(Key(arm, style) for arm, style in drawn),
            table=_table(panels),
            paint=lambda canvas: _paint(canvas, panels, drawn),
            size=(460.0, len(panels) * (60.0 + 24.0 * len(drawn))),
        )
    ]


def _rates(steps: list[Step], metric: str) -> Rates:
    rates: Rates = {}
    for step in steps:
        value = METRICS[metric].whole(step)
        if value is not None:
            rates.setdefault(step.arm, []).append(value.mid)
    return rates


def _title(panels: list[tuple[str, Rates]]) -> str:
    phrases = []
    for label, rates in panels:
        middles = {arm: median(values) for arm, values in rates.items()}
        best = max(middles, key=lambda arm: middles[arm])
        worst = min(middles, key=lambda arm: middles[arm])
        phase = label.partition(",")[0].lower()
        times = number(float(f"{middles[best] / middles[worst]:.3g}"))
        phrases.append(f"{phase}: {best} is {times} times {worst}")
    sentence = "; ".join(phrases)
    return sentence[:1].upper() + sentence[1:]


def _table(panels: list[tuple[str, Rates]]) -> Table:
    rows = []
    for label, rates in panels:
        middles = column([median(values) for values in rates.values()])
        for (arm, values), middle in zip(rates.items(), middles, strict=True):
            rows.append((Cell(label), Cell(arm), Cell(middle), Cell(str(len(values)))))
    head = ("Rate", "Arm", "Median", "Repeats")
    return Table("Rates of the arms", head, tuple(rows), frozenset({2, 3}))


def _paint(canvas: Figure, panels: list[tuple[str, Rates]], drawn: list[tuple[str, Style]]) -> None:
    for axes, (label, rates) in zip(
        canvas.subplots(len(panels), 1, squeeze=False)[:, 0], panels, strict=True
    ):
        for row, (arm, style) in enumerate(drawn):
            values = rates.get(arm, [])
            axes.plot(values, [row] * len(values), style.marker, color=style.colour, markersize=8)
            if values:
                axes.plot([median(values)] * 2, [row - 0.3, row + 0.3], color=INK, linewidth=1)
        axes.set_ylim(len(drawn) - 0.4, -0.6)
        axes.set_yticks([])
        axes.set_xlim(0, axes.dataLim.x1 * 1.08 or 1)
        axes.set_xlabel(label)
