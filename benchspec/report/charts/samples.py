"""A link counter over time, with its mean and its median: which of them tells of bursts."""

from __future__ import annotations

from statistics import fmean, median
from typing import TYPE_CHECKING

from benchspec.judge.channels import TRAFFIC, Channel, channels_of
from benchspec.observations.model import Series
from benchspec.report.charts.canvas import INK
from benchspec.report.charts.chart import STYLES, Chart, Key, Style, thinned
from benchspec.report.charts.traffic import unit_drawn
from benchspec.report.material import Material, place_of
from benchspec.report.numbers import number
from benchspec.report.parts import Cell, Table
from benchspec.report.text import anchor

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_CHARTS = 3
MAX_POINTS = 400
MIN_SAMPLES = 4
SAMPLE, MEAN, MEDIAN = STYLES[0], Style(INK, "", "-"), Style(INK, "", "--")
Points = list[tuple[float, float]]


def charts(material: Material) -> list[Chart]:
    """The three busiest channels that were sampled four times or more, first repeat."""
    found = [c for c in channels_of(material.observations.series) if c.counter in TRAFFIC]
    sampled = [(c, points) for c in found if len(points := _points(c)) >= MIN_SAMPLES]
    busiest = sorted(sampled, key=lambda pair: -max(y for _, y in pair[1]))[:MAX_CHARTS]
    return [_chart(channel, points) for channel, points in busiest]


def _points(channel: Channel) -> Points:
    series = next((s for s in channel.raw if s.values), None)
    if series is None:
        return []
    times = _times(series)
    return [(t, v) for t, v in zip(times, series.values, strict=False) if v is not None]


def _times(series: Series) -> list[float]:
    if len(series.times_s) == len(series.values):
        return series.times_s
    return [i * (series.interval_s or 1.0) for i in range(len(series.values))]


def _chart(channel: Channel, points: Points) -> Chart:
    values = [y for _, y in points]
    mean, middle = fmean(values), median(values)
    name = " ".join(w for w in (channel.arm, channel.device, channel.counter) if w)
    figures = f"mean {_short(mean)}, median {_short(middle)} {channel.unit}"
    shown = thinned(points, MAX_POINTS)
    return Chart(
        id=anchor("chart-samples", name, place_of(channel.at)),
        title=f"{name}, {place_of(channel.at) or 'whole run'}: {figures}",
        description="Samples of one counter over seconds, with a line at their mean and a dashed "
        "one at their median. Far apart, the traffic comes in bursts and only the mean counts it.",
        legend=(Key("sample", SAMPLE), Key("mean", MEAN), Key("median", MEDIAN)),
        table=_table(name, shown, channel.unit),
        paint=lambda canvas: _paint(canvas, shown, mean, middle, unit_drawn(channel)),
        size=(460.0, 230.0),
        note=f"{MAX_POINTS} of {len(points):,} samples, evenly spaced."
        if points[MAX_POINTS:]
        else None,
    )


def _short(value: float) -> str:
    return number(float(f"{value:.3g}"))


def _table(name: str, points: Points, unit: str) -> Table:
    rows = tuple((Cell(f"{t:.2f}"), Cell(number(v))) for t, v in points[:100])
    left_out = len(points) - len(rows)
    note = f"{left_out} more in observations.json." if left_out > 0 else None
    return Table(f"Samples of {name}", ("Seconds", unit), rows, frozenset({0, 1}), note)


def _paint(canvas: Figure, points: Points, mean: float, middle: float, unit: str) -> None:
    axes = canvas.subplots()
    axes.step(*zip(*points, strict=True), where="post", color=SAMPLE.colour, linewidth=1.2)
    if len(points) <= 60:
        axes.plot(*zip(*points, strict=True), SAMPLE.marker, color=SAMPLE.colour, markersize=4)
    axes.axhline(mean, color=INK, linewidth=1.2)
    axes.axhline(middle, color=INK, linewidth=1.2, linestyle="--")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("Seconds")
    axes.set_ylabel(unit)
