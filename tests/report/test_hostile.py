"""Text from strangers, in every field that reaches the page: it shows as text, or not at all."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from benchspec.judge.result import Verdicts
from benchspec.observations.model import Observations
from benchspec.report.facts import BundleFacts
from benchspec.report.html import render_html
from benchspec.report.pdf import render_pdf
from benchspec.report.view import make_view
from benchspec.spec.models import Spec
from tests.report import samples
from tests.report.pages import Page

HOSTILE = {
    "tags": "<script>alert(1)</script><img src=x onerror=alert(1)><style>*{display:none}</style>",
    "entities": "&lt;b&gt; &amp; &#x202e; &quot; ' \"",
    "attribute": '" onmouseover="alert(1)" x="',
    "template": "{{ 7 * 7 }} {% raw %} ${7*7} $\\frac{1}{2}$ \\input{/etc/passwd}",
    "bidi": "abc \u202e\u2066 def \u2069\u202c \u200f",
    "long": "x" * 100_000,
    "nul": "a\x00b\x07c\x1b[31md\x7f",
    "emoji": "🔥👩‍👩‍👧‍👦 \U000e0041 \ufeff",
    "urls": "http://example.com/?a=1&b=2 javascript:alert(1) file:///etc/passwd",
    "non-characters": "\ufffe \ufdd0 \ue000",
    "script end": "</script></title></style></textarea>-->",
}
FIXED = {
    "state", "verdict", "provenance", "effect", "quotable", "mode", "origin", "benchspec", "cache",
    "phase", "spec_sha256",
}  # fmt: skip
"""Fields with a closed vocabulary, which nothing hostile can reach."""


def poisoned(value: Any, poison: str, key: str = "") -> Any:
    """Every free text in nested data replaced; keys of maps too where they are free."""
    if isinstance(value, dict):
        free = key in {"identity", "overrides", "at"}
        return {
            (k if not free or k == "concurrency" else f"{k}{poison}"): poisoned(v, poison, k)
            for k, v in value.items()
        }
    if isinstance(value, list):
        return [poisoned(v, poison, key) for v in value]
    if isinstance(value, str) and key not in FIXED and not (key == "reading" and value in GATES):
        return f"{value}{poison}"
    return value


GATES = {"triggered", "not-triggered", "undecided"}


def poisoned_facts(poison: str) -> BundleFacts:
    told = samples.facts(samples.QUICKSTART.read_text("utf-8"), deviations=(poison,), url=poison)
    changes: dict[str, Any] = {}
    for field in fields(told):
        value = getattr(told, field.name)
        if isinstance(value, str) and field.name not in {"spec_sha256", "origin"}:
            changes[field.name] = value + poison
        elif isinstance(value, dict):
            changes[field.name] = {k + poison: v + poison for k, v in value.items()}
    launch = replace(told.launches[0], arm=poison, argv=(poison,), env={poison: poison})
    finding = replace(told.findings[0], code=poison, name=poison, waived=poison)
    evidence = replace(told.evidence[0], path=poison)
    return replace(told, **changes, launches=(launch,), findings=(finding,), evidence=(evidence,))


def poisoned_page(poison: str) -> bytes:
    spec = Spec.model_validate(
        {
            "benchspec": 1,
            "study": {"title": ("T" + poison)[:200], "question": poison, "authors": [poison],
                      "license": poison, "interests": poison},
            "hypotheses": [{"id": "H1", "claim": poison, "because": poison,
                            "test": {"metric": poison, "relation": ">=", "value": poison}}],
            "hardware": {"devices": [{"id": "gpu0", "name": poison, "pci_id": poison}]},
            "model": {"name": poison, "source": poison, "architecture": poison},
            "engine": {"kind": "llama.cpp", "flags": {poison: poison}, "env": {poison: poison}},
            "workload": {"label": {"material": poison, "note": poison}},
            "arms": [{"id": "four-slots", "title": poison}, {"id": "one-slot"}],
        }
    )  # fmt: skip
    seen = samples.quickstart_observations().model_dump()
    verdicts = samples.quickstart_verdicts("").model_dump()
    return render_html(
        make_view(
            spec,
            Observations.model_validate(poisoned(seen, poison)),
            Verdicts.model_validate(poisoned(verdicts, poison)),
            poisoned_facts(poison),
        )
    )


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_shows_as_text(name: str, quickstart_page: Page) -> None:
    html = poisoned_page(HOSTILE[name])
    page = Page(html)

    tags = {e.tag for e in page.elements}
    attributes = {a for e in page.elements for a in e.attributes}
    assert tags <= {e.tag for e in quickstart_page.elements} | {"details", "summary"}
    assert attributes <= {a for e in quickstart_page.elements for a in e.attributes}
    assert len(page.all("script")) == 3
    for element in page.elements:
        href = element.attributes.get("href")
        assert href is None or href.startswith("#") or href == "data:,"
    text = html.decode("utf-8")
    assert not set("\x00\x07\x1b\x7f\u202e\u2066\u200f\u2028\ufeff\ufffe") & set(text)
    assert len(html) < 3_000_000


@pytest.mark.slow
def test_the_pdf_still_builds() -> None:
    everything = " ".join(HOSTILE.values())

    pdf = render_pdf(poisoned_page(everything), [], utc=everything[:40])

    assert pdf.data.startswith(b"%PDF-1.7")
    # An emoji that no installed font has is the only thing that WeasyPrint may mention.
    assert not [w for w in pdf.warnings if "glyph" not in w and "notdef" not in w]
