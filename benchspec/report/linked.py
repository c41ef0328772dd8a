"""JSON-LD in the page: a schema.org Dataset, which search engines for data read."""

from __future__ import annotations

from typing import Any

from benchspec.judge.result import Verdicts
from benchspec.report.embedded import script_safe
from benchspec.report.material import Material
from benchspec.report.text import one_line


def dataset_json(material: Material, summary: str) -> str:
    """The Dataset as ASCII JSON that cannot end a script element."""
    study, facts = material.spec.study, material.facts
    data: dict[str, Any] = {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": one_line(study.title),
        "description": one_line(f"{study.question or study.title} {summary}", 4800),
        "creator": [{"@type": "Person", "name": one_line(name)} for name in study.authors],
        "datePublished": facts.utc[:10],
        "version": (facts.evidence_sha256 or facts.spec_sha256)[:16],
        "measurementTechnique": f"benchspec {facts.benchspec} ({facts.origin})",
        "variableMeasured": _variables(material.verdicts),
    }
    if study.license:
        data["license"] = one_line(study.license)
    if material.url:
        data["url"] = material.url
    return script_safe(data)


def _variables(verdicts: Verdicts) -> list[dict[str, str]]:
    units = {c.check: c.unit for c in verdicts.checks if c.value is not None}
    return [
        {"@type": "PropertyValue", "name": check} | ({"unitText": unit} if unit else {})
        for check, unit in units.items()
    ]
