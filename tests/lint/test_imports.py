"""Linting starts fast: no heavy library is imported on its way. A duration is not asserted here;
`benchmarks/` compares it with importing click, yaml and pydantic."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

HEAVY = ("numpy", "matplotlib", "weasyprint", "httpx", "uvloop", "rich", "jinja2", "httptools")
QUICKSTART = Path(__file__).parents[2] / "specs" / "quickstart" / "spec.yaml"

PROGRAM = """
import json, sys
from benchspec.cli.main import cli
try:
    cli.main(["lint", sys.argv[1]], standalone_mode=False)
except SystemExit as stop:
    code = stop.code
print(json.dumps([code, sorted({name.split(".")[0] for name in sys.modules})]))
"""


def test_linting_imports_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(QUICKSTART)], capture_output=True, text=True, check=True
    )
    code, modules = json.loads(done.stdout.splitlines()[-1])
    assert code == 0
    assert not set(HEAVY) & set(modules)
