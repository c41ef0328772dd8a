"""Aggregate and per-stream rate against concurrency, with the slots and the queue model drawn."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from benchspec.judge.conditions import unfit
from benchspec.observations.model import Step
from benchspec.report import measures
from benchspec.report.charts.canvas import INK, from_zero, load_axis
from benchspec.report.charts.ceiling import FAR, ceilings
from benchspec.report.charts.chart import (
    Chart,
    Key,
    LoadAxis,
    Style,
    load_of,
    loads_of,
    styled,
    usable,
)
from benchspec.report.material import Material
from benchspec.report.numbers import ABSENT, column, count, number
from benchspec.report.parts import Cell, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Points = list[tuple[float, float]]
CEILING = ":"
DISTURBED = Style("#77828d", "o", "none")


@dataclass(frozen=True)
class Series:
    """One arm: a point per repeat, the slots that were read, and what a queue of them predicts.

    `disturbed` are the points of repeats whose rates the judge does not use; `ceiling` is what
    memory bandwidth allows one stream.
    """

    arm: str
    aggregate: Points
    stream: Points
    disturbed: tuple[Points, Points]
    slots: int | None
    slots_from: str | None
    model: Points
    ceiling: Points

    @property
    def near_ceiling(self) -> bool:
        """Whether the ceiling can be drawn beside the marks without pressing them flat."""
        highest = max((y for _, y in (*self.stream, *self.disturbed[1])), default=0.0)
        return bool(self.ceiling) and max(y for _, y in self.ceiling) <= FAR * highest


def charts(material: Material) -> list[Chart]:
    """One chart over all arms, or none where no step has a rate."""
    steps = usable(material)
    arms = list(dict.fromkeys(s.arm for s in steps))
    series = [_series(material, arm, [s for s in steps if s.arm == arm]) for arm in arms]
    series = [s for s in series if s.aggregate or s.disturbed[0]]
    loads = sorted({x for s in series for x, _ in (*s.aggregate, *s.disturbed[0])})
    if len(loads) < 2:
        return []
    drawn = styled(series)
    over = loads_of(steps)
    return [
        Chart(
            id="chart-rates",
            title=_title(series, over),
            description=f"Two panels over {over.label.lower()}: tokens per second "
            "of all requests together, and of one stream. A point is one repeat, a line joins "
            "medians, a vertical line is the number of slots, crosses are what a queue for those "
            "slots predicts, a dotted line without marks is what memory bandwidth allows one stream.",
            legend=_legend(drawn, over),
            table=_table(series, over),
            paint=lambda canvas: _paint(canvas, drawn, loads, over),
            size=(460.0, 400.0),
        )
    ]


def medians(points: Points) -> Points:
    """The median of each load's points, in order of load."""
    return [(x, median(y for at, y in points if at == x)) for x in sorted({x for x, _ in points})]


def _series(material: Material, arm: str, steps: list[Step]) -> Series:
    known = material.case.slots(arm)
    slots = known.count if known else None
    fit = [s for s in steps if not unfit(s)]
    spoilt = [s for s in steps if unfit(s)]
    return Series(
        arm=arm,
        aggregate=_points(fit, measures.aggregate_tok_s),
        stream=_points(fit, measures.stream_tok_s),
        disturbed=(
            _points(spoilt, measures.aggregate_tok_s),
            _points(spoilt, measures.stream_tok_s),
        ),
        slots=slots,
        slots_from=known.provenance if known else None,
        model=queue_model(fit, slots) if slots else [],
        ceiling=[
            (x, y)
            for x, y in ceilings(material.verdicts.checks, arm)
            if any(load_of(s) == x for s in steps)
        ],
    )


def _points(steps: list[Step], value: measures.Measure) -> Points:
    return [(float(load_of(s) or 0), y) for s in steps if (y := value(s)) is not None]


def queue_model(steps: list[Step], slots: int) -> Points:
    """(C, predicted aggregate tok/s) above the slots: n(C) / (floor(C/S) T(S) + T(C mod S)).

    T is the median wall time of a burst, n(C) its median tokens; a C whose remainder was not
    measured is left out.
    """
    bursts = [s for s in steps if s.concurrency and s.mode in {"burst", None}]
    walls = dict(medians(_points(bursts, measures.wall_s))) | {0.0: 0.0}
    totals = dict(medians(_points(bursts, measures.tokens)))
    predicted = []
    for load, total in totals.items():
        whole, rest = divmod(load, slots)
        if load > slots and slots in walls and rest in walls:
            predicted.append((load, total / (whole * walls[slots] + walls[rest])))
    return predicted


def _title(series: list[Series], over: LoadAxis) -> str:
    if len(series) > 3:
        return f"Rates against load, {len(series)} arms"
    phrases = [_phrase(s, over, named=len(series) > 1) for s in series if s.aggregate]
    return "; ".join(phrases) or "No repeat was quiet enough for a rate"


def _phrase(series: Series, over: LoadAxis, *, named: bool) -> str:
    """`four-slots: 104 tok/s at C=1, 207 at C=4, 209 at C=8`: both ends and the slots."""
    (load, rate), *rest = medians(series.aggregate)
    later = [p for p in rest if (p[0] == series.slots and not over.is_open) or p == rest[-1]]
    name = f"{series.arm}: " if named else ""
    first = f"{number(_short(rate))} tok/s at {over.at(load)}"
    others = [f"{number(_short(y))} at {over.at(x)}" for x, y in later]
    return name + ", ".join([first, *others])


