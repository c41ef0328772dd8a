"""What crossed the links, per arm, phase and device: the mean, and the range over repeats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchspec.judge.channels import TRAFFIC, Channel, channels_of
from benchspec.report.charts.chart import Chart, Key, Style, styled
from benchspec.report.material import Material, place_of
from benchspec.report.numbers import column, number
from benchspec.report.parts import Cell, Table
from benchspec.report.text import anchor

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_ROWS = 24


def charts(material: Material) -> list[Chart]:
    """One chart per phase that has two or more channels of traffic."""
    found = [c for c in channels_of(material.observations.series) if c.counter in TRAFFIC]
    phases = list(dict.fromkeys(c.at.get("phase") for c in found))
    by_phase = [(p, [c for c in found if c.at.get("phase") == p][:MAX_ROWS]) for p in phases]
    return [_chart(phase, channels) for phase, channels in by_phase if len(channels) > 1]


def _chart(phase: str | None, channels: list[Channel]) -> Chart:
    arms = styled(list(dict.fromkeys(c.arm or "all" for c in channels)))
    styles = dict(arms)
    rows = [(c, styles[c.arm or "all"]) for c in channels if (c.arm or "all") in styles]
    busiest = max((c for c, _ in rows), key=lambda c: c.middle.high)
    where = " ".join(w for w in (busiest.arm, busiest.device, busiest.counter) if w)
    rate = f"{number(float(f'{busiest.middle.mid:.3g}'))} {busiest.unit}"
    return Chart(
        id=anchor("chart-traffic", phase or "all"),
        title=f"Link traffic{f' in {phase}' if phase else ''}: at most {rate}, {where}",
        description="One row per device and direction, in the order of the table. A mark is the "
        "mean within a repeat, median over repeats; the line is the range over repeats.",
        legend=tuple(Key(arm, style) for arm, style in arms),
        table=_table([c for c, _ in rows]),
        paint=lambda canvas: _paint(canvas, rows),
        size=(460.0, 60.0 + 15.0 * len(rows)),
    )


def _table(channels: list[Channel]) -> Table:
    means = column([c.middle.mid for c in channels])
    rows = [
        (
            Cell(str(row)),
            Cell(c.arm or "all"),
            Cell(c.device or "–"),
            Cell(c.counter),
            Cell(place_of(c.at)),
            Cell(f"{mean} {c.unit}", note=_range(c)),
            Cell("/".join(str(n) for n in c.counts) or "–"),
        )
        for row, (c, mean) in enumerate(zip(channels, means, strict=True), 1)
    ]
    head = ("Row", "Arm", "Device", "Counter", "Place", "Mean", "Samples")
    return Table("Link traffic", head, tuple(rows), frozenset({0, 5}))


def _range(channel: Channel) -> str | None:
    low, high = channel.range.low, channel.range.high
    return None if low == high else f"{number(low)} to {number(high)}"


def _paint(canvas: Figure, rows: list[tuple[Channel, Style]]) -> None:
    axes = canvas.subplots()
    for row, (channel, style) in enumerate(rows, 1):
        axes.plot([channel.range.low, channel.range.high], [row, row], color=style.colour)
        axes.plot(channel.middle.mid, row, style.marker, color=style.colour)
    axes.set_ylim(len(rows) + 0.6, 0.4)
    axes.set_yticks(range(1, len(rows) + 1))
    axes.tick_params(axis="y", labelsize=8)
    axes.set_xlim(0, axes.dataLim.x1 * 1.08 or 1)
    axes.set_xlabel(f"Mean, {unit_drawn(rows[0][0])}")
    axes.set_ylabel("Row of the table")


def unit_drawn(channel: Channel) -> str:
    """The unit if it is one of ours: a stranger's words are not drawn."""
    return channel.unit if channel.unit in {"MB/s", "GB/s", "B/s", "%"} else "as stated"
