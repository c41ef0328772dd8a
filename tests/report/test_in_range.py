"""You are in range if …: the bands on the page, and what is said where there are none."""

from __future__ import annotations

import pytest
import yaml

from benchspec.judge.case import Case
from benchspec.judge.reproduction import band
from benchspec.judge.spread import MAIN, over_repeats
from benchspec.observations.model import Observations
from benchspec.report.html import render_html
from benchspec.report.material import Material
from benchspec.report.parts import InRange
from benchspec.report.sections.in_range import in_range
from benchspec.report.view import ReportView
from benchspec.spec.models import Spec
from tests.report import samples
from tests.report.pages import Page


def view_with(observations: Observations) -> ReportView:
    text = samples.QUICKSTART.read_text("utf-8")
    verdicts = samples.quickstart_verdicts(text)
    return samples.view_of(text, observations, verdicts, samples.facts(text))


def quickstart_spec() -> Spec:
    return Spec.model_validate(yaml.safe_load(samples.QUICKSTART.read_text("utf-8")))


def section(view: ReportView) -> InRange:
    assert view.in_range is not None
    return view.in_range


def test_every_step_has_its_bands() -> None:
    found = section(samples.quickstart())
    assert found.table is not None
    heads = ("Step", "Aggregate tok/s", "Stream tok/s", "TTFT ms", "ITL ms", "Wall s")
    assert found.table.head == heads
    assert [row[0].text for row in found.table.rows][:2] == ["four-slots C=1", "four-slots C=2"]
    assert len(found.table.rows) == 8


def test_a_band_on_the_page_is_the_band_of_the_command() -> None:
    case = Case(quickstart_spec(), samples.quickstart_observations())
    known = band(over_repeats(case, case.places[0], MAIN[0]))
    table = section(samples.quickstart()).table
    assert known is not None
    assert table is not None
    low, high = map(float, table.rows[0][1].text.split(" to "))
    assert low <= known.low < known.high <= high  # rounded outward
    assert (low, high) == pytest.approx((known.low, known.high), rel=0.01)


def test_the_command_and_the_digest_are_there_to_copy(quickstart_page: Page) -> None:
    words = " ".join(next(e for e in quickstart_page.all("main")).text.split())
    digest = samples.facts(samples.QUICKSTART.read_text("utf-8")).spec_sha256
    assert "benchspec compare --reproduce report.html YOUR-RUN" in words
    assert f"if your spec.yaml has the SHA-256 {digest}" in words


def test_one_repeat_gives_no_band_and_says_so() -> None:
    seen = samples.quickstart_observations()
    once = seen.model_copy(update={"steps": [s for s in seen.steps if s.repeat == 1]})
    view = view_with(once)
    assert section(view).table is None
    assert section(view).missing == "no band: 1 repeat of the 3 that it needs"
    assert b"Nobody can say yet: no band: 1 repeat" in render_html(view)


def test_steps_without_a_band_are_counted() -> None:
    seen = samples.quickstart_observations()
    steps = [s for s in seen.steps if s.repeat == 1 or s.arm == "one-slot"]
    table = section(view_with(seen.model_copy(update={"steps": steps}))).table
    assert table is not None
    assert {row[0].text.split()[0] for row in table.rows} == {"one-slot"}
    assert table.note == "4 other steps without a band: too few repeats, or too far apart."


def test_an_audit_without_repeats_has_no_such_section(audit_page: Page) -> None:
    assert samples.blog_post().in_range is None
    assert "in-range" not in {h.attributes.get("id") for h in audit_page.all("h2")}


def test_prompts_from_a_file_have_no_digest() -> None:
    text = samples.QUICKSTART.read_text("utf-8").replace(
        "prompt: {tokens: 16, unique: true}", "prompt: {file: prompts.jsonl}"
    )
    told = samples.facts(text)
    view = samples.view_of(
        text, samples.quickstart_observations(), samples.quickstart_verdicts(text), told
    )
    assert section(view).prompts is None


def test_nothing_measured_is_said() -> None:
    text = samples.QUICKSTART.read_text("utf-8")
    verdicts, facts = samples.quickstart_verdicts(text), samples.facts(text)
    found = in_range(Material(quickstart_spec(), Observations(), verdicts, facts))
    assert found is not None
    assert found.missing == "no step was finished"
