"""What each request did: waited, was read in, was answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchspec.observations.model import Request, Step
from benchspec.report.charts.chart import Chart, Key, Style, load_of, load_word, thinned, usable
from benchspec.report.material import Material
from benchspec.report.numbers import count, number
from benchspec.report.parts import Cell, Table
from benchspec.report.text import anchor

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_ARMS = 4
MAX_ROWS = 40
WAIT = Style("#d5dae0", "", "")
PREFILL = Style("#e69f00", "", "")
DECODE = Style("#0072b2", "", "")


@dataclass(frozen=True)
class Row:
    """Seconds from the step's first dispatch. `prefill` is None where the server did not say."""

    sent: float
    prefill: float | None
    first: float
    end: float


def charts(material: Material) -> list[Chart]:
    """The step with the most requests in flight of each arm, first repeat (the first four arms)."""
    steps = [s for s in usable(material) if any(map(_row, s.requests))]
    arms = list(dict.fromkeys(s.arm for s in steps))[:MAX_ARMS]
    widest = [max((s for s in steps if s.arm == arm), key=_rank) for arm in arms]
    return [_chart(step) for step in widest if len(step.requests) > 1]


def _rank(step: Step) -> tuple[float, int]:
    return load_of(step) or 0, -step.repeat


def _row(request: Request) -> Row | None:
    sent = request.start_s if request.scheduled_s is None else request.scheduled_s
    if not request.ok or sent is None or request.first_token_s is None or request.end_s is None:
        return None
    prefill = request.server_prefill_ms
    began = None if prefill is None else max(sent, request.first_token_s - prefill / 1000)
    return Row(sent, began, request.first_token_s, request.end_s)


def _chart(step: Step) -> Chart:
    rows = sorted((r for r in map(_row, step.requests) if r), key=lambda r: (r.sent, r.first))
    shown = thinned(rows, MAX_ROWS)
    told = any(r.prefill is not None for r in rows)
    wait = Key("waiting" if told else "waiting and reading the prompt", WAIT, box=True)
    prefill = (Key("reading the prompt", PREFILL, box=True),) if told else ()
    return Chart(
        id=anchor("chart-timeline", step.arm),
        title=_title(step, rows),
        description="One row per request, in the order sent: from being sent to its first token, "
        "and from there to its last. Rows that begin to answer together ran side by side.",
        legend=(wait, *prefill, Key("answering", DECODE, box=True)),
        table=_table(step, shown),
        paint=lambda canvas: _paint(canvas, shown),
        size=(460.0, 90.0 + 13.0 * min(len(shown), 16) + 2.0 * max(0, len(shown) - 16)),
        note=f"{MAX_ROWS} of {len(rows):,} requests, evenly spaced." if rows[MAX_ROWS:] else None,
    )


def _title(step: Step, rows: list[Row]) -> str:
    waits = sorted(r.first - r.sent for r in rows)
    place = f"{step.arm}, {load_word(step)}, repeat {step.repeat}"
    low, high = (number(float(f"{w:.3g}")) for w in (waits[0], waits[-1]))
    return f"{place}: first tokens come {low} to {high} s after sending"


def _table(step: Step, rows: list[Row]) -> Table:
    cells = [
        (
            Cell(str(i)),
            *(Cell(f"{t:.3f}") for t in (row.sent, row.first, row.end)),
        )
        for i, row in enumerate(rows, 1)
    ]
    head = ("Request", "Sent s", "First token s", "End s")
    caption = f"{count(len(rows), 'request')} of {step.arm}, {load_word(step)}"
    return Table(caption, head, tuple(cells), frozenset({0, 1, 2, 3}))


def _paint(canvas: Figure, rows: list[Row]) -> None:
    axes = canvas.subplots()
    for place, row in enumerate(rows, 1):
        began = row.first if row.prefill is None else row.prefill
        axes.barh(place, began - row.sent, left=row.sent, height=0.7, color=WAIT.colour)
        if row.prefill is not None:
            axes.barh(place, row.first - began, left=began, height=0.7, color=PREFILL.colour)
        axes.barh(place, row.end - row.first, left=row.first, height=0.7, color=DECODE.colour)
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.grid(visible=False, axis="y")
    if len(rows) <= 12:
        axes.set_yticks(range(1, len(rows) + 1))
    axes.set_xlabel("Seconds since the first was sent")
    axes.set_ylabel("Request")
