"""`benchspec audit`: what it prints, writes and returns, whatever it is given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from benchspec.cli.audit import command
from benchspec.report.embedded import read_result
from benchspec.report.html import visible_text

HEAD = "benchspec: 1\nstudy: {title: A study, license: CC-BY-4.0, interests: none, authors: [x]}\n"
ENGINE = "engine: {kind: openai, slots: 4, version: '1'}\n"
TABLE = (
    HEAD
    + ENGINE
    + (
        "hypotheses:\n"
        "  - {id: H1, claim: It queues., test: {check: queueing, at: {concurrency: 8}, expect: queued}}\n"
        "observations:\n"
        "  steps:\n"
        "    - {concurrency: 4, aggregate_tok_s: 49.14, wall_s: 15.6, stream_tok_s: 13.37}\n"
        "    - {concurrency: 8, aggregate_tok_s: 49.00, wall_s: 31.3, stream_tok_s: 13.16}\n"
    )
)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.yaml"
    path.write_text(TABLE, "utf-8")
    return path


def audited(path: Path, *options: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(run(path, "--json", *options).stdout)
    return data


def written(tmp_path: Path, observations: str) -> Path:
    path = tmp_path / "spec.yaml"
    path.write_text(HEAD + ENGINE + "observations:\n" + observations, "utf-8")
    return path


def test_the_order_comes_first_then_hypotheses_checks_and_gaps(table: Path) -> None:
    text = run(table).stdout
    titles = ["In this order", "Hypotheses", "Checks", "What this didn't finish"]
    places = [text.index(f"\n{title}\n") for title in titles]
    assert places == sorted(places)
    assert "audited, not measured here" in text
    assert "ceil(8 / 4) x 15.6 s = 31.2 s, measured 31.3 s" in text


def test_json_is_one_object_with_verdicts_like_those_of_a_run(table: Path) -> None:
    (file,) = audited(table)["files"]
    assert file["path"] == str(table)
    assert file["verdicts"]["origin"] == "audit"
    assert file["verdicts"]["hypotheses"][0]["verdict"] == "supported"
    assert [step["number"] for step in file["order"]] == [1, 2, 3, 4, 5, 6, 7]


def test_several_files_at_once(table: Path, tmp_path: Path) -> None:
    other = written(tmp_path, "  steps: [{concurrency: 1, wall_s: 3}]\n")
    done = run(table, other, "--json")
    assert [file["path"] for file in json.loads(done.stdout)["files"]] == [str(table), str(other)]


def test_findings_are_printed_beside_the_verdicts_and_make_the_exit_code_1(table: Path) -> None:
    done = run(table, "--json")
    (file,) = json.loads(done.stdout)["files"]
    assert {f["severity"] for f in file["findings"] if not f["waived"]} >= {"error"}
    assert file["verdicts"]["checks"]
    assert done.exit_code == 1


def test_a_refuted_hypothesis_is_a_success(tmp_path: Path) -> None:
    spec = Path(__file__).parents[2] / "specs" / "casebook" / "serial-laptop.yaml"
    assert run(spec).exit_code == 0


def test_a_broken_form_is_a_finding_and_nothing_is_judged(tmp_path: Path) -> None:
    path = written(tmp_path, "  steps: [{wall_s: 3 GB}]\n")
    done = run(path, "--json")
    (file,) = json.loads(done.stdout)["files"]
    assert (done.exit_code, file["verdicts"], file["order"]) == (1, None, [])
    assert [f["code"] for f in file["findings"]] == ["BS004"]
    assert file["findings"][0]["line"] == 5
    assert "BS004" in run(path).stdout


def test_a_file_that_is_no_spec_is_usage_and_the_others_are_judged(table: Path) -> None:
    done = run("/nowhere.yaml", table, "--json")
    assert done.exit_code == 2
    assert "/nowhere.yaml" in done.stderr
    assert len(json.loads(done.stdout)["files"]) == 1


def test_without_observations_everything_is_not_asked(tmp_path: Path) -> None:
    path = tmp_path / "empty.yaml"
    path.write_text(HEAD, "utf-8")
    (file,) = audited(path)["files"]
    assert file["verdicts"]["checks"] == []
    assert {step["state"] for step in file["order"]} == {"not-asked"}


def test_questions_are_sentences_that_can_be_posted(table: Path) -> None:
    (file,) = audited(table, "--questions")["files"]
    questions = file["questions"]
    assert questions[0].startswith("How was the aggregate computed")
    assert any(q.startswith("When did each of the 8 answers end") for q in questions)
    assert any(q.startswith("What is the aggregate at one, two and four") for q in questions)
    assert all(q.endswith("?") for q in questions[:3])
    text = run(table, "--questions").stdout
    assert all(question[:60] in text for question in questions)


def test_a_complete_account_is_not_asked_how_it_was_computed(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "  arms: {main: {slots: 1, slots_source: log}}\n"
        "  steps:\n"
        "    - {concurrency: 1, completions_s: [5.51], tokens_per_request: 512}\n"
        "    - {concurrency: 2, completions_s: [5.4, 11.0], tokens_per_request: 512}\n"
        "    - {concurrency: 4, completions_s: [5.5, 11.1, 16.8, 22.5], tokens_per_request: 512}\n",
    )
    (file,) = audited(path, "--questions")["files"]
    for words in ("aggregate", "answers end", "how many slots"):
        assert not any(words in question for question in file["questions"])


@pytest.mark.slow
def test_the_report_says_that_nothing_was_measured_here(table: Path, tmp_path: Path) -> None:
    output = tmp_path / "reports"
    done = run(table, "--output", output)
    folder = output / "table"
    names = {"observations.json", "report.html", "report.pdf", "spec.yaml", "verdicts.json"}
    assert {path.name for path in folder.iterdir()} == names
    html = (folder / "report.html").read_bytes()
    assert b"Audited, not measured here" in html
    embedded = read_result(html)
    assert embedded["origin"] == "audit"
    assert embedded["observations"].steps[1].wall_s == 31.3
    assert (folder / "spec.yaml").read_bytes() == table.read_bytes()
    assert (folder / "report.pdf").read_bytes().startswith(b"%PDF-1.7")
    assert str(folder / "report.html") in done.stderr


def test_only_the_formats_that_are_asked_for(table: Path, tmp_path: Path) -> None:
    run(table, "--output", tmp_path / "out", "--format", "html")
    assert not (tmp_path / "out" / "table" / "report.pdf").exists()
    assert run(table, "--format", "docx").exit_code == 2


def test_the_report_has_the_date_that_is_asked_for_or_that_of_the_study(
    table: Path, tmp_path: Path
) -> None:
    def dated(name: str, *options: str) -> str:
        out = tmp_path / name
        run(table, "--output", out, "--format", "html", *options)
        utc: str = read_result((out / "table" / "report.html").read_bytes())["utc"]
        return utc

    assert dated("asked", "--date", "2026-03-01") == "2026-03-01T00:00:00Z"
    table.write_text(TABLE.replace("study: {", "study: {date: '2025-12-24', "), "utf-8")
    assert dated("told") == "2025-12-24T00:00:00Z"
    assert dated("both", "--date", "2026-03-01") == "2026-03-01T00:00:00Z"
    assert run(table, "--date", "yesterday").exit_code == 2


BAD = {
    "no steps": "  steps: []\n",
    "one step": "  steps: [{concurrency: 8, wall_s: 3, aggregate_tok_s: 5}]\n",
    "negative": "  steps: [{concurrency: 4, wall_s: -3, aggregate_tok_s: 5}]\n",
    "zero": "  steps: [{concurrency: 4, wall_s: 0, aggregate_tok_s: 0, stream_tok_s: 0}]\n",
    "before dispatch": "  steps: [{concurrency: 1, requests: [{start_s: 3, end_s: 1, tokens: 4}]}]\n",
    "same times": "  steps: [{concurrency: 4, completions_s: [2, 2, 2, 2], tokens_per_request: 8}]\n",
    "contradiction": "  steps: [{concurrency: 1, wall_s: 2, tokens_total: 8, aggregate_tok_s: 400}]\n",
    "zero budget": "  budgets: [{name: x, total_ms: 0, parts: {a: 0}}]\n",
    "zero factor": "  factors: [{name: x, observed: 0, factors: [{name: a, over: 1, under: 0}]}]\n",
    "zero scaled": "  scaled: [{name: x, n: 2, single: 0, measured: 0}]\n",
    "zero sends": "  sends: [{ttft_ms: [0, 0]}]\n",
    "zero figures": "  figures: [{name: x, over: 1, under: 0, ratio: 0, tok_s: 0, ms_per_token: 0}]\n",
    "empty series": "  series: [{counter: pcie_rx, unit: MB/s, values: []}]\n",
    "dead series": "  series: [{counter: pcie_rx, unit: MB/s, values: [0, 0, 0, 0, 0]}]\n",
    "more right than asked": "  parity: [{arms: [main, main], n: 3, correct: [4, 5]}]\n",
}


@pytest.mark.parametrize("observations", BAD.values(), ids=BAD.keys())
def test_bad_figures_give_a_named_state_and_never_a_confident_reading(
    tmp_path: Path, observations: str
) -> None:
    done = run(written(tmp_path, observations), "--json")
    assert done.exit_code in (0, 1), done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
    (file,) = json.loads(done.stdout)["files"]
    for result in file["verdicts"]["checks"]:
        assert result["state"] in ("judged", "insufficient", "not-applicable", "invalid")
        assert result["state"] != "judged" or result["reading"]


def test_the_report_of_an_audit_opens_with_the_order(table: Path, tmp_path: Path) -> None:
    run(table, "--output", tmp_path / "out", "--format", "html")
    text = visible_text((tmp_path / "out" / "table" / "report.html").read_bytes())
    assert text.index("In this order") < text.index("Verdicts # Supported")
