"""Rendered once for the room: drawing takes a second."""

from __future__ import annotations

import pytest

from benchspec.report.html import render_html
from benchspec.report.pdf import AttachedFile, Pdf, render_pdf
from tests.report import samples
from tests.report.pages import Page

ATTACHED = [
    AttachedFile("spec.yaml", b"benchspec: 1\n", "The spec, as given"),
    AttachedFile("verdicts.json", b"{}\n", "The verdicts"),
    AttachedFile("EVIDENCE.sha256", b"", "The list of evidence"),
]


@pytest.fixture(scope="session")
def quickstart_html() -> bytes:
    return render_html(samples.quickstart())


@pytest.fixture(scope="session")
def audit_html() -> bytes:
    return render_html(samples.blog_post())


@pytest.fixture(scope="session")
def quickstart_page(quickstart_html: bytes) -> Page:
    return Page(quickstart_html)


@pytest.fixture(scope="session")
def audit_page(audit_html: bytes) -> Page:
    return Page(audit_html)


@pytest.fixture(scope="session")
def quickstart_pdf(quickstart_html: bytes) -> Pdf:
    return render_pdf(quickstart_html, ATTACHED, utc=samples.UTC)
