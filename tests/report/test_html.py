"""The page: one file that fetches nothing, reads in order, and says where each number is from."""

from __future__ import annotations

import base64
import hashlib
import re
from itertools import pairwise

import pytest

from benchspec.judge.result import HypothesisResult
from benchspec.observations.model import Request, Step
from benchspec.observations.node import Bounds
from benchspec.report.html import render_html, visible_text
from benchspec.report.sections.comparison import _load
from benchspec.report.sections.headline import answer
from tests.judge.world import spec
from tests.report import samples
from tests.report.pages import Page


def test_the_sections_stand_in_the_order_of_trust(quickstart_page: Page) -> None:
    headings = [h.attributes["id"] for h in quickstart_page.all("h2")]

    assert headings == [
        "verdicts",
        "unfinished",
        "comparison",
        "charts",
        "checks",
        "exploratory",
        "notes",
        "setup",
        "method",
        "in-range",
        "data",
        "citation",
    ]


def test_a_card_shows_word_shape_and_division(quickstart_page: Page) -> None:
    card = next(e for e in quickstart_page.elements if e.attributes.get("id") == "hypothesis-h1")
    words = " ".join(card.text.split())

    assert "Supported" in words
    assert "T(8) / (floor(8 / 4) x T(4)) = 1.21 s / (2 x 0.607 s) = 0.997" in words
    assert "Predicted 1 [declared]" in words
    assert "Measured 0.997 [derived]" in words
    assert "Error -0.3\u00a0%" in card.text
    assert "3 repeats 0.991 to 1.004" in words
    assert "T(4) = 0.607\u00a0s [measured: 4 requests of arm four-slots, C=4]" in card.text
    assert "Registered test: queueing at four-slots C=8 reads queued" in words


def test_every_state_has_its_own_shape(quickstart_page: Page) -> None:
    tally = quickstart_page.with_class("tally")[0]
    shapes = {
        item.text.split()[1]: [c.tag for c in item.children[0].children] for item in tally.children
    }

    assert set(shapes) == {"supported", "refuted", "inconclusive"}
    assert len({tuple(shape) for shape in shapes.values()}) == 3


def test_an_exploratory_finding_is_not_among_the_verdicts(quickstart_page: Page) -> None:
    apart = quickstart_page.with_class("exploratory")[0]

    assert "Reading the prompt takes longer" in apart.text
    answers = quickstart_page.with_class("answers")[0]
    assert len(answers.children) == 4
    assert "Reading the prompt takes longer" not in answers.text


def test_the_first_screen_has_the_answers_their_divisions_and_what_is_open(
    quickstart_page: Page,
) -> None:
    header = quickstart_page.all("header")[0]
    words = " ".join(header.text.split())
    view = samples.quickstart()

    for hypothesis in view.headline.answers:
        assert f"{hypothesis.word}: {hypothesis.claim}" in words
    assert "T(8) / (floor(8 / 4) x T(4)) = 1.21 s / (2 x 0.607 s) = 0.997" in words
    assert (
        f"Not known: {view.headline.open_point}; and {view.headline.open_points - 1} more" in words
    )


def test_long_names_do_not_push_the_numbers_out_of_the_answer() -> None:
    names = f"wall_s at arm {'long-' * 10}a, C=4 / at arm {'long-' * 10}a, C=1"
    result = HypothesisResult(
        id="H1",
        claim="x",
        verdict="supported",
        reason="",
        arithmetic=f"{names} = 1.716 / 0.421 = 4.076; 5 repeats",
        value=4.076,
    )
    assert answer(result).basis == "1.716 / 0.421 = 4.076"


def test_cells_of_two_contexts_can_be_told_apart() -> None:
    seen = samples.quickstart_observations()
    steps = [
        step.model_copy(update={"context_tokens": tokens, "cache": "cold"})
        for step in seen.steps
        for tokens in (48, 512)
    ]
    text = samples.QUICKSTART.read_text("utf-8")
    seen = seen.model_copy(update={"steps": steps})
    view = samples.view_of(text, seen, samples.quickstart_verdicts(text), samples.facts(text))

    assert view.data.steps is not None
    head = view.data.steps.head
    assert head[:4] == ("Arm", "C", "Context", "Cache")
    rows = [[cell.text for cell in row[:5]] for row in view.data.steps.rows]
    assert len(set(map(tuple, rows))) == len(steps)


