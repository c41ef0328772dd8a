"""The page as data: every word chosen, every number formatted, nothing rendered."""

from __future__ import annotations

from dataclasses import dataclass

from benchspec.judge.result import Verdicts
from benchspec.observations.model import Observations
from benchspec.report import parts
from benchspec.report.charts import all_charts
from benchspec.report.charts.chart import Chart
from benchspec.report.embedded import result_json
from benchspec.report.facts import BundleFacts
from benchspec.report.linked import dataset_json
from benchspec.report.material import Material
from benchspec.report.sections.checks import checks
from benchspec.report.sections.citation import citation
from benchspec.report.sections.comparison import comparison
from benchspec.report.sections.data import data
from benchspec.report.sections.headline import headline
from benchspec.report.sections.in_range import in_range
from benchspec.report.sections.method import method
from benchspec.report.sections.notes import notes
from benchspec.report.sections.order import order
from benchspec.report.sections.outlook import crossings, levers
from benchspec.report.sections.setup import setup
from benchspec.report.sections.unfinished import unfinished
from benchspec.report.sections.verdicts import cards, gates
from benchspec.spec.models import Spec, Study


@dataclass(frozen=True)
class ReportView:
    """The sections in the order of the page, and the machine-readable result beside them."""

    headline: parts.Headline
    cards: tuple[parts.VerdictCard, ...]
    gates: tuple[parts.GateView, ...]
    unfinished: tuple[parts.ItemGroup, ...]
    order: tuple[parts.OrderView, ...]
    comparison: parts.Comparison
    charts: tuple[Chart, ...]
    crossings: parts.Table | None
    levers: parts.Table | None
    checks: tuple[parts.CheckGroup, ...]
    exploratory: tuple[parts.VerdictCard, ...]
    notes: tuple[parts.ItemGroup, ...]
    setup: parts.Setup
    method: parts.Method
    in_range: parts.InRange | None
    data: parts.Data
    citation: parts.Citation
    facts: BundleFacts
    result_json: str
    linked_json: str
    study: Study
    url: str | None


def make_view(
    spec: Spec, observations: Observations, verdicts: Verdicts, facts: BundleFacts
) -> ReportView:
    """Everything that HTML and PDF show, from the four things a bundle holds. Pure."""
    material = Material(spec, observations, verdicts, facts)
    head = headline(material)
    return ReportView(
        headline=head,
        cards=cards(material, exploratory=False),
        gates=gates(material),
        unfinished=unfinished(material),
        order=order(material),
        comparison=comparison(material),
        charts=all_charts(material),
        crossings=crossings(material),
        levers=levers(material),
        checks=checks(material),
        exploratory=cards(material, exploratory=True),
        notes=notes(material),
        setup=setup(material),
        method=method(material),
        in_range=in_range(material),
        data=data(material),
        citation=citation(material),
        facts=facts,
        result_json=result_json(observations, verdicts, facts),
        linked_json=dataset_json(material, head.summary),
        study=spec.study,
        url=material.url,
    )
