"""What was counted beside the requests: one row per counter, device, phase, arm and step."""

from __future__ import annotations

from collections.abc import Sequence

from benchspec.judge.channels import Channel, channels_of, finite, place_of, series_mean
from benchspec.judge.interval import Interval
from benchspec.observations.model import Series
from benchspec.observations.node import Bounds
from benchspec.report import material as words
from benchspec.report.material import Material
from benchspec.report.numbers import ABSENT, figure, number, with_unit
from benchspec.report.parts import Cell, Table

MAX_ROWS = 200
"""Of the table over repeats, which is in the PDF too."""
MAX_SINGLE = 300
"""Of the table of single repeats, which is on the screen only."""

MAX_SOURCES = 60

_PLACE = ("Arm", "Step", "Device", "Counter", "Phase")
_FIGURES = ("Mean", "Max", "n", "Unit", "Read")
_NUMERIC = {"Repeat", "Mean", "Max", "n"}
_NOTE = (
    "n: samples in a repeat. The mean of a cumulative counter is its growth over the time, which is "
    "exact; its largest is that of one interval."
)


def over_repeats(material: Material) -> Table | None:
    """A row per channel: the range of its means over repeats, its largest sample, the samples of
    each repeat. None where no counter gave a value."""
    rows = [_channel(c) for c in channels_of(material.observations.series)]
    return _table("Every counter, over its repeats", (*_PLACE, *_FIGURES), rows, MAX_ROWS, _NOTE)


def single_repeats(material: Material) -> Table | None:
    """A row per series. None where no counter was read in more than one repeat: it would say the
    same again."""
    read = [s for s in material.observations.series if series_mean(s) is not None]
    if not any(len(c.raw) > 1 for c in channels_of(read)):
        return None
    head = (*_PLACE, "Repeat", *_FIGURES)
    rows = [_single(s) for s in read]
    return _table("Every counter, in every repeat", head, rows, MAX_SINGLE, _NOTE)


def sources(material: Material) -> Table | None:
    """How each counter was read, by which call or file; or why it gave no values, or not always."""
    rows: dict[tuple[str, ...], tuple[Cell, ...]] = {}
    for series in material.observations.series:
        device, name = series.device or "host", Cell(series.counter, code=True)
        source = series.not_measured or series.source or "not stated"
        # The interval is not in the key: it is a little different in every cell.
        key = (series.counter, device, _kind(series), source)
        rows.setdefault(key, (name, Cell(device), Cell(_how(series)), Cell(source)))
    head = ("Counter", "Device", "How it was read", "By, or why not")
    return _table("How each counter was read", head, list(rows.values()), MAX_SOURCES)


def _table(
    caption: str,
    head: Sequence[str],
    rows: Sequence[tuple[Cell, ...]],
    most: int,
    note: str | None = None,
) -> Table | None:
    left_out = len(rows) - most
    rest = f"{left_out:,} more rows in observations.json." if left_out > 0 else None
    numeric = frozenset(i for i, word in enumerate(head) if word in _NUMERIC)
    text = " ".join(part for part in (note, rest) if part) or None
    return Table(caption, tuple(head), tuple(rows[:most]), numeric, text) if rows else None


def _place(series: Series) -> tuple[Cell, ...]:
    at = {name: value for name, value in place_of(series).items() if name != "phase"}
    return (
        Cell(series.arm or ABSENT),
        Cell(words.place_of(at) or ABSENT),
        Cell(series.device or "host"),
        Cell(series.counter, code=True),
        Cell(series.phase or "all"),
    )


def _channel(channel: Channel) -> tuple[Cell, ...]:
    first = channel.raw[0]
    samples = [v for series in channel.raw for v in finite(series)]
    return (
        *_place(first),
        _mean(channel.range, first),
        Cell(figure(max(samples, default=None))),
        Cell(_counts(channel.counts)),
        Cell(channel.unit or ABSENT),
        Cell(_kind(first)),
    )


def _single(series: Series) -> tuple[Cell, ...]:
    mean, samples = series_mean(series), finite(series)
    return (
        *_place(series),
        Cell(figure(series.repeat)),
        Cell(ABSENT) if mean is None else _mean(mean, series),
        Cell(figure(max(samples, default=None))),
        Cell(_counts(series.counts or [len(samples)])),
        Cell(series.unit or ABSENT),
        Cell(_kind(series)),
    )


def _mean(mean: Interval, series: Series) -> Cell:
    """Told apart where it is not simply measured: a bound, or what somebody else printed."""
    told = None if series.provenance == "measured" else series.provenance
    ends = Bounds(low=mean.low, high=mean.high)
    return Cell(figure(ends), told)


def _counts(counts: Sequence[int]) -> str:
    if not any(counts):
        return ABSENT
    return figure(Bounds(low=min(counts), high=max(counts)))


def _kind(series: Series) -> str:
    """`cumulative` sees everything; a sample sees a window before it, or a moment."""
    if series.total is not None:
        return "cumulative"
    return "window" if series.window_s else "sampled"


def _how(series: Series) -> str:
    """The kind, and how often and how long was looked."""
    if series.not_measured:
        return "not, or not always"
    length = f" of {_seconds(series.window_s)}" if series.window_s else ""
    every = f", every {_seconds(series.interval_s)}" if series.interval_s else ""
    return f"{_kind(series)}{length}{every}"


def _seconds(length: float) -> str:
    short = float(f"{length:.2g}")
    return with_unit(number(short * 1e3), "ms") if short < 1 else with_unit(number(short), "s")
