"""Where the arms cross, what would make it faster, and the ceiling in the chart of rates."""

from __future__ import annotations

from benchspec.judge.result import CheckResult, Input
from benchspec.observations.node import Bounds
from benchspec.report.charts.canvas import to_svg
from benchspec.report.charts.ceiling import ceilings
from benchspec.report.charts.chart import Chart
from benchspec.report.html import render_html
from benchspec.report.parts import Table
from benchspec.report.view import ReportView
from tests.report import samples
from tests.report.pages import Page

CROSSING = CheckResult(
    check="break-even",
    arm="four-slots",
    at={"concurrency": 1, "against": "one-slot"},
    state="judged",
    reading="crossing",
    value=100.18,
    unit="prompt tokens per output token",
    arithmetic="12.5 ms saved per output token / 0.125 ms lost per prompt token = 100",
)


def lever(name: str, value: float | Bounds, reading: str = "gain") -> CheckResult:
    return CheckResult(
        check="what-if",
        arm="four-slots",
        at={"concurrency": 1, "lever": name},
        state="judged",
        reading=reading,
        value=value,
        unit="ratio",
        arithmetic=f"{name}: 1 / (1 - 0.5) = at most 2 x",
    )


def ceiling(fraction: float, load: int = 1) -> CheckResult:
    """Of a stream that reaches `fraction` of it at 105 tok/s, as the quickstart does alone."""
    return CheckResult(
        check="bandwidth-ceiling",
        arm="four-slots",
        at={"concurrency": load},
        state="judged",
        reading="fraction",
        value=fraction,
        inputs=[Input(name="decode rate", value=105.0, unit="tok/s")],
    )


def view_with(*results: CheckResult) -> ReportView:
    text = samples.QUICKSTART.read_text("utf-8")
    verdicts = samples.quickstart_verdicts(text)
    more = verdicts.model_copy(update={"checks": [*verdicts.checks, *results]})
    return samples.view_of(text, samples.quickstart_observations(), more, samples.facts(text))


def rows(table: Table | None) -> list[list[str]]:
    assert table is not None
    return [[cell.text for cell in row] for row in table.rows]


def rates(*results: CheckResult) -> Chart:
    return next(c for c in view_with(*results).charts if c.id == "chart-rates")


def test_nothing_judged_is_no_section(quickstart_page: Page) -> None:
    ids = {tag.attributes.get("id") for tag in quickstart_page.all("h2")}
    assert not ids & {"crossings", "levers"}


def test_a_crossing_names_both_arms_and_its_division() -> None:
    (row,) = rows(view_with(CROSSING).crossings)

    assert row[:3] == [
        "four-slots against one-slot",
        "C=1",
        "100\N{NO-BREAK SPACE}prompt tokens per output token",
    ]
    assert row[3].endswith("= 100")


def test_arms_that_never_cross_are_said_to() -> None:
    never = CROSSING.model_copy(update={"reading": "never", "value": None})
    assert rows(view_with(never).crossings)[0][2] == "never"


def test_levers_are_ranked_by_the_most_that_they_could_bring() -> None:
    view = view_with(
        lever("link bandwidth x 2", 1.001, "no-gain"),
        lever("memory bandwidth x 1.2", Bounds(low=1.05, high=1.2)),
        lever("slots", 2.0),
    )

    assert [(row[0], row[2]) for row in rows(view.levers)] == [
        ("slots", "2 ×"),
        ("memory bandwidth x 1.2", "1.2 ×"),
        ("link bandwidth x 2", "1 ×"),
    ]


def test_sections_stand_before_the_checks_that_they_link_to() -> None:
    html = render_html(view_with(CROSSING, lever("slots", 2.0)))
    ids = [tag.attributes.get("id") for tag in Page(html).all("h2")]

    assert ids.index("crossings") < ids.index("levers") < ids.index("checks")


def test_the_ceiling_is_the_rate_over_the_fraction() -> None:
    of_interval = ceiling(0.5).model_copy(update={"value": Bounds(low=0.25, high=0.5)})

    assert ceilings([ceiling(0.5), CROSSING], "four-slots") == [(1.0, 210.0)]
    assert ceilings([of_interval], "four-slots") == [(1.0, 420.0)]
    assert ceilings([ceiling(0.5)], "one-slot") == []


def test_a_ceiling_near_the_marks_is_drawn_and_a_far_one_is_told() -> None:
    bare, near, far = rates(), rates(ceiling(0.5), ceiling(0.4, 4)), rates(ceiling(0.05))

    assert to_svg(near) != to_svg(bare)
    assert to_svg(far) == to_svg(bare)
    assert [k.label for k in near.legend if "memory" in k.label] == [
        "four-slots: memory bandwidth allows one stream [derived]"
    ]
    assert [k.label for k in far.legend if "memory" in k.label] == [
        "four-slots: memory allows one stream 2,100 tok/s at C=1, off the chart [derived]"
    ]
