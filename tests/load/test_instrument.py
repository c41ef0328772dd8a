"""The benchmark of the measured path runs and judges its own stamps."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "instrument.py"


@pytest.mark.slow
def test_the_benchmark_prints_its_figures() -> None:
    command = [sys.executable, str(SCRIPT), "--streams", "4", "--repeats", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    header, row, flat_out, _ = done.stdout.splitlines()
    assert "kernel share" in header
    assert row.split()[0] == "4"
    assert flat_out.startswith("flat out, 32 streams: ")
