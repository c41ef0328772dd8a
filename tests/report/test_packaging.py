"""The templates travel in the wheel: an installed benchspec renders without its repository."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PROGRAM = "from benchspec.report.html import template_dir as t; print(t(), *sorted(t().rglob('*')))"


@pytest.mark.slow
def test_the_wheel_holds_the_templates(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    subprocess.run(
        [*command, "--wheel-dir", str(tmp_path), str(REPOSITORY)], check=True, timeout=240
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")

    found = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "installed")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout.split()

    packaged = tmp_path / "installed" / "benchspec" / "_templates"
    assert found[0] == str(packaged)
    own = {p.relative_to(REPOSITORY / "templates") for p in (REPOSITORY / "templates").rglob("*")}
    assert {Path(p).relative_to(packaged) for p in found[1:]} == own
