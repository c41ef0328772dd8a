"""`benchspec compare`, on the committed quickstart against copies of it that were altered."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from benchspec.cli.audit import command as audit
from benchspec.cli.compare import command
from benchspec.errors import StorageFailure, UsageError
from benchspec.store.manifest import MANIFEST, manifest

ROOT = Path(__file__).parents[2]
QUICKSTART = ROOT / "reports" / "quickstart"
CASE = ROOT / "specs" / "casebook" / "three-cards.yaml"
Change = Callable[[dict[str, Any]], None]
TIMES = ("scheduled_ns", "sent_ns", "first_token_ns", "last_token_ns", "end_ns")


def compare(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(a) for a in arguments])


def data(*arguments: object) -> dict[str, Any]:
    found = json.loads(compare(*arguments, "--json").stdout)
    assert found["format_version"] == 1
    return dict(found)


def altered(folder: Path, change: Change, *, sealed: bool = True) -> Path:
    """A copy of the quickstart with every journal record changed; `sealed` with a new manifest."""
    copy = folder / "mine"
    shutil.copytree(QUICKSTART, copy)
    journal = copy / "journal.jsonl"
    records = [json.loads(line) for line in journal.read_text("utf-8").splitlines()]
    for record in records:
        change(record)
    journal.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    if sealed:
        (copy / MANIFEST).write_bytes(manifest(copy))
    return copy


def slower(k: float) -> Change:
    """Every time of every request `k` times as long."""

    def change(record: dict[str, Any]) -> None:
        for request in record.get("requests", []):
            for name in TIMES:
                if request[name] is not None:
                    request[name] = round(request[name] * k)

    return change


def built(build: str) -> Change:
    def change(record: dict[str, Any]) -> None:
        if record["kind"] == "engine":
            record["build"] = build

    return change


@pytest.fixture(scope="module")
def twice_as_slow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = altered(tmp_path_factory.mktemp("slow"), slower(2), sealed=False)
    for path in (copy / "samples").glob("*.npy"):
        np.save(path, np.load(path) * 2)
    (copy / MANIFEST).write_bytes(manifest(copy))
    return copy


@pytest.fixture(scope="module")
def a_little_slower(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As a second evening would be: another build, two percent slower, the tokens with it."""

    def change(record: dict[str, Any]) -> None:
        slower(1.02)(record)
        built("b2")(record)

    return altered(tmp_path_factory.mktemp("rerun"), change)


# -- side by side


def test_what_makes_them_comparable_stands_before_any_figure(a_little_slower: Path) -> None:
    text = compare(QUICKSTART, a_little_slower).stdout
    lines = text.splitlines()
    first_figure = next(n for n, line in enumerate(lines) if "aggregate tok/s" in line)
    said = next(n for n, line in enumerate(lines) if line.startswith("Comparable: one thing"))
    build = next(n for n, line in enumerate(lines) if "xllamacpp 2026.10.11549 and b2" in line)
    prompts = next(n for n, line in enumerate(lines) if "Prompts: the same texts" in line)
    assert said < build < prompts < first_figure < lines.index("Hypotheses")
    assert "H1  A supported, B supported: With four slots" in text


def test_half_the_rate_is_a_ratio_of_a_half_with_its_range(twice_as_slow: Path) -> None:
    (found,) = data(QUICKSTART, twice_as_slow)["comparisons"]
    assert len(found["steps"]) == 8
    figures = {f["metric"]: f for f in found["steps"][-1]["figures"]}
    for metric in ("aggregate_tok_s", "stream_tok_s"):
        assert figures[metric]["ratio"]["median"] == pytest.approx(0.5, rel=1e-3)
    for metric in ("ttft_ms", "itl_ms", "wall_s"):
        assert figures[metric]["ratio"]["median"] == pytest.approx(2, rel=1e-3)
    rate = figures["aggregate_tok_s"]
    assert rate["ratio"]["range"]["low"] < 0.5 < rate["ratio"]["range"]["high"]
    assert (rate["a"]["n"], rate["reading"]) == (3, "no-difference-shown")  # 3 are not 4