def test_an_open_loop_has_the_rate_asked_and_the_rate_sent() -> None:
    requests = [Request(start_s=i * 0.55, end_s=i * 0.55 + 1, tokens=32) for i in range(11)]
    loop = Step(arm="four-slots", rate=2.0, mode="open", requests=requests)
    seen = samples.quickstart_observations()
    text = samples.QUICKSTART.read_text("utf-8")

    def cells(*steps: Step) -> list[dict[str, str]]:
        some = seen.model_copy(update={"steps": list(steps)})
        view = samples.view_of(text, some, samples.quickstart_verdicts(text), samples.facts(text))
        assert view.data.steps is not None
        return [
            dict(zip(view.data.steps.head, (c.text for c in row), strict=True))
            for row in view.data.steps.rows
        ]

    (alone,) = cells(loop)
    assert (alone["Asked 1/s"], alone["Sent 1/s"]) == ("2", "1.818")
    assert "C" not in alone
    closed, opened = cells(seen.steps[0], loop)
    assert (closed["C"], closed["Asked 1/s"], closed["Sent 1/s"]) == ("1", "–", "–")
    assert (opened["C"], opened["Sent 1/s"]) == ("–", "1.818")
    assert not {"Asked 1/s", "Sent 1/s"} & cells(seen.steps[0])[0].keys()


def test_the_length_of_prompts_stands_beside_what_the_server_counted() -> None:
    def sentences(asked: int) -> list[str]:
        """Of the quickstart, whose server counts 16."""
        text = samples.QUICKSTART.read_text("utf-8").replace("tokens: 16,", f"tokens: {asked},")
        told = samples.quickstart_verdicts(text), samples.facts(text)
        view = samples.view_of(text, samples.quickstart_observations(), *told)
        return [s.replace("\u00a0", " ") for s in view.method.sentences]

    assert "Prompts of 16 tokens, no two alike; the server counted 16." in sentences(16)
    assert not any(s.startswith("Caveat") for s in sentences(16))
    told = sentences(12)
    place = told.index("Prompts of 12 tokens, no two alike; the server counted 16.")
    assert told[place + 1] == (
        "Caveat: that is more than 5 % from what was asked for (arm four-slots, C=1 and 7 more): "
        "read times to a first token as of the length counted."
    )


@pytest.mark.parametrize(
    ("arithmetic", "value", "division"),
    [
        ("6.772 GB; ceiling 1 / 4.355 ms = 229.6; 24.39 / 229.6 = 10.6 %; x", 0.1062, 2),
        ("ceil(8 / 4) x 1 s = 2 s, measured 2.02 s, ratio 1.01; r 9 / 10 = 0.9", 1.0101, 0),
        ("6 of 6 settings", 4.0, 0),
        ("wall_s at arm a, C=4 / at arm a, C=1 = 1.716 / 0.421 = 4.076; 5 repeats", 4.076, 0),
        ("a; 1 / 2 = 0.5; 3 / 4 = 0.75", None, 1),
        ("a; 1 / 2 = 0.5; 3 / 4 = 0.75", Bounds(low=0.5, high=0.8), 1),
    ],
)
def test_of_several_clauses_the_one_that_gives_the_value_is_the_division(
    arithmetic: str, value: float | Bounds | None, division: int
) -> None:
    result = HypothesisResult(
        id="H1", claim="x", verdict="supported", reason="", arithmetic=arithmetic, value=value
    )
    assert answer(result).basis == arithmetic.split("; ")[division]


def test_what_was_not_judged_says_why(quickstart_page: Page) -> None:
    result = next(
        e for e in quickstart_page.elements if e.attributes.get("id") == "check-repeats-all"
    )

    assert "not judged" in result.text
    assert "drift needs five repeats, there are three." in result.text


def test_an_audit_says_that_nothing_was_measured(audit_page: Page) -> None:
    assert audit_page.with_class("stamp")[0].text == "audited, not measured here"
    header = audit_page.all("header")[0].text
    assert "Measured by benchspec" not in header
    assert " UTC" not in header, "of an audit only the day is known"


