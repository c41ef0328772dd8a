"""The charts, one file each, in the order of the page. A chart with nothing to show is left out."""

from __future__ import annotations

from collections.abc import Callable

from benchspec.report.charts import (
    arms,
    budget,
    completions,
    first_token,
    rates,
    samples,
    timeline,
    token_time,
    traffic,
    utilisation,
)
from benchspec.report.charts.chart import Chart
from benchspec.report.material import Material

CHARTS: tuple[Callable[[Material], list[Chart]], ...] = (
    rates.charts,
    arms.charts,
    completions.charts,
    token_time.charts,
    first_token.charts,
    timeline.charts,
    utilisation.charts,
    traffic.charts,
    samples.charts,
    budget.charts,
)


def all_charts(material: Material) -> tuple[Chart, ...]:
    """Every chart that the observations can fill; nothing is drawn yet."""
    return tuple(chart for collect in CHARTS for chart in collect(material))
