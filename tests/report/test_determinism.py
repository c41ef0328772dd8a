"""The same bundle gives the same bytes, in any process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import hashlib
from benchspec.report.html import render_html
from benchspec.report.pdf import render_pdf
from tests.report import samples
from tests.report.conftest import ATTACHED
for view in (samples.quickstart(), samples.blog_post()):
    html = render_html(view)
    pdf = render_pdf(html, ATTACHED, utc=samples.UTC).data
    print(hashlib.sha256(html).hexdigest(), hashlib.sha256(pdf).hexdigest())
"""


def rendered(**environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **environment},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_time_zone_locale_hash_seed_and_home_leave_no_trace(tmp_path: Path) -> None:
    here = rendered(TZ="UTC", LC_ALL="C", PYTHONHASHSEED="1")
    there = rendered(
        TZ="Asia/Tokyo", LC_ALL="de_DE.UTF-8", PYTHONHASHSEED="4711", HOME=str(tmp_path)
    )

    assert here == there
