"""No false alarm: specs that can answer their question give no error and no warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lint.specs import HERE, described, linted

SPECS = sorted((HERE / "good").glob("*.yaml"))
PUBLISHED = HERE.parents[1] / "specs" / "quickstart" / "spec.yaml"


def test_there_are_enough_of_them() -> None:
    assert len(SPECS) >= 20


@pytest.mark.parametrize("path", [*SPECS, PUBLISHED, HERE / "base.yaml"], ids=lambda p: p.stem)
def test_a_good_spec_is_clean(path: Path) -> None:
    result = linted(path.read_text("utf-8"))
    loud = [finding for finding in result.findings if finding.severity != "info"]
    assert not loud, described(result)
