"""The page in a real browser: desktop, phone, dark, without JavaScript."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from tests.report.test_hostile import HOSTILE, poisoned_page

pytestmark = pytest.mark.slow

SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
EXECUTABLE = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
VIEWS = {
    "desktop": {"viewport": {"width": 1280, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 844}},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "plain": {"viewport": {"width": 1280, "height": 900}, "java_script_enabled": False},
}
TOO_WIDE = """() => [...document.querySelectorAll("body *")].filter(
  (e) => !e.closest(".scroll, svg, pre") && e.getBoundingClientRect().right > innerWidth + 0.5
).map((e) => e.outerHTML.slice(0, 120))"""

PATIENCE_MS = 180_000
"""A picture of a whole page takes a minute on a machine that does much else."""


@dataclass
class Visit:
    page: Page
    said: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if EXECUTABLE is None:
        pytest.skip("no chromium on this machine: apt-get install chromium")
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        chromium = playwright.chromium.launch(executable_path=EXECUTABLE, args=arguments)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def files(
    tmp_path_factory: pytest.TempPathFactory, quickstart_html: bytes, audit_html: bytes
) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    hostile = poisoned_page(" ".join(HOSTILE.values()))
    pages = {"quickstart": quickstart_html, "audit": audit_html, "hostile": hostile}
    for name, html in pages.items():
        (folder / f"{name}.html").write_bytes(html)
    return {name: folder / f"{name}.html" for name in pages}


def visit(browser: Browser, path: Path, view: str) -> Visit:
    context = browser.new_context(**VIEWS[view])  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE_MS)
    seen = Visit(context.new_page())
    seen.page.on("console", lambda message: seen.said.append(message.text))
    seen.page.on("pageerror", lambda error: seen.said.append(str(error)))
    seen.page.on("request", lambda request: seen.fetched.append(request.url))
    seen.page.goto(path.as_uri())
    seen.page.wait_for_load_state("networkidle")
    return seen


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", ["quickstart", "audit", "hostile"])
def test_a_page_is_quiet_and_fits(
    browser: Browser, files: dict[str, Path], name: str, view: str
) -> None:
    seen = visit(browser, files[name], view)
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    seen.page.screenshot(path=SCREENSHOTS / f"{name}-{view}.png", full_page=True)

    assert seen.said == []
    assert seen.fetched == [files[name].as_uri()]
    if view != "plain":
        assert seen.page.evaluate("document.documentElement.scrollWidth") == (
            seen.page.evaluate("innerWidth")
        )
        assert seen.page.evaluate(TOO_WIDE) == []
    seen.page.context.close()


def test_on_a_phone_a_name_leaves_room_for_its_number(
    browser: Browser, files: dict[str, Path]
) -> None:
    seen = visit(browser, files["quickstart"], "phone")
    cells = seen.page.locator("section:has(#method) td.number")

    rights = cells.evaluate_all("(all) => all.map((c) => c.getBoundingClientRect().right)")
    assert rights and max(rights) <= 390
    seen.page.context.close()


@pytest.mark.parametrize("view", ["desktop", "phone", "dark"])
@pytest.mark.parametrize("name", ["quickstart", "audit"])
def test_axe_finds_nothing(browser: Browser, files: dict[str, Path], name: str, view: str) -> None:
    seen = visit(browser, files[name], view)
    seen.page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true })")

    found = Axe().run(seen.page).response["violations"]

    assert [(v["id"], [n["html"][:160] for n in v["nodes"]]) for v in found] == []
    seen.page.context.close()


def test_without_javascript_the_same_words_are_seen(
    browser: Browser, files: dict[str, Path]
) -> None:
    plain = visit(browser, files["quickstart"], "plain")
    full = visit(browser, files["quickstart"], "desktop")
    full.page.evaluate("document.querySelectorAll('pre + button').forEach((b) => b.remove())")

    assert plain.page.inner_text("body").split() == full.page.inner_text("body").split()
    plain.page.context.close()
    full.page.context.close()


def test_a_link_into_a_closed_fold_opens_it(browser: Browser, files: dict[str, Path]) -> None:
    seen = visit(browser, files["quickstart"], "desktop")
    anchor = "check-aggregate-four-slots-c-8"
    assert not seen.page.is_visible(f"#{anchor}")

    seen.page.evaluate(f"location.hash = '{anchor}'")

    seen.page.wait_for_selector(f"#{anchor}", state="visible")
    seen.page.context.close()


def test_a_table_sorts_by_number(browser: Browser, files: dict[str, Path]) -> None:
    seen = visit(browser, files["quickstart"], "desktop")
    cells = "table.sortable tbody tr td:nth-child(5)"
    seen.page.click("table.sortable th:nth-child(5) button")

    walls = [float(text) for text in seen.page.locator(cells).all_inner_texts()]

    assert walls == sorted(walls)
    seen.page.context.close()
