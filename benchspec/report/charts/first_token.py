"""Time to the first token against load: waiting shows here first."""

from __future__ import annotations

from benchspec.report import measures
from benchspec.report.charts.chart import Chart
from benchspec.report.charts.per_load import Figures, charts_of
from benchspec.report.material import Material

_WHAT = Figures(
    id="chart-first-token",
    name="First token",
    axis="ms to the first token",
    meaning="A jump above the slots is time spent waiting for one.",
    measure=measures.ttft_ms,
    figure="ttft",
)


def charts(material: Material) -> list[Chart]:
    """One chart over all arms, or none where no step has a first-token time."""
    return charts_of(material, _WHAT)
