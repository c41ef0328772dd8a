"""The lines `eval time = 5000.00 ms / 500 runs (... tokens per second)` of llama.cpp. Pure.

As `llama_print_timings`, `llama_perf_context_print` and llama-server's `print_timing` write them. The
decimal sign is the locale's; a rate is `inf` where the time is 0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from benchspec.observations.importers.logs.found import number, whole

_N = r"-?(?:[\d.,]{1,30}|inf|nan)"
_TIMING = re.compile(
    r"(?P<kind>load|sampling|sample|prompt eval|generation eval|eval|total) time\s*=\s*"
    rf"(?P<ms>{_N}) ms(?:\s*/\s*(?P<n>\d{{1,15}}) (?:runs|tokens)"
    rf"(?:\s*\(\s*{_N} ms per token,\s*(?P<rate>{_N}) tokens per second)?)?"
)


@dataclass(frozen=True)
class Timing:
    """`ms` for `n` tokens or runs at `rate` tokens per second; `kind` is load, prompt eval, ..."""

    kind: str
    ms: float | None
    n: int | None
    rate: float | None


def timing(line: str) -> Timing | None:
    """The timing of a line; `generation eval` is called `eval`, and `sample` `sampling`."""
    match = _TIMING.search(line) if " time" in line else None
    if match is None:
        return None
    kind = {"generation eval": "eval", "sample": "sampling"}.get(match["kind"], match["kind"])
    rate = number(match["rate"])
    return Timing(kind, number(match["ms"]), whole(match["n"]), rate if rate else None)
