"""What a rendering depends on besides its data."""

from __future__ import annotations

from importlib.metadata import version

from benchspec.report.fingerprint import FONTS, fingerprint


def test_versions_and_fonts_are_named() -> None:
    found = fingerprint()

    assert found["weasyprint"] == version("weasyprint")
    assert found["pango"].count(".") == 2
    assert all(len(found[f"font {font}"]) == 16 for font in FONTS)
    assert fingerprint() == found
