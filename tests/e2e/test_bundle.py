"""What stands in a bundle of a real run, and what must not."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader

from tests.e2e.conftest import MARKED, cells

pytestmark = pytest.mark.engine


def of(bundle: Path, name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((bundle / name).read_text())
    return data


def test_nothing_private_is_in_any_file(measured: Path) -> None:
    host = socket.gethostname()
    long_enough = len(host) > 6  # a short word may stand in a compressed stream by chance
    private = [MARKED.encode(), sys.prefix.encode(), str(measured.parent.parent).encode()]
    private += [host.encode()] if long_enough else []
    for path in measured.rglob("*"):
        if path.is_file():
            found = [word for word in private if word in _words(path)]
            assert not found, f"{path.name} names {found}"


def _words(path: Path) -> bytes:
    """The file's bytes; of a PDF, whose text is compressed, also its text."""
    if path.suffix != ".pdf":
        return path.read_bytes()
    return (
        path.read_bytes() + "".join(page.extract_text() for page in PdfReader(path).pages).encode()
    )


def test_every_part_is_there(measured: Path) -> None:
    names = {path.relative_to(measured).as_posix() for path in measured.iterdir()}
    assert names == {
        "CITATION.cff",
        "EVIDENCE.sha256",
        "MANIFEST.sha256",
        "badge.svg",
        "card.png",
        "embed.html",
        "journal.jsonl",
        "logs",
        "observations.json",
        "report.html",
        "report.pdf",
        "resolved.json",
        "ro-crate-metadata.json",
        "samples",
        "spec.yaml",
        "telemetry",
        "verdicts.json",
    }


def test_the_verdict_is_the_real_servers(measured: Path) -> None:
    verdicts = of(measured, "verdicts.json")
    assert [one["verdict"] for one in verdicts["hypotheses"]] == ["supported"]
    shapes = [one for one in verdicts["checks"] if one["check"] == "completion-shape"]
    assert {one["reading"] for one in shapes if one["at"]["concurrency"] == 2} == {"staircase"}
    assert verdicts["unfinished"]


def test_settings_were_read_back_from_the_live_server(measured: Path) -> None:
    engine = of(measured, "resolved.json")["engines"]["main"]
    slots = next(one for one in engine["settings"] if one["name"] == "parallel")
    assert (slots["asked"], slots["found"]) == (1, 1)
    assert slots["found_source"] in ("/props", "/slots")
    assert engine["build"].startswith("xllamacpp ")


def test_every_token_is_stamped_and_counted(measured: Path) -> None:
    for cell in cells(measured):
        assert len(cell["requests"]) == cell["key"]["concurrency"]
        for request in cell["requests"]:
            assert request["ok"], request["error"]
            assert request["completion_tokens"] == request["samples_count"] == 8
            assert request["prompt_tokens"] == 8
            assert not request["cached_tokens"], "every prompt is new"
        assert cell["engine_pid_before"] == cell["engine_pid_after"]
        assert cell["quiet"]["engine_cpu_s"] > 0


def test_prompts_differ_between_all_requests(measured: Path) -> None:
    """The answers to greedy sampling differ only if the prompts do."""
    outputs = [request["output_sha256"] for cell in cells(measured) for request in cell["requests"]]
    assert len(set(outputs)) > len(outputs) / 2
