"""The sample reports in `reports/` are what the code says now."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from benchspec.cli.audit import command
from benchspec.report.embedded import read_result
from benchspec.report.html import visible_text
from benchspec.run.reports import find_reports
from benchspec.run.verify import verify
from benchspec.store.bundle import open_bundle

ROOT = Path(__file__).parents[2]
REPORTS = ROOT / "reports"
CASES = sorted((ROOT / "specs" / "casebook").glob("*.yaml"))
LIMIT_BYTES = 8 << 20


@pytest.mark.slow
@pytest.mark.parametrize("spec", CASES, ids=lambda path: path.stem)
def test_an_audit_is_current(spec: Path, tmp_path: Path) -> None:
    committed = REPORTS / "casebook" / spec.stem
    page = (committed / "report.html").read_bytes()
    options = ["--format", "html", "--date", read_result(page)["utc"][:10]]

    CliRunner().invoke(command, [str(spec), "--output", str(tmp_path), *options])

    made = tmp_path / spec.stem
    same = (made / "verdicts.json").read_bytes() == (committed / "verdicts.json").read_bytes()
    assert same, "run `make reports`"
    assert visible_text((made / "report.html").read_bytes()) == visible_text(page)


@pytest.mark.slow
@pytest.mark.skipif(not (REPORTS / "quickstart").is_dir(), reason="no run of the quickstart here")
def test_the_run_of_the_quickstart_verifies() -> None:
    assert verify(open_bundle(REPORTS / "quickstart")).mismatches == []


def test_every_case_has_its_report_and_the_index_links_all() -> None:
    index = (REPORTS / "index.html").read_text("utf-8")
    entries = find_reports(REPORTS)

    assert {f"casebook/{spec.stem}/report.html" for spec in CASES} <= {e.href for e in entries}
    assert [e.href for e in entries if f'href="{e.href}"' not in index] == []
    assert [e.title for e in entries if not e.date] == []


def test_the_samples_stay_small() -> None:
    assert sum(path.stat().st_size for path in REPORTS.rglob("*") if path.is_file()) < LIMIT_BYTES
