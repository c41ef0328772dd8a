"""Devices' utilisation stacked to its sum: 100 % is one device's time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchspec.judge.channels import Channel, by_place, channels_of
from benchspec.report.charts.canvas import INK
from benchspec.report.charts.chart import Chart, Key, Style, styled
from benchspec.report.material import Material, place_of
from benchspec.report.numbers import number
from benchspec.report.parts import Cell, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_ROWS = 12
Row = tuple[str, list[Channel]]


def charts(material: Material) -> list[Chart]:
    """One chart over all places where two or more devices were sampled."""
    found = [c for c in channels_of(material.observations.series) if c.counter == "utilization"]
    groups = [group for group in by_place(found).values() if len(group) > 1][:MAX_ROWS]
    if not groups:
        return []
    rows: list[Row] = [(_place(group), group) for group in groups]
    devices = styled(list(dict.fromkeys(c.device or "" for _, group in rows for c in group)))
    return [
        Chart(
            id="chart-utilisation",
            title=f"{rows[0][0]}: {_sum(rows[0][1])}",
            description="One row per place, in the order of the table. Each part is the mean "
            "utilisation of one device; the dashed line is 100 %, one device's time. A sum near it "
            "means that the devices take turns.",
            legend=tuple(Key(device, style, box=True) for device, style in devices),
            table=_table(rows),
            paint=lambda canvas: _paint(canvas, rows, dict(devices)),
            size=(460.0, 70.0 + 26.0 * len(rows)),
        )
    ]


def _place(group: list[Channel]) -> str:
    return " ".join(w for w in (group[0].arm, place_of(group[0].at)) if w) or "Utilisation"


def _sum(group: list[Channel]) -> str:
    parts = [c.middle.mid for c in group]
    total = number(float(f"{sum(parts):.4g}"))
    return f"{' + '.join(number(round(p, 1)) for p in parts)} = {total} % of one device's time"


def _table(rows: list[Row]) -> Table:
    cells = [
        (Cell(place), Cell(c.device or "–"), Cell(number(round(c.middle.mid, 2))))
        for place, group in rows
        for c in group
    ]
    head = ("Place", "Device", "Mean utilisation %")
    return Table("Utilisation", head, tuple(cells), frozenset({2}))


def _paint(canvas: Figure, rows: list[Row], styles: dict[str, Style]) -> None:
    axes = canvas.subplots()
    for row, (_, group) in enumerate(rows, 1):
        left = 0.0
        for channel in group:
            style = styles.get(channel.device or "", Style(INK, "o"))
            width = channel.middle.mid
            axes.barh(row, width, left=left, height=0.6, color=style.colour, edgecolor="#ffffff")
            left += width
    axes.axvline(100, color=INK, linewidth=1, linestyle=(0, (2, 2)))
    axes.set_ylim(len(rows) + 0.6, 0.4)
    axes.set_yticks(range(1, len(rows) + 1))
    axes.grid(visible=False, axis="y")
    axes.set_xlim(0, max(105.0, axes.dataLim.x1 * 1.05))
    axes.set_xlabel("Utilisation, % of one device's time")
