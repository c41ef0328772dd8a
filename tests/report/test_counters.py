"""What was counted beside the requests stands in the report: each counter, and how it was read."""

from __future__ import annotations

from typing import Any

from benchspec.observations.model import Observations, Series
from benchspec.observations.node import Bounds
from benchspec.report.html import render_html, visible_text
from benchspec.report.parts import Data, Table
from benchspec.report.pdf import render_pdf
from benchspec.report.sections.counters import MAX_ROWS
from benchspec.report.view import ReportView
from tests.report import samples
from tests.report.pages import Page
from tests.report.test_pdf import reader


def series(counter: str = "power", unit: str = "W", **rest: Any) -> Series:
    base: dict[str, Any] = {"arm": "a", "concurrency": 4, "repeat": 1, "device": "gpu0"}
    return Series(counter=counter, unit=unit, **base | rest)


CUMULATIVE = series(
    "energy", values=[100.0, 300.0], mean=150.0, total=30.0, interval_s=0.1, source="NVML field 83"
)
WINDOW = series(
    "pcie_tx", "MB/s", values=[10.0, None, 30.0], window_s=0.02, interval_s=0.1, phase="decode",
    provenance="bound",
)  # fmt: skip


def view(*each: Series) -> ReportView:
    text = samples.QUICKSTART.read_text("utf-8")
    seen: Observations = samples.quickstart_observations().model_copy(update={"series": [*each]})
    return samples.view_of(text, seen, samples.quickstart_verdicts(text), samples.facts(text))


def data(*each: Series) -> Data:
    return view(*each).data


def rows(table: Table | None) -> list[tuple[str, ...]]:
    return [tuple(c.text for c in row) for row in table.rows] if table else []


def test_a_row_has_place_mean_max_count_unit_and_how_it_was_read() -> None:
    found = data(CUMULATIVE, WINDOW)
    assert rows(found.counters) == [
        ("a", "C=4", "gpu0", "energy", "all", "150", "300", "2", "W", "cumulative"),
        ("a", "C=4", "gpu0", "pcie_tx", "decode", "20", "30", "2", "MB/s", "window"),
    ]
    assert found.counters is not None
    assert [row[5].provenance for row in found.counters.rows] == [None, "bound"]
    assert found.counter_repeats is None, "one repeat is said once"


def test_over_repeats_stands_the_range_of_the_means_and_each_repeat_apart() -> None:
    other = CUMULATIVE.model_copy(update={"repeat": 2, "mean": 170.0, "values": [1.0, 2.0, 350.0]})
    found = data(CUMULATIVE, other)
    assert rows(found.counters) == [
        ("a", "C=4", "gpu0", "energy", "all", "150 to 170", "350", "2 to 3", "W", "cumulative")
    ]
    assert [row[5:9] for row in rows(found.counter_repeats)] == [
        ("1", "150", "300", "2"),
        ("2", "170", "350", "3"),
    ]


def test_a_counter_of_the_host_has_no_device_and_an_open_loop_has_a_rate() -> None:
    swap = series(
        "memory_swap_used", "MiB", device=None, concurrency=None, rate=2.5, values=[0.0, 0.0]
    )
    assert rows(data(swap).counters) == [
        ("a", "rate=2.5", "host", "memory_swap_used", "all", "0", "0", "2", "MiB", "sampled")
    ]


def test_a_published_mean_without_samples_has_no_largest() -> None:
    told = series(mean=90.0, range=Bounds(low=80, high=95), counts=[12, 13], provenance="declared")
    (row,) = rows(data(told.model_copy(update={"concurrency": None})).counters)
    assert row[1] == "–", "nobody says of which step it is"
    assert row[5:8] == ("80 to 95", "–", "12 to 13")


def test_how_each_was_read_is_said_once_and_so_is_what_was_not() -> None:
    later = CUMULATIVE.model_copy(update={"repeat": 2, "interval_s": 0.104})
    lacking = Series(counter="energy", unit="", not_measured="no RAPL here")
    assert rows(data(CUMULATIVE, later, WINDOW, lacking).counter_sources) == [
        ("energy", "gpu0", "cumulative, every 100\u00a0ms", "NVML field 83"),
        ("pcie_tx", "gpu0", "window of 20\u00a0ms, every 100\u00a0ms", "not stated"),
        ("energy", "host", "not, or not always", "no RAPL here"),
    ]


def test_nothing_counted_is_no_table() -> None:
    found = data()
    assert (found.counters, found.counter_repeats, found.counter_sources) == (None, None, None)


def test_the_table_is_bounded_and_says_what_it_leaves_out() -> None:
    many = [series(f"counter_{i}", values=[1.0]) for i in range(MAX_ROWS + 7)]
    found = data(*many).counters
    assert found is not None
    assert len(found.rows) == MAX_ROWS
    assert (found.note or "").endswith("7 more rows in observations.json.")


def test_the_page_has_both_tables_and_the_pdf_the_one_over_repeats() -> None:
    both = [CUMULATIVE, CUMULATIVE.model_copy(update={"repeat": 2})]
    html = render_html(view(*both))
    words = visible_text(html)
    assert "Every counter, over its repeats" in words
    assert "Every counter, in every repeat" in words
    folds = [e for e in Page(html).with_class("counters") if e.tag == "details"]
    assert ["screen-only" in e.attributes["class"] for e in folds] == [False, True, False]
    pages = reader(render_pdf(html, [], utc=samples.UTC)).pages
    printed = " ".join(page.extract_text() for page in pages)
    assert "Every counter, over its repeats" in printed
    assert "How each counter was read" in printed
    assert "Every counter, in every repeat" not in printed
