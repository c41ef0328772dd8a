"""CITATION.cff 1.2.0 (https://citation-file-format.github.io), read by GitHub and Zenodo."""

from __future__ import annotations

import re
from typing import Any

import yaml

from benchspec.report.text import one_line
from benchspec.report.view import ReportView


def citation(view: ReportView) -> bytes:
    """The bundle as a data set. A licence that is no SPDX id is left out: the format refuses it."""
    study, facts = view.study, view.facts
    data: dict[str, Any] = {
        "cff-version": "1.2.0",
        "message": "If you use these measurements, please cite them.",
        "type": "dataset",
        "title": one_line(study.title),
        "authors": [{"name": one_line(author)} for author in study.authors]
        or [{"name": "Anonymous"}],
        "abstract": one_line(view.headline.summary, 2000),
        "version": (facts.evidence_sha256 or facts.spec_sha256)[:16],
    }
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", facts.utc[:10]):
        data["date-released"] = facts.utc[:10]
    if study.license and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.+-]{0,60}", study.license):
        data["license"] = study.license
    if view.url:
        data["url"] = view.url
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=100).encode()
