"""What `benchspec lint` costs: the start of one call, and a thousand specs in one call.

    python benchmarks/lint.py [--repeats 15]

The start is compared, interleaved, with `python -c 'import click, yaml, pydantic'`; printed are the
medians and their difference, in wall and in processor time. The thousand specs are copies of the
quickstart. Exits 1 when the start adds more than 100 ms or the thousand take more than 5 s.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

QUICKSTART = Path(__file__).parents[1] / "specs" / "quickstart" / "spec.yaml"
BARE = [sys.executable, "-c", "import click, yaml, pydantic"]
LINT = [sys.executable, "-m", "benchspec", "lint"]
MOST_ADDED_MS = 100.0
MOST_FOR_A_THOUSAND_S = 5.0


def cost_ms(command: list[str]) -> tuple[float, float]:
    """Wall and processor time of one child process, in ms."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall * 1e3, cpu * 1e3


def start(repeats: int) -> float:
    """Print both medians; the wall time that linting adds, in ms."""
    pairs = [(cost_ms(BARE), cost_ms([*LINT, str(QUICKSTART)])) for _ in range(repeats)]
    added = 0.0
    for index, name in ((1, "processor"), (0, "wall")):
        bare = statistics.median(pair[0][index] for pair in pairs)
        lint = statistics.median(pair[1][index] for pair in pairs)
        added = lint - bare
        print(f"{name:<10} imports {bare:.0f} ms, lint {lint:.0f} ms, adds {added:.0f} ms")
    return added


def thousand() -> float:
    """Lint a thousand files in one call; seconds."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(1000):
            (Path(folder) / f"{number}.yaml").write_bytes(QUICKSTART.read_bytes())
        wall_ms, cpu_ms = cost_ms([*LINT, folder])
    print(f"a thousand specs: {wall_ms / 1e3:.2f} s, processor {cpu_ms / 1e3:.2f} s")
    return wall_ms / 1e3


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=15)
    added_ms, thousand_s = start(parser.parse_args().repeats), thousand()
    return int(added_ms > MOST_ADDED_MS or thousand_s > MOST_FOR_A_THOUSAND_S)


if __name__ == "__main__":
    sys.exit(main())
