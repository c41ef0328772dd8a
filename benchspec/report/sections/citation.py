"""A citation that is ready to paste."""

from __future__ import annotations

import re

from benchspec.report.material import Material
from benchspec.report.parts import Citation
from benchspec.report.text import one_line


def citation(material: Material) -> Citation:
    """One sentence, and BibTeX."""
    facts, study = material.facts, material.spec.study
    who = ", ".join(study.authors) or "Anonymous"
    year = facts.utc[:4]
    digest = (facts.evidence_sha256 or facts.spec_sha256)[:16]
    what = "benchspec audit" if material.audited else "benchspec study"
    reproduced = "audited, not measured here" if material.audited else "self-reported"
    where = f" {material.url}" if material.url else ""
    sentence = (
        f"{who} ({year}). {study.title}. {what}, benchspec {facts.benchspec}, "
        f"{reproduced}, {facts.utc[:10]}, evidence {digest}.{where}"
    )
    return Citation(sentence, _bibtex(material, who, year, digest))


def _bibtex(material: Material, who: str, year: str, digest: str) -> str:
    facts, study = material.facts, material.spec.study
    fields = {
        "author": " and ".join(study.authors) or who,
        "title": study.title,
        "year": year,
        "note": f"benchspec {facts.benchspec}, evidence sha256 {digest}",
    }
    if material.url:
        fields["url"] = material.url
    lines = [f"  {key} = {{{_plain(value)}}}," for key, value in fields.items()]
    return "\n".join([f"@misc{{benchspec-{_key(study.title)}-{digest[:8]},", *lines, "}"])


def _key(title: str) -> str:
    words = re.findall(r"[a-z0-9]+", title.lower())
    return "-".join(words)[:40].strip("-") or "study"


def _plain(value: str) -> str:
    """A BibTeX value: one line, and no character that ends the field or starts a command."""
    return re.sub(r"[{}\\]", "", one_line(value))
