"""ro-crate-metadata.json: the bundle as an RO-Crate 1.2 (https://w3id.org/ro/crate/1.2)."""

from __future__ import annotations

import json
from typing import Any

from benchspec.report.text import one_line
from benchspec.report.view import ReportView

VERSION = "https://w3id.org/ro/crate/1.2"
_FORMATS = {
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "yaml": "application/yaml",
    "npy": "application/octet-stream",
    "log": "text/plain",
}


def crate(view: ReportView) -> bytes:
    """Root data set, its files with digests, and the run (or audit) that made them."""
    files = [_file(e.path, e.sha256) for e in view.facts.evidence]
    graph = [
        {
            "@id": "ro-crate-metadata.json",
            "@type": "CreativeWork",
            "conformsTo": {"@id": VERSION},
            "about": {"@id": "./"},
        },
        _root(view, files),
        *files,
        *_people(view),
        {
            "@id": "#benchspec",
            "@type": "SoftwareApplication",
            "name": "benchspec",
            "softwareVersion": view.facts.benchspec,
        },
        {
            "@id": "#run",
            "@type": "CreateAction",
            "name": "Audit" if view.headline.audited else "Measurement",
            "startTime": view.facts.utc,
            "instrument": {"@id": "#benchspec"},
            "object": {"@id": "spec.yaml"},
            "result": [{"@id": "observations.json"}, {"@id": "verdicts.json"}],
        },
    ]
    data = {"@context": f"{VERSION}/context", "@graph": graph}
    return json.dumps(data, ensure_ascii=False, indent=2).encode() + b"\n"


def _root(view: ReportView, files: list[dict[str, Any]]) -> dict[str, Any]:
    root: dict[str, Any] = {
        "@id": "./",
        "@type": "Dataset",
        "name": one_line(view.study.title),
        "description": one_line(view.headline.summary, 2000),
        "datePublished": view.facts.utc[:10],
        "license": one_line(view.study.license or "not stated"),
        "author": [{"@id": person["@id"]} for person in _people(view)],
        "hasPart": [{"@id": file["@id"]} for file in files],
        "mentions": {"@id": "#run"},
    }
    return root | ({"url": view.url} if view.url else {})


def _file(path: str, sha256: str) -> dict[str, Any]:
    kind = _FORMATS.get(path.rpartition(".")[2], "application/octet-stream")
    return {"@id": path, "@type": "File", "encodingFormat": kind, "sha256": sha256}


def _people(view: ReportView) -> list[dict[str, Any]]:
    return [
        {"@id": f"#author-{number}", "@type": "Person", "name": one_line(author)}
        for number, author in enumerate(view.study.authors, 1)
    ]
