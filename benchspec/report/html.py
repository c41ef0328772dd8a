"""ReportView to one self-contained HTML file: nothing is fetched, nothing needs JavaScript."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import jinja2
from markupsafe import Markup, escape

from benchspec.report.charts.canvas import to_svg
from benchspec.report.dates import instant
from benchspec.report.text import visible
from benchspec.report.view import ReportView

SPEC_LIMIT = 60_000
"""Characters of the spec that the page shows; the whole is in the page's data and in the PDF."""

STYLES = (("report.css", None), ("screen.css", "screen"), ("print.css", "print"))
DARK = ("dark.css", "screen and (prefers-color-scheme: dark)")


def template_dir() -> Path:
    """Where the templates are: in the wheel inside the package, in a checkout beside it."""
    package = Path(__file__).parents[1]
    packaged = package / "_templates"
    return packaged if packaged.is_dir() else package.parent / "templates"


def render_html(view: ReportView) -> bytes:
    """The whole report as UTF-8. Pure but for reading the templates; the same view, the same bytes."""
    return render_page(
        "report.html.j2",
        view=view,
        charts=[(chart, Markup(to_svg(chart))) for chart in view.charts],
        result_json=Markup(view.result_json),
        linked_json=Markup(view.linked_json),
        dated=instant(view.facts.utc),
        image=urljoin(view.url, "card.png") if view.url else None,
    )


def render_page(template: str, **values: object) -> bytes:
    """A page with the style sheets and the script inside, and a policy that allows only those."""
    styles = [(_read(name), media) for name, media in (*STYLES, DARK)]
    script = _read("report.js")
    return render(
        template,
        styles=[(Markup(text), media) for text, media in styles],
        script=Markup(script),
        policy=_policy([text for text, _ in styles], script),
        **values,
    )


def render(template: str, **values: object) -> bytes:
    """One of the smaller templates, with the same escaping and the same gate for text."""
    return _environment().get_template(template).render(values).encode("utf-8")


def visible_text(html: bytes) -> str:
    """The words of a report without markup, styles, script and data, white space collapsed.

    Two renderings of one bundle by different library versions are compared by this.
    """
    reader = _Words()
    reader.feed(html.decode("utf-8"))
    return " ".join("".join(reader.words).split())


def _policy(styles: list[str], script: str) -> str:
    """Content-Security-Policy: nothing but these style sheets and this script, by their hashes."""
    sources = " ".join(_hash(text) for text in styles)
    return (
        f"default-src 'none'; style-src {sources}; script-src {_hash(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template_dir()),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["whole"] = _whole
    environment.filters["brief"] = visible
    return environment


def _finalize(value: Any) -> Any:
    """The one gate through which every expression reaches the page: text is made visible."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible(value)
    return "" if value is None else value


def _whole(text: str) -> Markup:
    """A long text (the spec) with its own, larger limit."""
    return escape(visible(text, SPEC_LIMIT))


@cache
def _read(name: str) -> str:
    return (template_dir() / name).read_text("utf-8")


class _Words(HTMLParser):
    _SILENT = frozenset({"script", "style", "title"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in self._SILENT
        self.words.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in self._SILENT
        self.words.append(" ")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.words.append(data)
