"""One figure against load, a point per undisturbed repeat and a line through their medians."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchspec.judge.conditions import unfit
from benchspec.report import measures
from benchspec.report.charts.canvas import from_zero, load_axis
from benchspec.report.charts.chart import (
    Chart,
    Key,
    LoadAxis,
    Style,
    load_of,
    loads_of,
    styled,
    usable,
)
from benchspec.report.charts.rates import Points, draw_points, medians, spread
from benchspec.report.material import Material
from benchspec.report.numbers import column, number
from benchspec.report.parts import Cell, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Figures:
    """What is drawn: `measure` in ms, of the figure that a client's error is compared with."""

    id: str
    name: str
    axis: str
    meaning: str
    measure: measures.Measure
    figure: str


def charts_of(material: Material, what: Figures) -> list[Chart]:
    """One chart over all arms, or none where fewer than two loads have the figure."""
    points: dict[str, Points] = {}
    steps = usable(material)
    over = loads_of(steps)
    for step in steps:
        value = what.measure(step)
        if value is not None and not unfit(step, what.figure):
            points.setdefault(step.arm, []).append((float(load_of(step) or 0), value))
    loads = sorted({x for series in points.values() for x, _ in series})
    if len(loads) < 2:
        return []
    drawn = styled(list(points))
    return [
        Chart(
            id=what.id,
            title=_title(what, points, over),
            description=f"{what.axis} of the median request against "
            f"{over.label.lower()}. A point is one undisturbed "
            f"repeat, a line joins medians. {what.meaning}",
            legend=tuple(Key(arm, style) for arm, style in drawn),
            table=_table(what, points, over),
            paint=lambda canvas: _paint(
                canvas, what, [(points[a], s) for a, s in drawn], loads, over
            ),
            size=(460.0, 250.0),
        )
    ]


def _title(what: Figures, points: dict[str, Points], over: LoadAxis) -> str:
    if len(points) > 3:
        return f"{what.name} against load, {len(points)} arms"
    phrases = []
    for arm, series in points.items():
        (low, first), (high, last) = medians(series)[0], medians(series)[-1]
        name = f"{arm}: " if len(points) > 1 else ""
        ends = [
            f"{_short(value)} ms at {over.at(load)}" for load, value in ((low, first), (high, last))
        ]
        phrases.append(name + ", ".join(ends))
    return f"{what.name}: {'; '.join(phrases)}"


def _short(value: float) -> str:
    return number(float(f"{value:.3g}"))


def _table(what: Figures, points: dict[str, Points], over: LoadAxis) -> Table:
    rows = [(arm, *point) for arm, series in points.items() for point in medians(series)]
    values = column([value for _, _, value in rows])
    cells = [
        (Cell(arm), Cell(number(load)), Cell(value, note=spread(points[arm], load)))
        for (arm, load, _), value in zip(rows, values, strict=True)
    ]
    caption = f"{what.name}, medians over repeats"
    return Table(caption, ("Arm", over.column, what.axis), tuple(cells), frozenset({1, 2}))


def _paint(
    canvas: Figure,
    what: Figures,
    drawn: list[tuple[Points, Style]],
    loads: list[float],
    over: LoadAxis,
) -> None:
    axes = canvas.subplots()
    for points, style in drawn:
        draw_points(axes, points, style)
    from_zero(axes)
    axes.set_ylabel(what.axis)
    load_axis(axes, loads, over.label)