def _short(value: float) -> float:
    return float(f"{value:.3g}")


def _legend(drawn: list[tuple[Series, Style]], over: LoadAxis) -> tuple[Key, ...]:
    keys = [
        Key(s.arm + (f" ({count(s.slots, 'slot')} [{s.slots_from}])" if s.slots else ""), style)
        for s, style in drawn
    ]
    if any(s.model for s, _ in drawn):
        keys.append(Key("queue model [derived]", Style(INK, "x", "none")))
    keys += [
        Key(
            f"{s.arm}: {_ceiling_label(s, over)} [derived]",
            Style(style.colour, "", CEILING),
        )
        for s, style in drawn
        if s.ceiling
    ]
    if any(s.disturbed[0] for s, _ in drawn):
        keys.append(Key("disturbed repeat, no rate is read from it", DISTURBED))
    return tuple(keys)


def _ceiling_label(series: Series, over: LoadAxis) -> str:
    """With the figure where the line is too far above the marks to be drawn."""
    if series.near_ceiling:
        return "memory bandwidth allows one stream"
    load, highest = max(series.ceiling, key=lambda point: (_short(point[1]), -point[0]))
    at = over.at(load)
    return f"memory allows one stream {number(_short(highest))} tok/s at {at}, off the chart"


def _table(series: list[Series], over: LoadAxis) -> Table:
    rows = [
        (s, load)
        for s in series
        for load in sorted({x for x, _ in (*s.aggregate, *s.disturbed[0])})
    ]
    rates = column([dict(medians(s.aggregate)).get(load) for s, load in rows])
    streams = column([dict(medians(s.stream)).get(load) for s, load in rows])
    models = column([dict(s.model).get(load) for s, load in rows])
    cells: list[tuple[Cell, ...]] = [
        (
            Cell(s.arm),
            Cell(number(load)),
            Cell(rate, note=spread(s.aggregate, load)),
            Cell(stream),
            _derived(model),
            Cell(str(sum(x == load for x, _ in s.disturbed[0]))),
        )
        for (s, load), rate, stream, model in zip(rows, rates, streams, models, strict=True)
    ]
    head: tuple[str, ...] = (
        "Arm",
        over.column,
        "Aggregate tok/s",
        "Per stream tok/s",
        "Queue model tok/s",
        "Disturbed",
    )
    if any(s.ceiling for s in series):
        tops = column([dict(s.ceiling).get(load) for s, load in rows])
        cells = [(*row, _derived(top)) for row, top in zip(cells, tops, strict=True)]
        head = (*head, "Memory ceiling per stream tok/s")
    numeric = frozenset(range(1, len(head)))
    return Table("Rates, medians over repeats", head, tuple(cells), numeric)


def _derived(text: str) -> Cell:
    return Cell(text, None if text == ABSENT else "derived")


def spread(points: Points, load: float) -> str | None:
    """Smallest and largest repeat at one load: `102.9 to 104.8`; None for a single one."""
    values = [y for x, y in points if x == load]
    return f"{number(min(values))} to {number(max(values))}" if len(values) > 1 else None


def _paint(
    canvas: Figure, drawn: list[tuple[Series, Style]], loads: list[float], over: LoadAxis
) -> None:
    above, below = canvas.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    for series, style in drawn:
        _draw(above, series.aggregate, series.disturbed[0], style)
        _draw(below, series.stream, series.disturbed[1], style)
        if series.model:
            above.plot(*zip(*series.model, strict=True), "x", color=INK, markersize=8, zorder=5)
        if series.near_ceiling:
            _draw_ceiling(below, series.ceiling, style)
    for axes, label in ((above, "Aggregate tok/s"), (below, "Per stream tok/s")):
        axes.set_ylabel(label)
        from_zero(axes)
    load_axis(below, loads, over.label)
    if not over.is_open:
        _slot_lines(above, below, drawn, loads)


def _draw(axes: Axes, points: Points, disturbed: Points, style: Style) -> None:
    draw_points(axes, points, style)
    if disturbed:
        axes.plot(*zip(*disturbed, strict=True), style.marker, color=DISTURBED.colour, markersize=4)


def _draw_ceiling(axes: Axes, points: Points, style: Style) -> None:
    """A dotted line over the loads; across its load where only one was judged."""
    (first, level), *rest = points
    ends = points if rest else [(first / 1.2, level), (first * 1.2, level)]
    axes.plot(*zip(*ends, strict=True), color=style.colour, linestyle=CEILING)


def draw_points(axes: Axes, points: Points, style: Style) -> None:
    """A hollow mark per repeat and a line through the medians."""
    if points:
        axes.plot(*zip(*medians(points), strict=True), color=style.colour, linestyle=style.dashes)
        axes.plot(*zip(*points, strict=True), style.marker, color=style.colour, fillstyle="none")


def _slot_lines(
    above: Axes, below: Axes, drawn: list[tuple[Series, Style]], loads: list[float]
) -> None:
    for slots in sorted({s.slots for s, _ in drawn if s.slots}):
        if not loads[0] <= slots <= loads[-1]:
            continue
        for axes in (above, below):
            axes.axvline(slots, color=INK, linewidth=1, linestyle=(0, (2, 2)))
        word = "slot" if slots == 1 else "slots"
        above.annotate(
            f"{slots} {word}",
            (slots, 1),
            xycoords=("data", "axes fraction"),
            xytext=(4, 2),
            textcoords="offset points",
            fontsize=10,
        )
