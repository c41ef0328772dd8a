"""Files to publish a report with: each stands alone, and none says more than the verdicts."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from PIL import Image

from benchspec.judge.result import Verdicts
from benchspec.report.extras import EXTRAS, extras
from benchspec.report.html import render_html
from benchspec.report.index import entry, render_index
from benchspec.report.parts import STATES
from benchspec.report.view import ReportView
from benchspec.spec.models import Spec
from benchspec.store.manifest import RENDERED
from tests.report import samples
from tests.report.pages import Page
from tests.report.test_hostile import HOSTILE

POISON = '<script>x</script>\u202e\x00 “" 三張卡 ' + "y" * 5000


@pytest.fixture(scope="module")
def made() -> dict[str, bytes]:
    return extras(samples.quickstart())


def poisoned() -> ReportView:
    view = samples.quickstart()
    spec = Spec.model_validate(
        {
            "benchspec": 1,
            "study": {"title": POISON[:200], "authors": [POISON], "license": POISON, "url": POISON},
        }
    )
    cards = tuple(replace(c, id=POISON, claim=POISON, division=POISON) for c in view.cards)
    head = replace(view.headline, conditions=POISON, title=POISON, summary=POISON)
    return replace(view, headline=head, cards=cards, study=spec.study)


def test_the_badge_states_the_result(made: dict[str, bytes]) -> None:
    root = ElementTree.fromstring(made["badge.svg"])

    assert root[0].text == (
        "benchspec: 2 supported, 1 refuted, 1 inconclusive "
        "(english-prose, 48 tokens of context, speculation none)"
    )
    assert b"href" not in made["badge.svg"]


def test_the_badge_carries_the_conditions() -> None:
    view = samples.quickstart()
    conditions = "english-prose, 48 tokens of context, speculation none"
    assert view.headline.conditions == conditions
    assert f"({conditions})".encode() in EXTRAS["badge.svg"](view)
    bare = replace(view, headline=replace(view.headline, conditions=""))
    assert b"(" not in EXTRAS["badge.svg"](bare)


def test_conditions_that_differ_between_arms_are_all_said() -> None:
    text = samples.QUICKSTART.read_text("utf-8").replace(
        "- id: one-slot\n",
        "- id: one-slot\n    workload: {label: {material: code, speculation: mtp k=3}}\n",
    )
    seen, verdicts = samples.quickstart_observations(), samples.quickstart_verdicts(text)
    view = samples.view_of(text, seen, verdicts, samples.facts(text))
    assert view.headline.conditions == (
        "english-prose / code, 48 tokens of context, speculation none / mtp k=3"
    )


def test_the_card_draws_the_conditions() -> None:
    view = samples.quickstart()
    bare = replace(view, headline=replace(view.headline, conditions=""))
    assert EXTRAS["card.png"](view) != EXTRAS["card.png"](bare)


def test_an_audit_says_so_on_its_badge() -> None:
    assert b"audited: 1 refuted" in EXTRAS["badge.svg"](samples.blog_post())


def test_the_card_has_the_size_that_sites_expect(made: dict[str, bytes]) -> None:
    import io

    image = Image.open(io.BytesIO(made["card.png"]))

    assert image.size == (1200, 630)
    assert len(made["card.png"]) < 300_000


def test_the_fragment_needs_no_style_sheet_and_no_script(made: dict[str, bytes]) -> None:
    page = Page(made["embed.html"])

    assert not page.all("script")
    assert not page.all("style")
    assert [row.text.split()[0] for row in page.all("tr")[1:]] == ["H1", "H2", "H3", "H4"]


def test_the_citation_has_what_the_format_requires(made: dict[str, bytes]) -> None:
    data = yaml.safe_load(made["CITATION.cff"])

    assert {"cff-version", "message", "title", "authors"} <= set(data)
    assert data["cff-version"] == "1.2.0"
    assert data["license"] == "CC-BY-4.0"
    assert data["date-released"] == "2026-03-01"


def test_every_reference_in_the_crate_has_an_entity(made: dict[str, bytes]) -> None:
    graph = json.loads(made["ro-crate-metadata.json"])["@graph"]
    known = {entity["@id"] for entity in graph}
    root = next(entity for entity in graph if entity["@id"] == "./")

    assert {part["@id"] for part in root["hasPart"]} <= known
    assert {person["@id"] for person in root["author"]} <= known
    assert root["mentions"]["@id"] in known
    assert all(re.fullmatch("[0-9a-f]{64}", e["sha256"]) for e in graph if e["@type"] == "File")


@pytest.mark.parametrize("name", EXTRAS)
def test_hostile_text_stays_text(name: str) -> None:
    data = EXTRAS[name](poisoned())

    if name != "card.png":
        text = data.decode("utf-8")
        assert not {"\x00", "\u202e"} & set(text)
        assert "<script>" not in text or name in {"CITATION.cff", "ro-crate-metadata.json"}
        assert len(data) < 60_000
    readers: dict[str, Any] = {
        "badge.svg": ElementTree.fromstring,
        "CITATION.cff": yaml.safe_load,
        "ro-crate-metadata.json": json.loads,
    }
    readers.get(name, len)(data)


def test_a_bundle_knows_them_as_rendered() -> None:
    assert {"report.html", "report.pdf", *EXTRAS} == RENDERED


def test_the_same_view_gives_the_same_files(made: dict[str, bytes]) -> None:
    assert extras(samples.quickstart()) == made


def test_a_report_with_an_address_has_cards_for_other_sites() -> None:
    view = replace(samples.quickstart(), url="https://example.org/post/report.html")
    page = Page(render_html(view))
    metas = {m.attributes.get("property"): m.attributes["content"] for m in page.all("meta")[1:]}

    assert metas["og:image"] == "https://example.org/post/card.png"
    assert page.all("link")[0].attributes["href"] == "https://example.org/post/report.html"


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd", 'https://x"y', "x"])
def test_an_address_that_is_not_on_the_web_is_none(url: str) -> None:
    text = samples.QUICKSTART.read_text("utf-8")
    verdicts = samples.quickstart_verdicts(text)
    told = samples.facts(text, url=url)

    view = samples.view_of(text, samples.quickstart_observations(), verdicts, told)

    assert view.url is None


def test_the_dataset_describes_itself(quickstart_page: Page) -> None:
    script = next(
        s for s in quickstart_page.all("script") if s.attributes.get("type", "").endswith("ld+json")
    )
    data = json.loads(script.text)

    assert data["@type"] == "Dataset"
    assert 50 <= len(data["description"]) <= 5000
    assert {"@type": "PropertyValue", "name": "aggregate", "unitText": "tok/s"} in (
        data["variableMeasured"]
    )


def test_an_index_lists_reports_newest_first() -> None:
    verdicts = samples.quickstart_verdicts("")
    hostile = Verdicts.model_validate(verdicts.model_dump() | {"study": HOSTILE["tags"]})
    page = Page(
        render_index(
            [entry("a/report.html", "2026-01-01", verdicts), entry("b", "2026-02-01", hostile)],
            "runs",
        )
    )

    assert [a.attributes["href"] for a in page.all("a")] == ["b", "a/report.html"]
    assert page.all("a")[0].text.startswith("<script>")
    assert {li.attributes["class"] for li in page.all("li")} <= set(STATES)
