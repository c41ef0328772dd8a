"""The PDF: archival, tagged, with the evidence inside, and fetching nothing."""

from __future__ import annotations

import io
import re
from typing import Any

from pypdf import PdfReader

from benchspec.report.pdf import Pdf, render_pdf
from tests.report import samples
from tests.report.conftest import ATTACHED


def reader(pdf: Pdf) -> PdfReader:
    return PdfReader(io.BytesIO(pdf.data))


def test_weasyprint_has_nothing_to_complain_about(quickstart_pdf: Pdf, audit_html: bytes) -> None:
    assert quickstart_pdf.warnings == ()
    assert render_pdf(audit_html, ATTACHED, utc=samples.UTC).warnings == ()


def test_it_says_that_it_is_pdf_a_3a(quickstart_pdf: Pdf) -> None:
    metadata = reader(quickstart_pdf).xmp_metadata
    assert metadata is not None
    text = metadata.stream.get_data().decode()

    assert re.search(r"pdfaid:part[^0-9]+3", text)
    assert re.search(r"pdfaid:conformance[^A-Z]+A", text)


def test_it_is_tagged_and_has_a_language(quickstart_pdf: Pdf) -> None:
    root: Any = reader(quickstart_pdf).trailer["/Root"]

    assert root["/MarkInfo"]["/Marked"]
    assert root["/Lang"] == "en"
    assert "/StructTreeRoot" in root


def test_the_evidence_is_attached_with_the_runs_date(quickstart_pdf: Pdf) -> None:
    pdf = reader(quickstart_pdf)

    assert {name: data[0] for name, data in pdf.attachments.items()} == {
        file.name: file.data for file in ATTACHED
    }
    assert b"D:20260301093000" in quickstart_pdf.data


def test_later_pages_name_the_study_and_its_digest(quickstart_pdf: Pdf) -> None:
    pages = reader(quickstart_pdf).pages
    digest = samples.facts(samples.QUICKSTART.read_text("utf-8")).spec_sha256[:16]

    assert len(pages) > 3
    for number, page in enumerate(pages[1:], 2):
        text = page.extract_text()
        assert "Four slots, one slot" in text
        assert f"spec {digest}" in text
        assert f"{number} / {len(pages)}" in text


def test_the_page_may_not_fetch_a_file_of_this_machine() -> None:
    html = b'<html lang="en"><title>x</title><img alt="x" src="file:///etc/hostname">'

    warnings = render_pdf(html, [], utc=samples.UTC).warnings

    assert any("disallowed protocol" in warning for warning in warnings)
