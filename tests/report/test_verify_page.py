"""`benchspec verify report.html`: a saved page is judged again from what it carries."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from benchspec.cli.audit import command as audit
from benchspec.cli.verify import command
from benchspec.errors import UsageError
from benchspec.report.embedded import ELEMENT_ID
from benchspec.run.finish import judge_bundle
from benchspec.run.verify import _same_content
from benchspec.store.manifest import EVIDENCE
from tests.report.bundles import write_bundle

CASE = Path(__file__).parents[2] / "specs" / "casebook" / "three-cards.yaml"
RESULT = re.compile(rf'(id="{ELEMENT_ID}">)(.*?)(</script>)', re.DOTALL)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bundle(tmp_path_factory.mktemp("runs")).html


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audits")
    CliRunner().invoke(audit, [str(CASE), "--output", str(folder), "--format", "html"])
    return folder / CASE.stem / "report.html"


def verify(path: Path) -> tuple[Result, dict[str, Any]]:
    result = CliRunner().invoke(command, [str(path), "--json"])
    return result, json.loads(result.stdout) if result.stdout else {}


def edited(page: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A copy with another result in it."""
    found = RESULT.search(page.read_text("utf-8"))
    assert found
    data = json.loads(found[2])
    change(data)
    text = json.dumps(data).replace("<", "\\u003c")
    copy = tmp_path / "page.html"
    copy.write_text(page.read_text("utf-8").replace(found[2], text), "utf-8")
    return copy


@pytest.mark.parametrize("kind", ["measured", "audited"])
def test_a_report_holds_and_says_what_was_not_checked(
    kind: str, request: pytest.FixtureRequest
) -> None:
    result, data = verify(request.getfixturevalue(kind))

    assert (result.exit_code, data["mismatches"]) == (0, [])
    assert "journal" in data["notes"][0]


def test_an_edited_verdict_is_found(measured: Path, tmp_path: Path) -> None:
    def support(data: dict[str, Any]) -> None:
        data["verdicts"]["hypotheses"][0]["verdict"] = "refuted"

    result, data = verify(edited(measured, tmp_path, support))

    assert result.exit_code == 1
    assert ["H1"] in [m["hypotheses"] for m in data["mismatches"]]


def test_an_edited_figure_moves_what_rests_on_it(measured: Path, tmp_path: Path) -> None:
    def speed_up(data: dict[str, Any]) -> None:
        step = data["observations"]["steps"][-1]
        step["requests"]["end_s"] = [end / 2 for end in step["requests"]["end_s"]]
        step["wall_s"] = step["wall_s"] / 2

    assert verify(edited(measured, tmp_path, speed_up))[0].exit_code == 1


def test_an_audited_figure_must_stand_in_the_spec(audited: Path, tmp_path: Path) -> None:
    def add(data: dict[str, Any]) -> None:
        data["observations"]["steps"][0]["wall_s"] = 1.25

    texts = [m["text"] for m in verify(edited(audited, tmp_path, add))[1]["mismatches"]]

    assert any("not those of its spec" in text for text in texts)


def test_another_spec_is_found(measured: Path, tmp_path: Path) -> None:
    def reword(data: dict[str, Any]) -> None:
        data["spec"] += "# and nothing else\n"

    assert "SHA-256" in verify(edited(measured, tmp_path, reword))[1]["mismatches"][0]["text"]


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ('<article class="card', "cards"),
        ('<ol class="answers"', "top"),
        ('<p class="open">', "top"),
    ],
)
def test_words_that_say_otherwise_are_found(
    measured: Path, tmp_path: Path, part: str, said: str
) -> None:
    copy = tmp_path / "page.html"
    text = measured.read_text("utf-8")
    word = re.compile(r"<b>\w[\w ]*</b>").search(text, text.index(part))
    assert word
    copy.write_text(text[: word.start()] + "<b>Proven</b>" + text[word.end() :], "utf-8")

    (mismatch,) = verify(copy)[1]["mismatches"]
    assert said in mismatch["text"]


def test_without_its_long_series_a_page_still_answers_for_its_requests(
    measured: Path, tmp_path: Path
) -> None:
    def cut(data: dict[str, Any]) -> None:
        data["complete"] = False

    def cut_and_edit(data: dict[str, Any]) -> None:
        cut(data)
        shape = next(c for c in data["verdicts"]["checks"] if c["check"] == "aggregate")
        shape["value"] = 1e6

    result, data = verify(edited(measured, tmp_path, cut))
    assert (result.exit_code, len(data["notes"])) == (0, 2)
    assert verify(edited(measured, tmp_path, cut_and_edit))[0].exit_code == 1


def test_a_bundle_is_not_blamed_for_what_its_page_leaves_out(tmp_path: Path) -> None:
    def cut(data: dict[str, Any]) -> None:
        data["complete"] = False
        del data["observations"]["steps"][0]

    bundle = write_bundle(tmp_path)
    html = edited(bundle.html, tmp_path, cut).read_bytes()
    evidence = (bundle.root / EVIDENCE).read_bytes()

    assert list(_same_content(bundle, judge_bundle(bundle), html, evidence)) == []
    whole = html.replace(b'"complete": false', b'"complete": true')
    assert len(list(_same_content(bundle, judge_bundle(bundle), whole, evidence))) == 1


def test_a_damaged_result_is_a_mismatch(measured: Path, tmp_path: Path) -> None:
    def break_it(data: dict[str, Any]) -> None:
        data["observations"] = {"steps": [{"requests": {"ok": [True], "end_s": [1, 2]}}]}

    assert verify(edited(measured, tmp_path, break_it))[0].exit_code == 1


def test_a_result_nested_too_deeply_is_a_mismatch(measured: Path, tmp_path: Path) -> None:
    text = RESULT.sub(lambda found: f"{found[1]}{'[' * 200_000}{found[3]}", measured.read_text())
    copy = tmp_path / "page.html"
    copy.write_text(text)

    assert verify(copy)[0].exit_code == 1


def test_any_other_page_is_a_usage_error(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<html></html>")

    assert isinstance(verify(page)[0].exception, UsageError)
