"""`benchspec report`: renders again from the evidence, and only from evidence that holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from benchspec.cli.report import command
from benchspec.errors import BenchspecError, StorageFailure, UsageError
from benchspec.report.extras import EXTRAS
from benchspec.run.verify import verify
from benchspec.store.bundle import Bundle
from benchspec.store.manifest import MANIFEST, manifest
from tests.report.bundles import write_bundle
from tests.report.pages import Page


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return write_bundle(tmp_path_factory.mktemp("runs"))


def report(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(a) for a in arguments])


def test_rendering_again_changes_nothing(bundle: Bundle) -> None:
    before = {p: p.read_bytes() for p in bundle.root.rglob("*") if p.is_file()}

    result = report(bundle.root)

    assert result.exit_code == 0, result.output
    assert "H2 inconclusive" in result.stdout or "H2 supported" in result.stdout
    assert {p: p.read_bytes() for p in bundle.root.rglob("*") if p.is_file()} == before


def test_a_lost_report_is_made_again(bundle: Bundle) -> None:
    before = bundle.html.read_bytes()
    bundle.html.unlink()

    assert report(bundle.root).exit_code == 0
    assert bundle.html.read_bytes() == before


def test_markdown_goes_to_stdout_and_the_bundle_is_left_alone(bundle: Bundle) -> None:
    result = report(bundle.root, "--format", "md")

    assert result.stdout.startswith("**Four slots, one slot**")
    assert "| H1 |" in result.stdout
    assert "What this didn’t finish" in result.stdout


def test_files_can_be_written_elsewhere(bundle: Bundle, tmp_path: Path) -> None:
    result = report(bundle.root, "--format", "html", "--output", tmp_path / "out", "--json")

    assert json.loads(result.stdout)["files"] == [str(tmp_path / "out" / "report.html")]
    assert (tmp_path / "out" / "report.html").read_bytes() == bundle.html.read_bytes()


def test_changed_evidence_is_not_given_a_new_manifest(tmp_path: Path) -> None:
    bundle = write_bundle(tmp_path)
    bundle.journal.write_bytes(bundle.journal.read_bytes().replace(b"299", b"199", 1))

    result = report(bundle.root)

    assert isinstance(result.exception, BenchspecError)
    assert "journal.jsonl" in result.exception.message
    assert "verify" in (result.exception.hint or "")


def test_an_unknown_format_is_a_usage_error(bundle: Bundle) -> None:
    result = report(bundle.root, "--format", "docx")

    assert result.exit_code == 2
    assert "html, pdf, extras, md" in result.stderr


def test_extras_and_an_address_go_elsewhere(bundle: Bundle, tmp_path: Path) -> None:
    url = "https://example.org/post/"
    result = report(
        bundle.root, "--format", "html,extras", "--output", tmp_path, "--url", url, "--json"
    )

    names = {Path(name).name for name in json.loads(result.stdout)["files"]}
    assert names == {"report.html", *EXTRAS}
    assert (
        b'property="og:image" content="https://example.org/post/card.png"'
        in (tmp_path / "report.html").read_bytes()
    )


def test_an_address_alone_would_make_a_bundle_that_no_one_can_verify(bundle: Bundle) -> None:
    assert report(bundle.root, "--url", "https://example.org/").exit_code == 2


def test_an_index_links_every_report(bundle: Bundle) -> None:
    result = report(bundle.root.parent, "--all")

    page = Page((bundle.root.parent / "index.html").read_bytes())
    assert result.exit_code == 0
    assert [a.attributes["href"] for a in page.all("a")] == [f"{bundle.root.name}/report.html"]


def test_a_folder_without_reports_is_a_usage_error(tmp_path: Path) -> None:
    assert isinstance(report(tmp_path, "--all").exception, UsageError)


def test_a_rendered_bundle_verifies(bundle: Bundle) -> None:
    assert verify(bundle).mismatches == []


def test_a_journal_that_cannot_be_read_leaves_the_bundle_as_it_was(tmp_path: Path) -> None:
    bundle = write_bundle(tmp_path)
    bundle.journal.write_bytes(b'{"kind":"unheard"}\n')
    (bundle.root / MANIFEST).write_bytes(manifest(bundle.root))
    before = {p: p.read_bytes() for p in bundle.root.rglob("*") if p.is_file()}

    result = report(bundle.root)

    assert isinstance(result.exception, StorageFailure)
    assert {p: p.read_bytes() for p in bundle.root.rglob("*") if p.is_file()} == before
