"""A bundle of a real run: it verifies, and every tampering has a name."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchspec.run.verify import Verification, verify
from benchspec.store.bundle import open_bundle

pytestmark = pytest.mark.engine


@pytest.fixture
def copy(measured: Path, tmp_path: Path) -> Path:
    """A bundle to spoil, under another name."""
    return Path(shutil.copytree(measured, tmp_path / "copy"))


def verify_here(bundle: Path) -> Verification:
    return verify(open_bundle(bundle))


def files(found: Verification) -> set[str]:
    return {one.file for one in found.mismatches}


def command(bundle: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "benchspec", "verify", str(bundle), "--json"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, **environ},
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def fix_manifest(bundle: Path, name: str) -> None:
    """Make the manifest agree with a changed file, as someone who cheats would."""
    digest = hashlib.sha256((bundle / name).read_bytes()).hexdigest()
    path = bundle / "MANIFEST.sha256"
    lines = path.read_text().splitlines()
    fixed = [f"{digest}  {name}" if one.endswith(f"  {name}") else one for one in lines]
    path.write_text("".join(f"{line}\n" for line in fixed))


def edit(bundle: Path, name: str, change: Callable[[dict[str, Any]], None]) -> None:
    path = bundle / name
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data, ensure_ascii=False, indent=2, sort_keys=True) + "\n")


def test_an_untouched_bundle_holds_under_any_name_and_locale(copy: Path) -> None:
    done = command(copy, TZ="Asia/Taipei", LC_ALL="C", PYTHONHASHSEED="7", HOME="/nonexistent")
    found = json.loads(done.stdout)
    assert (done.returncode, found["mismatches"], found["notes"]) == (0, [], [])


EVERY_FILE = (
    "spec.yaml",
    "resolved.json",
    "journal.jsonl",
    "observations.json",
    "verdicts.json",
    "report.html",
    "report.pdf",
    "EVIDENCE.sha256",
    "logs/01-main.log",
    "samples/main-c1-r1.npy",
)


def test_a_key_that_is_missing_is_said(copy: Path) -> None:
    resolved = json.loads((copy / "resolved.json").read_text())
    resolved["plbn"] = resolved.pop("plan")
    (copy / "resolved.json").write_text(json.dumps(resolved))
    assert "resolved.json" in files(verify_here(copy))


@pytest.mark.parametrize("name", EVERY_FILE)
def test_one_changed_byte_names_its_file(copy: Path, name: str) -> None:
    data = bytearray((copy / name).read_bytes())
    data[len(data) // 2] ^= 1
    (copy / name).write_bytes(data)
    assert name in files(verify_here(copy))


@pytest.mark.parametrize(
    "name",
    [
        "journal.jsonl", "spec.yaml", "resolved.json", "observations.json", "verdicts.json",
        "EVIDENCE.sha256", "logs/01-main.log", "samples/main-c2-r1.npy", "report.pdf",
    ],
)  # fmt: skip
def test_a_removed_file_is_named(copy: Path, name: str) -> None:
    (copy / name).unlink()
    assert name in files(verify_here(copy))


def test_an_added_file_is_named(copy: Path) -> None:
    (copy / "logs" / "extra.txt").write_bytes(b"")
    assert "logs/extra.txt" in files(verify_here(copy))


def test_a_line_feed_in_the_manifest_is_named(copy: Path) -> None:
    with (copy / "MANIFEST.sha256").open("ab") as file:
        file.write(b"\n")
    assert files(verify_here(copy)) == {"MANIFEST.sha256"}


def test_without_a_manifest_it_is_unfinished(copy: Path) -> None:
    (copy / "MANIFEST.sha256").unlink()
    assert "did not finish" in verify_here(copy).mismatches[0].text


def test_an_edited_request_names_the_file_and_the_hypothesis(copy: Path) -> None:
    def together(observations: dict[str, Any]) -> None:
        """Make the two requests of C=2 look parallel."""
        for step in observations["steps"]:
            if step["concurrency"] == 2:
                one, other = step["requests"]
                for name in ("first_token_s", "last_token_s", "end_s", "ttft_ms"):
                    one[name] = other[name] = max(one[name], other[name])

    edit(copy, "observations.json", together)
    fix_manifest(copy, "observations.json")
    done = command(copy)
    named = {one["file"]: one["hypotheses"] for one in json.loads(done.stdout)["mismatches"]}
    assert done.returncode == 1
    assert named["observations.json"] == ["H1"]


def test_an_edited_verdict_names_the_hypothesis(copy: Path) -> None:
    def refute(verdicts: dict[str, Any]) -> None:
        verdicts["hypotheses"][0]["verdict"] = "refuted"

    edit(copy, "verdicts.json", refute)
    fix_manifest(copy, "verdicts.json")
    named = {one.file: one.hypotheses for one in verify_here(copy).mismatches}
    assert named["verdicts.json"] == ("H1",)


def test_other_words_for_a_verdict_are_no_mismatch_of_verdicts(copy: Path) -> None:
    def reword(verdicts: dict[str, Any]) -> None:
        verdicts["hypotheses"][0]["reason"] = "in other words"

    edit(copy, "verdicts.json", reword)
    fix_manifest(copy, "verdicts.json")
    assert "verdicts.json" not in files(verify_here(copy))


def test_a_report_of_another_renderer_is_compared_by_its_data_and_words(copy: Path) -> None:
    def other_library(resolved: dict[str, Any]) -> None:
        resolved["renderer"]["matplotlib"] = "0.0"

    edit(copy, "resolved.json", other_library)
    page = (copy / "report.html").read_text()
    (copy / "report.html").write_text(page.replace("supported", "refuted"))
    for name in ("resolved.json", "report.html"):
        fix_manifest(copy, name)
    found = verify_here(copy)
    assert "report.html" in files(found)
    assert "its data and its words were compared" in found.notes[0]


def test_not_a_bundle_is_a_usage_error(tmp_path: Path) -> None:
    done = command(tmp_path)
    assert done.returncode == 2
    assert "not a bundle" in done.stderr
