"""A kernel summary of Nsight Systems as a time budget. Pure.

`nsys stats --report cuda_gpu_kern_sum --format csv`: one line per kernel under a header; lines above
the header are passed over. Column names carry the unit: `Total Time (ns)`, or the one of --timeunit.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from typing import Any

MOST_PARTS = 12
"""Kernels with a part of their own; the others are one part together."""

LONGEST_NAME = 100

_UNITS_MS = {"ns": 1e-6, "nsec": 1e-6, "us": 1e-3, "usec": 1e-3, "ms": 1.0, "msec": 1.0}
_UNITS_MS |= {"s": 1e3, "sec": 1e3}
_TOTAL = "Total Time ("
_NAME = "Name"


def kernels(lines: Iterable[str]) -> dict[str, float]:
    """Kernel -> its time in ms over all calls, the most expensive first; empty where there is no
    such summary. Kernels of one name (cut to a readable length) are added up."""
    rows = map(_row, lines)
    header = next((row for row in rows if _is_header(row)), None)
    if header is None:
        return {}
    total = next(i for i, column in enumerate(header) if column.startswith(_TOTAL))
    factor, name = _UNITS_MS[_unit(header[total])], header.index(_NAME)
    found: dict[str, float] = {}
    for row in rows:
        if len(row) == len(header) and (ms := _ms(row[total], factor)) is not None:
            short = _short(row[name])
            found[short] = found.get(short, 0.0) + ms
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _row(line: str) -> list[str]:
    """The fields of one line; none where it is no CSV."""
    try:
        return next(csv.reader([line]), [])
    except csv.Error:
        return []


def budget_of(found: dict[str, float], total_ms: float | None, name: str) -> dict[str, Any]:
    """A budget of `observations`; its whole is `total_ms`, else the kernels together."""
    listed = list(found.items())
    parts = dict(listed[:MOST_PARTS])
    rest = listed[MOST_PARTS:]
    if rest:
        parts[f"{len(rest)} other kernels"] = sum(ms for _, ms in rest)
    whole = sum(found.values()) if total_ms is None else total_ms
    rounded = {part: _rounded(ms) for part, ms in parts.items()}
    return {"name": name, "total_ms": _rounded(whole), "parts": rounded}


def _is_header(row: list[str]) -> bool:
    totals = [column for column in row if column.startswith(_TOTAL)]
    return _NAME in row and bool(totals) and _unit(totals[0]) in _UNITS_MS


def _unit(column: str) -> str:
    return column.removeprefix(_TOTAL).rstrip(") ").replace("μ", "u").replace("µ", "u")


def _ms(text: str, factor: float) -> float | None:
    """None for what is no time; some locales group digits."""
    try:
        value = float(text.replace(",", "")) * factor
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _short(name: str) -> str:
    """A name that can be a key of a spec: one line of printable characters."""
    words = " ".join("".join(c if c.isprintable() else " " for c in name).split()) or "unnamed"
    return words if len(words) <= LONGEST_NAME else f"{words[: LONGEST_NAME - 3]}..."


def _rounded(ms: float) -> float:
    return float(f"{ms:.6g}")
