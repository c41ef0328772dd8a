"""When each request completed: a staircase, batches, or all together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchspec.judge.result import CheckResult
from benchspec.observations.model import Step
from benchspec.report import measures
from benchspec.report.charts.canvas import INK
from benchspec.report.charts.chart import (
    MAX_SERIES,
    Chart,
    Key,
    Style,
    load_of,
    load_word,
    styled,
    thinned,
    usable,
)
from benchspec.report.material import Material
from benchspec.report.numbers import count, figure
from benchspec.report.parts import Cell, Table
from benchspec.report.text import anchor

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_ARMS = 6
MAX_POINTS = 300
MAX_LISTED = 16
MIN_SLOT_SHARE = 0.08
"""A line for the slots lower than this part of the axis would lie on its foot."""
Drawn = list[tuple[str, list[list[float]], Style]]


def charts(material: Material) -> list[Chart]:
    """One chart per arm that has completion times (the first six arms)."""
    steps = [s for s in usable(material) if measures.completions_s(s)]
    arms = list(dict.fromkeys(s.arm for s in steps))[:MAX_ARMS]
    return [_chart(material, arm, [s for s in steps if s.arm == arm]) for arm in arms]


def _chart(material: Material, arm: str, steps: list[Step]) -> Chart:
    loads = sorted(dict.fromkeys(load_word(s) for s in steps), key=lambda w: _rank(w, steps))
    drawn: Drawn = [
        (word, [measures.completions_s(s) for s in steps if load_word(s) == word], style)
        for word, style in styled(thinned(loads, MAX_SERIES))
    ]
    known = material.case.slots(arm)
    slots = known.count if known else None
    most = max(len(times) for _, repeats, _ in drawn for times in repeats)
    line = slots if slots and most * MIN_SLOT_SHARE < slots < most else None
    return Chart(
        id=anchor("chart-completions", arm),
        title=_title(material, arm),
        description="Requests completed against seconds since the first was sent. A line rises by "
        "one at each completion of the first repeat; smaller marks are the other repeats. "
        "Steps of equal width mean one after the other, a jump means together.",
        legend=tuple(Key(word, style) for word, _, style in drawn),
        table=_table(arm, steps),
        paint=lambda canvas: _paint(canvas, drawn, line),
        size=(460.0, 270.0),
        note=f"Lines longer than {MAX_POINTS} completions are thinned evenly; the table and the "
        "bundle have all."
        if most > MAX_POINTS
        else None,
    )


def _rank(word: str, steps: list[Step]) -> float:
    return next(load_of(s) or 0 for s in steps if load_word(s) == word)


def _title(material: Material, arm: str) -> str:
    shapes = [
        c
        for c in material.verdicts.checks
        if c.check == "completion-shape" and c.arm == arm and c.state == "judged"
    ]
    widest = max(shapes, key=lambda c: c.at.get("concurrency", 0), default=None)
    if widest is None:
        return f"{arm}: when each request completed"
    return f"{arm}: {_finding(widest)}"


def _finding(shape: CheckResult) -> str:
    load = f"C={shape.at['concurrency']}" if "concurrency" in shape.at else "the widest step"
    reading = shape.reading or ""
    sentences = {
        "staircase": f"at {load} requests complete one after the other",
        "parallel": f"at {load} requests complete side by side",
        "time-sliced": f"at {load} requests share the time of one",
        "S-at-least-C": f"at {load} all complete together",
    }
    if reading == "batches":
        return f"at {load} requests complete in batches of {figure(shape.value)}"
    return sentences.get(reading, f"completion times at {load}: {reading}")


def _table(arm: str, steps: list[Step]) -> Table:
    rows = []
    for step in steps:
        times = measures.completions_s(step)
        listed = ", ".join(f"{t:.3f}" for t in times[:MAX_LISTED])
        more = f" … and {len(times) - MAX_LISTED} more" if len(times) > MAX_LISTED else ""
        rows.append((Cell(load_word(step)), Cell(str(step.repeat)), Cell(listed + more)))
    head = ("Load", "Repeat", "Completion times in seconds")
    return Table(f"Completion times, {arm}", head, tuple(rows), frozenset({1}))


def _paint(canvas: Figure, drawn: Drawn, slots: int | None) -> None:
    from matplotlib.ticker import MaxNLocator

    axes = canvas.subplots()
    for _, (first, *others), style in reversed(drawn):
        points = thinned(list(enumerate(first, 1)), MAX_POINTS)
        times, ranks = [t for _, t in points], [n for n, _ in points]
        axes.step([0, *times], [0, *ranks], where="post", color=style.colour, linewidth=1.4)
        mark = style.marker if len(points) <= 40 else ""
        axes.plot(times, ranks, marker=mark, linestyle="none", color=style.colour)
        for repeat in others:
            rest = thinned(list(enumerate(repeat, 1)), MAX_POINTS // 3)
            size = 4 if len(rest) <= 40 else 1.5
            axes.plot(
                [t for _, t in rest],
                [n for n, _ in rest],
                marker=style.marker,
                markersize=size,
                fillstyle="none",
                linestyle="none",
                color=style.colour,
            )
    if slots:
        axes.axhline(slots, color=INK, linewidth=1, linestyle=(0, (2, 2)))
        axes.annotate(
            count(slots, "slot"),
            (0, slots),
            xycoords=("axes fraction", "data"),
            xytext=(4, 3),
            textcoords="offset points",
            fontsize=10,
        )
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("Seconds since the first was sent")
    axes.set_ylabel("Requests completed")
