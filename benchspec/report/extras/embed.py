"""embed.html: the verdict table as a fragment to paste into a post."""

from __future__ import annotations

from benchspec.report.html import render
from benchspec.report.view import ReportView


def embed(view: ReportView) -> bytes:
    """A `<figure>` with inline styles only, no script, and a link if the report has an address."""
    return render("embed.html.j2", view=view)
