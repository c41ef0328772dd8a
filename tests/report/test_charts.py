"""Charts: a finding, a text alternative, a table, and SVG that any style sheet can recolour."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
import yaml

from benchspec.judge.judge import judge
from benchspec.observations.from_spec import observations_of
from benchspec.observations.model import Budget, Observations, Quiet, Series, Step
from benchspec.observations.node import Bounds
from benchspec.report.charts.canvas import to_svg
from benchspec.report.charts.chart import Chart, thinned
from benchspec.report.charts.rates import queue_model
from benchspec.report.html import template_dir
from benchspec.spec.models import Spec
from tests.report import samples

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def charts() -> dict[str, Chart]:
    return {chart.id: chart for chart in samples.quickstart().charts}


def test_the_quickstart_has_its_charts(charts: dict[str, Chart]) -> None:
    assert list(charts) == [
        "chart-rates",
        "chart-completions-four-slots",
        "chart-completions-one-slot",
        "chart-token-time",
        "chart-first-token",
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


def counters(*series: Series, budgets: list[Budget] | None = None) -> dict[str, Chart]:
    text = samples.QUICKSTART.read_text("utf-8")
    seen = Observations(series=list(series), budgets=budgets or [])
    view = samples.view_of(text, seen, samples.quickstart_verdicts(text), samples.facts(text))
    drawn = {chart.id: chart for chart in view.charts}
    for chart in drawn.values():
        ElementTree.fromstring(to_svg(chart))
    return drawn


def test_utilisation_is_stacked_to_its_sum() -> None:
    shares = {"gpu0": 33.2, "gpu1": 34.6, "gpu2": 31.3}
    series = [
        Series(counter="utilization", unit="%", device=d, arm="main", phase="decode", mean=u)
        for d, u in shares.items()
    ]

    title = counters(*series)["chart-utilisation"].title

    assert title == "main decode: 33.2 + 34.6 + 31.3 = 99.1 % of one device's time"


def test_a_bursty_counter_shows_its_mean_beside_its_median() -> None:
    values: list[float | None] = [13, 13, 12, 11, 13, 15, 13, 0, 1111, 10, 0, 70]
    series = Series(counter="pcie_rx", unit="MB/s", device="gpu0", values=values, interval_s=1.0)
    (chart,) = counters(series).values()

    assert chart.title.endswith("mean 107, median 13 MB/s")
    assert len(chart.table.rows) == 12


def test_traffic_without_samples_is_drawn_as_means_with_their_range() -> None:
    rows = [
        Series(counter=c, unit="MB/s", device="gpu0", arm="A", phase="prefill", mean=m)
        for c, m in (("pcie_rx", 1045.0), ("pcie_tx", 1252.0))
    ]

    assert counters(*rows)["chart-traffic-prefill"].title == (
        "Link traffic in prefill: at most 1,250 MB/s, A gpu0 pcie-tx"
    )


def test_a_budget_says_what_no_part_names() -> None:
    parts: dict[str, float | Bounds] = {"attention": 10.5, "experts": 13.2, "link": 2.2}
    budget = Budget(name="round", total_ms=33.0, parts=parts)

    chart = counters(budgets=[budget])["chart-budget-round"]

    assert chart.title == "round: 21.5\u00a0% of 33 ms not listed"
    assert [row[1].text for row in chart.table.rows] == [*parts, "not listed"]


def test_arms_at_one_load_are_drawn_beside_each_other() -> None:
    text = samples.QUICKSTART.read_text("utf-8")
    steps = [
        Step(arm=arm, concurrency=1, repeat=r, stream_tok_s=rate + r, prefill_tok_s=500.0)
        for arm, rate in (("four-slots", 20.0), ("one-slot", 40.0))
        for r in (1, 2, 3)
    ]
    verdicts = samples.quickstart_verdicts(text)
    view = samples.view_of(text, Observations(steps=steps), verdicts, samples.facts(text))

    assert [chart.id for chart in view.charts] == ["chart-arms"]
    assert view.charts[0].title.startswith("Decode: one-slot is 1.91 times four-slots")


def audited(steps: str) -> dict[str, Chart]:
    text = f"benchspec: 1\nstudy: {{title: t}}\nengine: {{kind: llama.cpp, slots: 4}}\n{steps}"
    spec = Spec.model_validate(yaml.safe_load(text))
    seen = observations_of(spec)
    verdicts = judge(spec, seen, spec_sha256="0" * 64)
    view = samples.view_of(text, seen, verdicts, samples.facts(text))
    return {chart.id: chart for chart in view.charts}


def test_rates_of_all_without_those_of_one_stream_are_drawn() -> None:
    """What most posts print: tokens per second in all, by requests in flight."""
    steps = "observations: {steps: [{concurrency: 1, aggregate_tok_s: 140}, "
    chart = audited(steps + "{concurrency: 8, aggregate_tok_s: 840}]}")["chart-rates"]
    assert chart.title == "140 tok/s at C=1, 840 at C=8"
    assert to_svg(chart).startswith("<svg")


def test_an_open_loop_is_drawn_over_requests_per_second_and_has_no_slots() -> None:
    steps = "observations: {steps: [{rate: 1, aggregate_tok_s: 31.2, ttft_ms: 187}, "
    found = audited(steps + "{rate: 4, aggregate_tok_s: 62.4, ttft_ms: 10900}]}")
    assert found["chart-rates"].title == "31.2 tok/s at 1 request/s, 62.4 at 4 requests/s"
    assert found["chart-first-token"].title == (
        "First token: 187 ms at 1 request/s, 10,900 ms at 4 requests/s"
    )
    for chart in (found["chart-rates"], found["chart-first-token"]):
        assert "Requests per second" in to_svg(chart)
        assert chart.table is not None
        assert chart.table.head[1] == "Requests/s"
    assert "4 slots" not in to_svg(found["chart-rates"])
