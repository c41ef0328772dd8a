"""Time per token of one stream against load."""

from __future__ import annotations

from benchspec.report import measures
from benchspec.report.charts.chart import Chart
from benchspec.report.charts.per_load import Figures, charts_of
from benchspec.report.material import Material

_WHAT = Figures(
    id="chart-token-time",
    name="Time per token",
    axis="ms per token",
    meaning="Level: streams do not slow each other; rising: they share something.",
    measure=measures.token_time_ms,
    figure="itl",
)


def charts(material: Material) -> list[Chart]:
    """One chart over all arms, or none where no step has a time per token."""
    return charts_of(material, _WHAT)
