"""The four published studies, audited through the command: every reading, figure and verdict."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

Row = tuple[str, str | None, dict[str, Any], str, Any, float]

ROOT = Path(__file__).parents[2]
SPECS = sorted((ROOT / "specs" / "casebook").glob("*.yaml"))
GOLDENS = yaml.safe_load((Path(__file__).parent / "goldens.yaml").read_text("utf-8"))
CHECKS: dict[str, list[Row]] = GOLDENS["checks"]
VERDICTS: dict[str, dict[str, str]] = GOLDENS["verdicts"]
_WHOLE = ("reading", "state", "quotable")


@pytest.fixture(scope="module")
def audited() -> dict[str, Any]:
    """The name of a spec -> what the one command found in it."""
    command = [sys.executable, "-m", "benchspec", "audit", "--json", *map(str, SPECS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["format_version"] == 1
    return {Path(file["path"]).stem: file for file in data["files"]}


def test_every_spec_has_goldens() -> None:
    assert {path.stem for path in SPECS} == CHECKS.keys() == VERDICTS.keys()
    assert sum(map(len, CHECKS.values())) >= 110


@pytest.mark.parametrize("name", [path.stem for path in SPECS])
def test_a_spec_of_the_casebook_is_clean(audited: dict[str, Any], name: str) -> None:
    unwaived = [f for f in audited[name]["findings"] if f["waived"] is None]
    assert unwaived == []


@pytest.mark.parametrize("name", [path.stem for path in SPECS])
def test_verdicts(audited: dict[str, Any], name: str) -> None:
    found = {h["id"]: h["verdict"] for h in audited[name]["verdicts"]["hypotheses"]}
    assert found == VERDICTS[name]


def _id(row: tuple[str, Row]) -> str:
    name, (check, arm, at, field, *_) = row
    place = " ".join(str(value) for value in at.values())
    return f"{name}: {check} {arm or ''} {place} {field}"


@pytest.mark.parametrize("row", [(n, row) for n, rows in CHECKS.items() for row in rows], ids=_id)
def test_golden(audited: dict[str, Any], row: tuple[str, Row]) -> None:
    name, (check, arm, at, field, expected, tolerance) = row
    result = _result(audited[name], check, arm, at)
    found = _field(result, field)
    if isinstance(expected, str):
        assert found == expected if field in _WHOLE else expected in str(found), found
    else:
        assert found == pytest.approx(expected, rel=tolerance or 1e-12)


@pytest.mark.parametrize(("name", "hypothesis", "field", "expected", "tolerance"), GOLDENS["found"])
def test_predicted_and_measured(
    audited: dict[str, Any],
    name: str,
    hypothesis: str,
    field: str,
    expected: float,
    tolerance: float,
) -> None:
    (found,) = [h for h in audited[name]["verdicts"]["hypotheses"] if h["id"] == hypothesis]
    assert found[field] == pytest.approx(expected, rel=tolerance or 1e-12)


def test_what_rests_on_a_refuted_claim_is_withdrawn(audited: dict[str, Any]) -> None:
    verdicts = audited["three-cards"]["verdicts"]["hypotheses"]
    assert verdicts[4]["withdrawn_by"] == ["H1"]


def test_the_gate_of_the_private_engine_is_triggered(audited: dict[str, Any]) -> None:
    (gate,) = [
        h["gate"]
        for h in audited["serial-laptop"]["verdicts"]["hypotheses"]
        if h["gate"] is not None
    ]
    assert gate["reading"] == "triggered"
    assert gate["then"] == "stop the private engine project"


def test_the_seven_questions_of_the_first_study(audited: dict[str, Any]) -> None:
    order = audited["three-cards"]["order"]
    assert [step["number"] for step in order] == [1, 2, 3, 4, 5, 6, 7]
    assert {step["state"] for step in order} == {"answered"}
    assert "by layer over 3 devices (33 / 33 / 34 %)" in order[0]["answer"]
    assert "99.1 %" in order[1]["answer"]
    assert "blind" in order[2]["answer"]
    assert "10.6 %" in order[3]["answer"]
    assert "4 slots" in order[4]["answer"]
    assert "queued" in order[5]["answer"]
    assert "0.431 %" in order[6]["answer"]


def test_a_question_that_nobody_asked_says_so(audited: dict[str, Any]) -> None:
    order = audited["serial-laptop"]["order"]
    assert (order[1]["state"], order[1]["answer"]) == ("not-asked", "not asked")


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("three-cards", "within-slots", "no step above 4 slots ran in parallel"),
        ("three-cards", "jump", "rises from 48.2 to 74.8 ms between C=2 and C=4"),
        ("three-cards", "bound", "bytes per token and crossing is a bound"),
        ("three-cards", "not-measured", "pcie_rx was not measured"),
        ("three-cards", "remainder", "89 % stays unexplained"),
        ("three-cards", "withdrawn", "H5 is withdrawn"),
        ("allreduce-pcie", "not-measured", "nvlink_rx"),
        ("three-cards-speculation", "insufficient", "k, the drafts per pass"),
    ],
)
def test_what_was_not_finished(audited: dict[str, Any], name: str, kind: str, said: str) -> None:
    lines = [u["text"] for u in audited[name]["verdicts"]["unfinished"] if u["kind"] == kind]
    assert any(said in line for line in lines), lines


def _result(file: dict[str, Any], check: str, arm: str | None, at: dict[str, Any]) -> Any:
    checks = file["verdicts"]["checks"]
    found = [c for c in checks if (c["check"], c["arm"], c["at"]) == (check, arm, at)]
    assert len(found) == 1, [(c["arm"], c["at"]) for c in checks if c["check"] == check]
    return found[0]


def _field(result: Any, field: str) -> Any:
    name, _, rest = field.partition(".")
    if name != "inputs":
        return result[name][rest] if rest else result[name]
    wanted, _, end = rest.partition(".") if rest.endswith((".low", ".high")) else (rest, "", "")
    (given,) = [i for i in result["inputs"] if i["name"] == wanted]
    return given["value"][end] if end else given["value"]
