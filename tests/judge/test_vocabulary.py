"""Every check file is in the table once, and is its own manual page."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchspec.judge import checks
from benchspec.judge.thresholds import THRESHOLDS

FOLDER = Path(checks.__file__).parent
MODULES = {module.__name__.rsplit(".", 1)[1]: module for module in checks.CHECKS}


def test_every_file_is_in_the_table_once() -> None:
    files = {p.stem for p in FOLDER.glob("*.py")} - {"__init__"}
    assert files == set(MODULES)
    assert len(checks.CHECKS) == len(MODULES) == len(checks.BY_NAME)


@pytest.mark.parametrize("name", MODULES)
def test_a_check_is_its_own_manual_page(name: str) -> None:
    module = MODULES[name]
    page = module.__doc__ or ""
    assert page.startswith(f"{module.NAME}: ")
    for heading in ("Needs: ", "Division", "Readings", "Silent when: ", "Value: ", "Source: "):
        assert heading in page.replace("Comparison: ", "Division: "), heading
    for reading in module.READINGS:
        assert f"\n  {reading} " in page, reading
    assert name.replace("_", "-") == module.NAME
    assert module.NEEDS
    assert isinstance(module.RATE, bool)


def test_every_threshold_is_used_and_has_a_source() -> None:
    files = [p for p in FOLDER.parent.rglob("*.py") if p.name != "thresholds.py"]
    code = "".join(p.read_text("utf-8") for p in files)
    for name, threshold in THRESHOLDS.items():
        assert threshold.source
        assert f'"{name}"' in code, name
