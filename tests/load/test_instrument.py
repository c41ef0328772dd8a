"""The benchmarks of the measured path run, and judge their own stamps."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "instrument.py"


def benchmark(*options: str) -> list[str]:
    command = [sys.executable, str(SCRIPT), "--repeats", "1", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    before, *lines, after = done.stdout.splitlines()
    assert before.startswith("load average")
    assert after.startswith("load average")
    return lines


@pytest.mark.slow
def test_the_benchmark_prints_its_figures() -> None:
    header, row, in_reads, floor, flat_out, _ = benchmark("--streams", "4")
    assert "kernel share" in header
    assert row.split()[0] == "4"
    assert in_reads.strip().startswith("4 streams: ")
    assert in_reads.endswith(" us/event in the callback")
    assert floor.startswith("1 stream, blocking reads and nothing else: ")
    assert flat_out.startswith("flat out, 32 streams: ")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="processes are put on cores as Linux does it")
def test_with_the_clients_core_taken_both_kinds_of_stamps_are_measured() -> None:
    header, kernel, user = benchmark("--busy")
    assert header.endswith("kernel share  server p99 ms")
    assert (kernel.split()[0], kernel.split()[-2]) == ("kernel", "1.000")
    assert (user.split()[0], user.split()[-2]) == ("user", "0.000")
