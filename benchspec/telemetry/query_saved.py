"""A saved log of `nvidia-smi --query-gpu=... --format=csv`, as series of counters. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

from benchspec.telemetry.nvml_counters import REASONS
from benchspec.telemetry.smi_text import parse_query

COLUMNS = {
    "utilization.gpu": ("utilization", "%"),
    "utilization.memory": ("utilization_memory", "%"),
    "power.draw": ("power", "W"),
    "temperature.gpu": ("temperature", "°C"),
    "temperature.memory": ("temperature_memory", "°C"),
    "clocks.sm": ("clocks_sm", "MHz"),
    "clocks.mem": ("clocks_memory", "MHz"),
    "memory.used": ("memory_used", "MiB"),
    "pcie.link.gen.current": ("pcie_gen", "1"),
    "pcie.link.width.current": ("pcie_lanes", "1"),
}
"""Column -> (counter, unit)."""

BITS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")
"""The clock event reasons as one number in hex: today's name of the column, and the older one."""

_STAMPS = ("%Y/%m/%d %H:%M:%S.%f", "%Y/%m/%d %H:%M:%S")

Row = Mapping[str, float | str | None]


@dataclass
class Saved:
    """One counter of one card: a value a line, None where it answered N/A. `moments` are the lines'
    times, None where a line has none that can be read."""

    counter: str
    unit: str
    device: str
    values: list[float | None] = field(default_factory=list)
    moments: list[datetime | None] = field(default_factory=list)

    def times_s(self, first: datetime) -> list[float]:
        """Seconds from `first`, one a value; empty unless every line has a time after the last."""
        known = [moment for moment in self.moments if moment is not None]
        ascending = all(one < other for one, other in pairwise(known))
        if len(known) < len(self.values) or not ascending:
            return []
        return [(moment - first).total_seconds() for moment in known]


def saved(lines: Iterable[str]) -> list[Saved]:
    """The counters of a log by card and name; a card without an `index` is gpu0."""
    found: dict[tuple[str, str], Saved] = {}
    for row in parse_query(lines):
        device, moment = _device(row), _moment(row.get("timestamp"))
        for counter, unit, value in _values(row):
            one = found.setdefault((device, counter), Saved(counter, unit, device))
            one.values.append(value)
            one.moments.append(moment)
    return [one for _, one in sorted(found.items())]


def first_moment(every: Iterable[Saved]) -> datetime | None:
    """The earliest time in a log; None where no line has one."""
    moments = [moment for one in every for moment in one.moments if moment is not None]
    return min(moments, default=None)


def _values(row: Row) -> Iterator[tuple[str, str, float | None]]:
    for column, (counter, unit) in COLUMNS.items():
        if column in row:
            value = row[column]
            yield counter, unit, value if isinstance(value, float) else None
    listed = [row[column] for column in BITS if column in row]
    if listed:
        bits = _bits(listed[0])
        for counter, mask in REASONS.items():
            yield counter, "%", None if bits is None else 100.0 * bool(bits & mask)


def _bits(cell: float | str | None) -> int | None:
    """`0x0000000000000004` as a number; None for anything else."""
    if not isinstance(cell, str) or not cell.lower().startswith("0x"):
        return None
    try:
        return int(cell, 16)
    except ValueError:
        return None


def _device(row: Row) -> str:
    index = row.get("index")
    return f"gpu{index:g}" if isinstance(index, float) else "gpu0"


def _moment(cell: float | str | None) -> datetime | None:
    for form in _STAMPS:
        try:
            return datetime.strptime(str(cell), form)
        except ValueError:
            continue
    return None