def test_chinese_and_japanese_stand_as_they_are(audit_page: Page) -> None:
    assert audit_page.all("h1")[0].text == "三張卡 33 %：三枚のカード at 33 %"


def test_nothing_is_fetched(quickstart_page: Page) -> None:
    loading = {"img", "iframe", "object", "embed", "audio", "video", "source", "image", "base"}

    assert not [e.tag for e in quickstart_page.elements if e.tag in loading]
    assert not [e for e in quickstart_page.elements if "src" in e.attributes]
    links = [e.attributes.get("href", "") for e in quickstart_page.elements]
    assert [href for href in links if href and not href.startswith("#")] == ["data:,"]
    styles = "".join(style.text for style in quickstart_page.all("style"))
    assert "url(" not in styles
    assert "@import" not in styles


def test_the_policy_allows_only_what_is_in_the_page(quickstart_page: Page) -> None:
    policy = quickstart_page.all("meta")[1].attributes["content"]
    inline = [e.text for e in quickstart_page.all("style")]
    inline += [e.text for e in quickstart_page.all("script") if "type" not in e.attributes]

    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for text in inline:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert not [e for e in quickstart_page.elements if "style" in e.attributes]
    assert not [
        e for e in quickstart_page.elements if any(a.startswith("on") for a in e.attributes)
    ]


def test_whatever_the_load_states_is_held_equal() -> None:
    load = {"mode": "burst", "concurrency": [1, 4], "slo": {"ttft": "500 ms"}, "requests": 12}
    study = spec(load=load, repeats=5)
    assert [(pair.label, pair.value) for pair in _load(study)] == [
        ("load.mode", "burst"),
        ("load.concurrency", "1, 4"),
        ("load.requests", "12"),
        ("load.slo.ttft", "500 ms"),
        ("load.repeats", "5"),
        ("load.order", "interleaved"),
        ("load.warm-up", "1 request"),
    ]


def test_every_link_on_the_page_has_its_place(quickstart_page: Page, audit_page: Page) -> None:
    for page in (quickstart_page, audit_page):
        ids = [e.attributes["id"] for e in page.elements if "id" in e.attributes]
        assert len(ids) == len(set(ids))
        for element in page.elements:
            href = element.attributes.get("href", "")
            if href.startswith("#"):
                assert href[1:] in ids, href
            for name in ("aria-labelledby", "clip-path"):
                for target in re.findall(r"[\w.-]+", element.attributes.get(name, "")):
                    assert target in {*ids, "url"}, element


def test_tables_are_sound_for_a_screen_reader(quickstart_page: Page) -> None:
    tables = quickstart_page.all("table")

    assert tables
    for table in tables:
        assert table.children[0].tag == "caption"
        assert table.children[0].text
    assert all(th.attributes.get("scope") in {"col", "row"} for th in quickstart_page.all("th"))


def test_headings_skip_no_level(quickstart_page: Page) -> None:
    levels = [int(e.tag[1]) for e in quickstart_page.elements if re.fullmatch("h[1-6]", e.tag)]

    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


def test_the_words_are_compared_without_markup(quickstart_html: bytes) -> None:
    words = visible_text(quickstart_html)

    assert "What this didn’t finish" in words
    assert "color:" not in words
    assert "format_version" not in words


def test_a_view_renders_to_the_same_bytes(quickstart_html: bytes) -> None:
    assert render_html(samples.quickstart()) == quickstart_html


def test_the_page_stays_small(quickstart_html: bytes) -> None:
    assert len(quickstart_html) < 1_000_000


def test_a_figure_that_nobody_has_is_not_shown_as_the_division_of_another_check() -> None:
    text = samples.QUICKSTART.read_text("utf-8")
    verdicts = samples.quickstart_verdicts(text)
    settings = next(c for c in verdicts.checks if c.check == "effective-settings")
    (h1, *others) = verdicts.hypotheses
    lost = h1.model_copy(
        update={"verdict": "invalid", "arithmetic": None, "checks": [settings.key]}
    )
    told = verdicts.model_copy(update={"hypotheses": [lost, *others]})
    view = samples.view_of(text, samples.quickstart_observations(), told, samples.facts(text))
    assert view.cards[0].division is None