def test_the_order_of_the_two_turns_the_ratio_over(twice_as_slow: Path) -> None:
    one = data(QUICKSTART, twice_as_slow)["comparisons"][0]["steps"][0]["figures"][0]["ratio"]
    other = data(twice_as_slow, QUICKSTART)["comparisons"][0]["steps"][0]["figures"][0]["ratio"]
    assert one["median"] * other["median"] == pytest.approx(1)
    assert one["range"]["low"] * other["range"]["high"] == pytest.approx(1)


def test_a_changed_journal_is_named_and_nothing_is_quotable(tmp_path: Path) -> None:
    copy = altered(tmp_path, slower(1.5), sealed=False)
    result = compare(QUICKSTART, copy)
    assert result.exit_code == 0
    assert "Not comparable: B: journal.jsonl was changed" in result.stdout
    (found,) = data(QUICKSTART, copy)["comparisons"]
    lines = [line for step in found["steps"] for line in step["figures"]]
    assert {line["quotable"] for line in lines} == {"no"}
    assert all(line["ratio"] for line in lines)  # shown all the same


def test_another_model_file_is_not_comparable(tmp_path: Path) -> None:
    def change(record: dict[str, Any]) -> None:
        slower(1.01)(record)
        if record["kind"] == "engine":
            record["model_sha256"] = "0" * 64

    result = compare(QUICKSTART, altered(tmp_path, change))
    assert "Not comparable: found different though declared equal: model." in result.stdout


def test_a_page_an_unfinished_run_and_more_than_two(tmp_path: Path, twice_as_slow: Path) -> None:
    unfinished = altered(tmp_path, slower(1.1))
    (unfinished / MANIFEST).unlink()
    result = compare(twice_as_slow, QUICKSTART / "report.html", unfinished)
    assert result.exit_code == 0
    for told in ("B beside A", "C beside A", "C / A", "It is a page alone", "It is unfinished"):
        assert told in result.stdout


def test_a_copy_is_one_run(tmp_path: Path) -> None:
    copy = altered(tmp_path, lambda record: None)
    assert "they are one run" in compare(QUICKSTART, copy).stdout
    assert compare("--reproduce", QUICKSTART, copy).exit_code == 1


def test_a_missing_metric_is_never_zero(tmp_path: Path) -> None:
    def change(record: dict[str, Any]) -> None:
        for request in record.get("requests", []):
            request["first_token_ns"] = request["last_token_ns"] = None

    copy = altered(tmp_path, change)
    step = data(QUICKSTART, copy)["comparisons"][0]["steps"][0]
    found = next(f for f in step["figures"] if f["metric"] == "ttft_ms")
    assert (found["b"], found["ratio"], found["reading"]) == (None, None, "not-measured")
    assert "not measured" in compare(QUICKSTART, copy).stdout


def test_studies_with_nothing_in_common(tmp_path: Path) -> None:
    result = compare(QUICKSTART, CASE)
    assert result.exit_code == 1
    assert "They share no step, so there is nothing to compare." in result.stdout
    assert "only B has arm main, C=1" in result.stdout
    assert "as its author states it" in result.stdout


def test_an_audits_folder_is_read_with_or_without_its_page(tmp_path: Path) -> None:
    CliRunner().invoke(audit, [str(CASE), "--output", str(tmp_path), "--format", "html"])
    folder = tmp_path / CASE.stem
    with_page = data(folder, CASE)["comparisons"]
    (folder / "report.html").unlink()
    assert data(folder, CASE)["comparisons"] == with_page
    assert "one run" in with_page[0]["comparability"]["why"]


# -- reproduce


def test_a_faithful_rerun_is_inside(a_little_slower: Path) -> None:
    result = compare("--reproduce", QUICKSTART, a_little_slower)
    assert result.exit_code == 0, result.stdout
    assert result.stdout.splitlines()[-1] == (
        "Inside the published band at every step: 8 of 8 published steps inside, 0 outside."
    )


