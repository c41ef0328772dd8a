"""Files beside the report, for publishing it: one file per kind, all made from the same view."""

from __future__ import annotations

from collections.abc import Callable

from benchspec.report.extras import badge, card, cff, crate, embed
from benchspec.report.view import ReportView

EXTRAS: dict[str, Callable[[ReportView], bytes]] = {
    "badge.svg": badge.badge,
    "card.png": card.card,
    "embed.html": embed.embed,
    "CITATION.cff": cff.citation,
    "ro-crate-metadata.json": crate.crate,
}
"""File name in the bundle -> how it is made."""


def extras(view: ReportView) -> dict[str, bytes]:
    """Every extra file by its name. The same view gives the same bytes."""
    return {name: make(view) for name, make in EXTRAS.items()}
