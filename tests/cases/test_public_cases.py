"""Public reports, judged by the command: what each must read, by division and not by its wording.

The files hold only what was reported, in our own words, with the public source named; beside them
`expected.yaml` says what must come out. Where a report leaves its question open, the judge must too.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from benchspec.cli.audit import command

FOLDER = Path(__file__).parent
EXPECTED: dict[str, list[dict[str, Any]]] = yaml.safe_load(
    (FOLDER / "expected.yaml").read_text("utf-8")
)
_SOURCE = re.compile(r"# (\S+( PR)?#\d+|[\w.-]+\.[a-z]+[ /,:])")
"""A thread of a repository, or the address of a page."""

EACH = [
    pytest.param(name, wanted, id=f"{name}-{number}")
    for name, every in EXPECTED.items()
    for number, wanted in enumerate(every, 1)
]


@pytest.fixture(scope="module")
def audited() -> dict[str, dict[str, Any]]:
    """Every file judged in one call of the command."""
    files = [str(FOLDER / f"{name}.yaml") for name in EXPECTED]
    done = CliRunner().invoke(command, [*files, "--json"])
    assert done.exit_code in (0, 1), done.output
    return {Path(f["path"]).stem: f for f in json.loads(done.stdout)["files"]}


def test_every_file_has_expectations_and_names_its_source() -> None:
    files = {p.stem: p.read_text("utf-8") for p in FOLDER.glob("*.yaml")}
    del files["expected"]
    assert set(files) == set(EXPECTED)
    assert len(files) >= 125
    firsts = [text.splitlines()[0] for text in files.values()]
    assert [first for first in firsts if not _SOURCE.match(first)] == []


@pytest.mark.parametrize(("name", "wanted"), EACH)
def test_reads_as_it_should(
    audited: dict[str, dict[str, Any]], name: str, wanted: dict[str, Any]
) -> None:
    found = audited[name]
    assert found["verdicts"] is not None, found["findings"]
    if "finding" in wanted:
        codes = [f["code"] for f in found["findings"]]
        assert any(code.startswith(wanted["finding"]) for code in codes), codes
    elif "hypothesis" in wanted:
        _as_verdict(found["verdicts"]["hypotheses"], wanted)
    else:
        _as_result(found["verdicts"]["checks"], wanted)


def test_nothing_is_read_from_what_is_missing(audited: dict[str, dict[str, Any]]) -> None:
    """A judged line shows its division and lacks nothing; a silent one says why, and no figure."""
    results = [r for f in audited.values() for r in f["verdicts"]["checks"]]
    for r in results:
        if r["state"] == "judged":
            assert r["reading"] and r["arithmetic"] and not r["missing"], r
        else:
            assert r["reason"] and r["reading"] is None and r["value"] is None, r
            assert bool(r["missing"]) == (r["state"] == "insufficient"), r


def _as_verdict(hypotheses: list[dict[str, Any]], wanted: dict[str, Any]) -> None:
    verdict = next(h for h in hypotheses if h["id"] == wanted["hypothesis"])
    assert verdict["verdict"] == wanted["verdict"], verdict["reason"]
    assert wanted.get("text", "") in verdict["reason"]


def _as_result(results: list[dict[str, Any]], wanted: dict[str, Any]) -> None:
    """The one result at the place that is named, with everything that is said of it."""
    place = {**wanted.get("at", {}), **({"arm": wanted["arm"]} if "arm" in wanted else {})}
    here = [
        r
        for r in results
        if r["check"] == wanted["check"] and place.items() <= {**r["at"], "arm": r["arm"]}.items()
    ]
    here = [r for r in here if r["state"] != "not-applicable"] or here
    assert len(here) == 1, [(r["check"], r["arm"], r["at"], r["state"]) for r in results]
    result = here[0]
    assert result["state"] == wanted.get("state", "judged"), result
    assert wanted.get("reading", result["reading"]) == result["reading"], result
    assert str(wanted.get("text", "")) in (result["arithmetic"] or ""), result["arithmetic"]
    assert wanted.get("caveat", "") in "; ".join(result["caveats"]), result["caveats"]
    assert wanted.get("missing", "") in "; ".join(result["missing"]), result["missing"]
    if "value" in wanted:
        assert result["value"] == pytest.approx(wanted["value"], rel=0.002, abs=1e-9)
    if "low" in wanted:
        ends = (result["value"]["low"], result["value"]["high"])
        assert ends == pytest.approx((wanted["low"], wanted["high"]), rel=0.005)


def test_what_would_decide_an_open_claim_is_asked_of_its_author() -> None:
    done = CliRunner().invoke(command, [str(FOLDER / "vllm-18136.yaml"), "--questions", "--json"])
    asked = json.loads(done.stdout)["files"][0]["questions"]
    assert any("KV tokens and the tokens of a request" in question for question in asked), asked
