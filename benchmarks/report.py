"""How large, slow and hungry the report of a long run is: 10,000 requests, 100,000 samples.

    python benchmarks/report.py

Limits: HTML under 3 MB and 15 s, PDF under 30 s, memory under 700 MB. Exit 1 beyond.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchspec.observations.model import Observations, Series
from benchspec.report.html import render_html
from benchspec.report.pdf import render_pdf
from tests.report import samples

REPEATS, LOADS, SLOTS = (1, 2, 3, 4), (500, 1000, 1000), 64
DEVICES, SAMPLES = 8, 12_500
LIMITS = {"HTML MB": 3.0, "HTML s": 15.0, "PDF s": 30.0, "memory MB": 700.0}


def long_run() -> Observations:
    """One arm, twelve cells of up to a thousand requests, eight devices sampled for 40 minutes."""
    steps = [samples.burst("four-slots", SLOTS, c, r) for r in REPEATS for c in LOADS]
    series = [
        Series(
            counter="power",
            unit="W",
            device=f"gpu{device}",
            arm="four-slots",
            values=[100.0 + (i * 37 + device) % 200 for i in range(SAMPLES)],
            times_s=[i * 0.2 for i in range(SAMPLES)],
        )
        for device in range(DEVICES)
    ]
    return Observations(arms=samples.quickstart_observations().arms, steps=steps, series=series)


def main() -> int:
    text = samples.QUICKSTART.read_text("utf-8")
    seen, verdicts = long_run(), samples.quickstart_verdicts(text)
    began = time.monotonic()
    html = render_html(samples.view_of(text, seen, verdicts, samples.facts(text)))
    rendered = time.monotonic()
    pdf = render_pdf(html, [], utc=samples.UTC).data
    done = time.monotonic()
    found = {
        "HTML MB": len(html) / 1e6,
        "HTML s": rendered - began,
        "PDF MB": len(pdf) / 1e6,
        "PDF s": done - rendered,
        "memory MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    for name, value in found.items():
        limit = LIMITS.get(name)
        print(f"{name:10} {value:8.2f}" + (f"  (limit {limit:g})" if limit else ""))
    return int(any(found[name] > limit for name, limit in LIMITS.items()))


if __name__ == "__main__":
    sys.exit(main())