def test_half_the_speed_is_outside(twice_as_slow: Path) -> None:
    result = compare("--reproduce", QUICKSTART, twice_as_slow)
    assert result.exit_code == 1
    assert "Outside the published band: 0 of 8" in result.stdout
    assert "next: benchspec compare" in result.stderr
    found = data("--reproduce", QUICKSTART, twice_as_slow)["reproduction"]
    assert found["answer"] == "outside"
    assert found["steps"][0]["figures"][0]["reading"] == "below"


def test_a_saved_page_is_enough_to_check_against(a_little_slower: Path) -> None:
    page = QUICKSTART / "report.html"
    whole = data("--reproduce", QUICKSTART, a_little_slower)["reproduction"]
    assert data("--reproduce", page, a_little_slower)["reproduction"] == whole


def test_a_rerun_that_stopped_half_way_is_undecided(tmp_path: Path) -> None:
    copy = altered(tmp_path, slower(1.02))
    journal = copy / "journal.jsonl"
    records = journal.read_text("utf-8").splitlines(keepends=True)
    journal.write_text("".join(r for r in records if '"one-slot-c8' not in r), "utf-8")
    (copy / MANIFEST).write_bytes(manifest(copy))
    result = compare("--reproduce", QUICKSTART, copy)
    assert result.exit_code == 1
    assert "Undecided: 7 of 8 published steps inside" in result.stdout


# -- hostile input


def test_something_else_is_no_bundle(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("74 tok/s")
    (tmp_path / "spec.yaml").write_text("benchspec: 1\n")
    for other in (tmp_path / "notes.txt", tmp_path / "nowhere", tmp_path / "spec.yaml", tmp_path):
        result = compare(QUICKSTART, other)
        assert isinstance(result.exception, UsageError), other
        assert result.exception.hint, other


def test_a_spec_without_figures_is_no_run() -> None:
    result = compare(QUICKSTART, ROOT / "specs" / "quickstart" / "spec.yaml")
    assert isinstance(result.exception, UsageError)
    assert "without observations" in result.exception.message


@pytest.mark.parametrize("name", ["journal.jsonl", "resolved.json", "spec.yaml"])
def test_a_damaged_bundle_is_a_sentence(tmp_path: Path, name: str) -> None:
    copy = altered(tmp_path, lambda record: None)
    (copy / name).write_bytes(b'{"kind": "unheard"}\n\xff')
    result = compare(QUICKSTART, copy)
    assert isinstance(result.exception, StorageFailure | UsageError), result.exception


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"format_version":1,"benchspec"', '"format_version":9,"benchspec"'),
        ('"observations":{', '"observations":{"steps":7,"x":{'),
        ('"complete":', '"complete"'),
        ('"spec":"', '"spec":7,"y":"'),
    ],
)
def test_a_damaged_page_is_a_sentence(tmp_path: Path, old: str, new: str) -> None:
    text = (QUICKSTART / "report.html").read_text("utf-8")
    assert old in text
    page = tmp_path / "report.html"
    page.write_text(text.replace(old, new, 1), "utf-8")
    result = compare(QUICKSTART, page)
    assert isinstance(result.exception, StorageFailure), result.exception


def test_names_from_a_stranger_move_no_cursor(tmp_path: Path) -> None:
    def change(record: dict[str, Any]) -> None:
        slower(1.1)(record)
        built("\x1b[2Jb2\n\u202e")(record)

    text = compare(QUICKSTART, altered(tmp_path, change)).stdout
    assert "\x1b" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize("arguments", [(QUICKSTART,), ("--reproduce", *[QUICKSTART] * 3), ()])
def test_one_bundle_or_three_is_a_usage_error(arguments: tuple[object, ...]) -> None:
    assert compare(*arguments).exit_code == 2
