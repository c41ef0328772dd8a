"""Charts: a finding, a text alternative, a table, and SVG that any style sheet can recolour."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from benchspec.observations.model import Observations, Quiet
from benchspec.report.charts.canvas import to_svg
from benchspec.report.charts.chart import Chart, thinned
from benchspec.report.charts.rates import queue_model
from benchspec.report.html import template_dir
from tests.report import samples

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def charts() -> dict[str, Chart]:
    return {chart.id: chart for chart in samples.quickstart().charts}


def test_the_quickstart_has_its_six_charts(charts: dict[str, Chart]) -> None:
    assert list(charts) == [
        "chart-rates",
        "chart-completions-four-slots",
        "chart-completions-one-slot",
        "chart-token-time",
        "chart-timeline-four-slots",
        "chart-timeline-one-slot",
    ]


def test_titles_state_the_finding(charts: dict[str, Chart]) -> None:
    assert charts["chart-rates"].title == (
        "four-slots: 104 tok/s at C=1, 207 at C=4, 209 at C=8; "
        "one-slot: 104 tok/s at C=1, 104 at C=8"
    )
    assert charts["chart-completions-one-slot"].title == (
        "one-slot: at C=4 requests complete one after the other"
    )


def test_a_chart_of_batches_names_their_size(charts: dict[str, Chart]) -> None:
    assert charts["chart-completions-four-slots"].title == (
        "four-slots: at C=8 requests complete in batches of 4"
    )


def test_a_disturbed_repeat_is_drawn_apart_and_gives_no_rate() -> None:
    text = samples.QUICKSTART.read_text("utf-8")
    seen = samples.quickstart_observations()
    noisy = Quiet(foreign_share=2.0)
    steps = [
        s.model_copy(update={"quiet": noisy, "wall_s": 99.0})
        if (s.arm, s.concurrency, s.repeat) == ("four-slots", 8, 1)
        else s
        for s in seen.steps
    ]
    view = samples.view_of(
        text,
        seen.model_copy(update={"steps": steps}),
        samples.quickstart_verdicts(text),
        samples.facts(text),
    )
    rates = view.charts[0]

    assert rates.legend[-1].label == "disturbed repeat, no rate is read from it"
    assert "210 at C=8" in rates.title
    assert [row[5].text for row in rates.table.rows[:4]] == ["0", "0", "0", "1"]


def test_svg_has_attributes_instead_of_styles_and_its_own_ids(charts: dict[str, Chart]) -> None:
    for chart in charts.values():
        root = ElementTree.fromstring(to_svg(chart))
        assert root[0].tag == f"{SVG}title"
        assert root[0].text == chart.title
        assert root[1].tag == f"{SVG}desc"
        assert root[1].text == chart.description
        for element in root.iter():
            assert "style" not in element.attrib
            assert element.tag != f"{SVG}style"
            assert element.get("id", chart.id).startswith(chart.id)
        words = [text.text for text in root.iter(f"{SVG}text")]
        assert any("Seconds" in (w or "") or "Requests" in (w or "") for w in words)


def test_no_name_from_a_spec_is_drawn(charts: dict[str, Chart]) -> None:
    for chart in charts.values():
        drawn = [
            text.text or "" for text in ElementTree.fromstring(to_svg(chart)).iter(f"{SVG}text")
        ]
        assert not [word for word in drawn if "four" in word]


def test_every_point_is_in_the_table(charts: dict[str, Chart]) -> None:
    rows = charts["chart-completions-four-slots"].table.rows

    assert len(rows) == 12
    assert rows[3][0].text == "C=8"
    assert len(rows[3][2].text.split(", ")) == 8


def test_the_queue_model_divides_by_whole_batches() -> None:
    steps = [samples.burst("a", 4, load, 1) for load in (1, 2, 4, 8)]
    wall = {s.concurrency: s.wall_s for s in steps}
    four = wall[4]
    assert isinstance(four, float)

    ((load, rate),) = queue_model(steps, 4)
    assert load == 8
    assert rate == pytest.approx(256 / (2 * four))


def test_ten_thousand_points_are_thinned_with_both_ends_kept() -> None:
    kept = thinned(range(10_000), 300)

    assert len(kept) == 300
    assert (kept[0], kept[-1]) == (0, 9999)
    assert {b - a for a, b in pairwise(kept)} <= {33, 34}


def test_nothing_to_draw_draws_nothing() -> None:
    text = samples.QUICKSTART.read_text("utf-8")
    verdicts = samples.quickstart_verdicts(text)

    assert samples.view_of(text, Observations(), verdicts, samples.facts(text)).charts == ()


def test_every_colour_of_the_charts_has_a_dark_form(charts: dict[str, Chart]) -> None:
    dark = (template_dir() / "dark.css").read_text("utf-8")
    used = {c for chart in charts.values() for c in re.findall(r'"(#[0-9a-f]{6})"', to_svg(chart))}

    # Orange is light enough for both; ink is currentColor, and #20262d its light value.
    assert {c for c in used if f'"{c}"' not in dark} <= {"#e69f00", "#20262d"}
