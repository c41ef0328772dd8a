"""Time per token of one stream against concurrency."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchspec.judge.conditions import unfit
from benchspec.report import measures
from benchspec.report.charts.canvas import from_zero, load_axis
from benchspec.report.charts.chart import Chart, Key, Style, load_of, styled, usable
from benchspec.report.charts.rates import Points, draw_points, medians, spread
from benchspec.report.material import Material
from benchspec.report.numbers import column, number
from benchspec.report.parts import Cell, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def charts(material: Material) -> list[Chart]:
    """One chart over all arms, or none where no step has a time per token."""
    points: dict[str, Points] = {}
    for step in usable(material):
        value = measures.token_time_ms(step)
        if value is not None and not unfit(step, "itl"):
            points.setdefault(step.arm, []).append((float(load_of(step) or 0), value))
    loads = sorted({x for series in points.values() for x, _ in series})
    if len(loads) < 2:
        return []
    drawn = styled(list(points))
    return [
        Chart(
            id="chart-token-time",
            title=_title(points),
            description="Milliseconds per token of the median request against requests in flight. "
            "A point is one undisturbed repeat, a line joins medians. Level: streams do not slow each other; "
            "rising: they share something.",
            legend=tuple(Key(arm, style) for arm, style in drawn),
            table=_table(points),
            paint=lambda canvas: _paint(canvas, [(points[a], s) for a, s in drawn], loads),
            size=(460.0, 250.0),
        )
    ]


def _title(points: dict[str, Points]) -> str:
    if len(points) > 3:
        return f"Time per token against load, {len(points)} arms"
    phrases = []
    for arm, series in points.items():
        (low, first), (high, last) = medians(series)[0], medians(series)[-1]
        name = f"{arm}: " if len(points) > 1 else ""
        change = f"{_short(first)} ms at C={low:g}, {_short(last)} ms at C={high:g}"
        phrases.append(f"{name}{change}")
    return f"Time per token: {'; '.join(phrases)}"


def _short(value: float) -> str:
    return number(float(f"{value:.3g}"))


def _table(points: dict[str, Points]) -> Table:
    rows = [(arm, *point) for arm, series in points.items() for point in medians(series)]
    values = column([value for _, _, value in rows])
    cells = [
        (Cell(arm), Cell(number(load)), Cell(value, note=spread(points[arm], load)))
        for (arm, load, _), value in zip(rows, values, strict=True)
    ]
    head = ("Arm", "C", "ms per token")
    return Table("Time per token, medians over repeats", head, tuple(cells), frozenset({1, 2}))


def _paint(canvas: Figure, drawn: list[tuple[Points, Style]], loads: list[float]) -> None:
    axes = canvas.subplots()
    for points, style in drawn:
        draw_points(axes, points, style)
    from_zero(axes)
    axes.set_ylabel("ms per token")
    load_axis(axes, loads, "Requests in flight, C")
