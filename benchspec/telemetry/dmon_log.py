"""What `nvidia-smi dmon` prints, live or saved, of any version. Pure.

Columns follow the letters of `-s` and the driver's version, so that only the header says what they
are: two lines that begin with `#` and come again and again. Text between them is passed over.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from benchspec.store.tracks import CounterRecord, Kind

LINE_LIMIT = 1000
"""Characters of one line that are looked at."""

PCIE_WINDOW_S = 0.020
"""dmon prints what nvmlDeviceGetPcieThroughput counts: 20 ms of every second (nvml.h)."""

UTILIZATION_WINDOW_S = 1.0
"""The longest that the driver averages over: 1/6 s to 1 s by product (nvml.h)."""

_SEPARATORS = re.compile(r"[,\s]+")
_ABSENT = frozenset({"-", "N/A", "[N/A]"})


@dataclass(frozen=True)
class Column:
    """What a column means: printed number x `scale` in `unit`."""

    name: str
    unit: str
    kind: Kind = "gauge"
    scale: float = 1.0
    window_s: float | None = None


_UTILIZATION = Column("utilization", "%", "window", 1.0, UTILIZATION_WINDOW_S)

COLUMNS = {
    "pwr": Column("power", "W"),
    "temp": Column("temperature", "°C"),
    "gtemp": Column("temperature", "°C"),
    "mtemp": Column("temperature_memory", "°C"),
    "sm": _UTILIZATION,
    "mem": Column("utilization_memory", "%", "window", 1.0, UTILIZATION_WINDOW_S),
    "mclk": Column("clocks_memory", "MHz"),
    "pclk": Column("clocks_sm", "MHz"),
    "pviol": Column("violations_power", "%"),
    "tviol": Column("violations_thermal", "%", scale=100.0),
    "fb": Column("memory_used", "MiB"),
    "rxpci": Column("pcie_rx", "MB/s", "window", 1.0, PCIE_WINDOW_S),
    "txpci": Column("pcie_tx", "MB/s", "window", 1.0, PCIE_WINDOW_S),
}
"""By dmon's own name. The other columns (encoders, BAR1, ECC) say nothing of what is judged. `fb` is
headed MB and counts units of 2**20; `tviol` is a flag."""


SILENT = "nvidia-smi dmon prints `-`"
"""Why a counter is not measured whose column never shows a number."""


def counter_of(printed: str, device: str, **rest: Any) -> CounterRecord:
    """What the column `printed` of a device is; `rest` are other fields of the record."""
    column = COLUMNS[printed]
    return CounterRecord(
        name=column.name,
        unit=column.unit,
        kind=column.kind,
        source="dmon",
        device=device,
        read_as=f"nvidia-smi dmon, column {printed}",
        scale=column.scale,
        window_s=column.window_s,
        **rest,
    )


@dataclass(frozen=True)
class Row:
    """One line: the card's index, the local time as printed, and every number that was there."""

    gpu: int
    values: dict[str, float | None]
    time: str | None = None


@dataclass
class Parser:
    """Keeps the last header; feed it lines in order."""

    columns: list[str] = field(default_factory=list)

    def row(self, line: str) -> Row | None:
        """The row in a line, None for a header, an empty line or other text."""
        words = [word for word in _SEPARATORS.split(line[:LINE_LIMIT].strip()) if word]
        if line.lstrip().startswith("#"):
            self._header(words)
            return None
        if not self.columns or len(words) != len(self.columns):
            return None
        cells = dict(zip(self.columns, words, strict=True))
        if not cells["gpu"].isdigit():
            return None
        stamp = [cells[name] for name in ("date", "time") if name in cells]
        return Row(
            gpu=int(cells["gpu"]),
            values={name: _number(cells[name]) for name in COLUMNS if name in cells},
            time=" ".join(stamp) or None,
        )

    def _header(self, words: list[str]) -> None:
        """`# gpu pwr ...` and `#Time gpu ...` name the columns; `# Idx W ...` are their units."""
        names = [word.lstrip("#").lower() for word in words]
        names = [name for name in names if name]
        if "gpu" in names:
            self.columns = names


def parse(lines: Iterable[str]) -> Iterator[Row]:
    """Every row of a log. Unknown columns are passed over; `-` is None, never 0."""
    parser = Parser()
    for line in lines:
        row = parser.row(line)
        if row is not None:
            yield row


def _number(word: str) -> float | None:
    if word in _ABSENT:
        return None
    try:
        number = float(word)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
