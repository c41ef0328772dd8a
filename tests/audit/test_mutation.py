"""A figure that is a tenth larger moves a value as the formula of the check says, and by nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from benchspec.judge.interval import Interval
from benchspec.judge.result import CheckResult
from benchspec.run.audit import Audited, audit
from benchspec.spec.source import parse

ROOT = Path(__file__).parents[2]
CASEBOOK = ROOT / "specs" / "casebook"
CHECKS = ROOT / "benchspec" / "judge" / "checks"

TABLE = yaml.safe_load((Path(__file__).parent / "mutations.yaml").read_text("utf-8"))


def judged(text: str) -> list[CheckResult]:
    result = audit(parse(text.encode(), "spec.yaml"))
    assert isinstance(result, Audited)
    return result.verdicts.checks


def value(text: str, check: str, arm: str | None, at: dict[str, Any]) -> Interval:
    (result,) = [r for r in judged(text) if (r.check, r.arm, r.at) == (check, arm, at)]
    assert result.value is not None
    return Interval.of(result.value)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[2]} by {next(iter(row[1]))}")
def test_a_tenth_more_of_one_input(row: list[Any]) -> None:
    spec, changes, check, arm, at, power = row
    text = changed = (CASEBOOK / f"{spec}.yaml").read_text("utf-8")
    for figure, larger in changes.items():
        assert figure in changed
        changed = changed.replace(figure, larger)
    before, after = value(text, check, arm, at), value(changed, check, arm, at)
    assert after.low / before.low == pytest.approx(1.1**power, rel=1e-6)
    assert after.high / before.high == pytest.approx(1.1**power, rel=1e-6)


def test_the_sum_of_utilisations_moves_by_what_one_of_them_moves() -> None:
    text = (CASEBOOK / "three-cards.yaml").read_text("utf-8")
    at = {"concurrency": 1, "phase": "decode"}
    more = text.replace("mean: 33.2", "mean: 36.52")
    moved = value(more, "turn-taking", "main", at).low - value(text, "turn-taking", "main", at).low
    assert moved == pytest.approx(3.32)


def test_no_check_knows_a_study() -> None:
    stems = [path.stem for path in CASEBOOK.glob("*.yaml")]
    cards = ("V100", "2080", "M1 Max", "mining", "casebook")
    for path in CHECKS.glob("*.py"):
        code = path.read_text("utf-8")
        assert not [word for word in (*stems, *cards) if word in code], path
