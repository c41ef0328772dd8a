"""You are in range if …: the band that a reader's rerun must hit, and the command that tells."""

from __future__ import annotations

from benchspec.judge.interval import show
from benchspec.judge.metrics import Metric
from benchspec.judge.place import Place
from benchspec.judge.reproduction import band, no_band
from benchspec.judge.spread import MAIN, Spread, over_repeats
from benchspec.report.material import Material, place_of
from benchspec.report.numbers import ABSENT, count
from benchspec.report.parts import Cell, InRange, Table

MAX_STEPS = 100
DIGITS = 3
_HEADS = {
    "aggregate_tok_s": "Aggregate tok/s",
    "stream_tok_s": "Stream tok/s",
    "ttft_ms": "TTFT ms",
    "itl_ms": "ITL ms",
    "wall_s": "Wall s",
}

Spreads = dict[Place, list[Spread]]


def in_range(material: Material) -> InRange | None:
    """The bands of the main figures per step; None for an audit whose figures have none."""
    case = material.case
    spreads = {place: [over_repeats(case, place, m) for m in MAIN] for place in case.places}
    known = [m for n, m in enumerate(MAIN) if any(band(told[n]) for told in spreads.values())]
    if not known and material.audited:
        return None
    return InRange(
        table=_table(spreads, known) if known else None,
        missing=None if known else _missing(spreads),
        command="benchspec compare --reproduce report.html YOUR-RUN",
        prompts=_prompts(material),
    )


def _table(spreads: Spreads, known: list[Metric]) -> Table:
    """The steps that have a band; of the others only how many there are."""
    rows = [(_step(place), *_cells(told, known)) for place, told in spreads.items()]
    banded = [row for row in rows if any(cell.text != ABSENT for cell in row[1:])]
    return Table(
        "Where the median of a rerun should lie",
        ("Step", *(_HEADS[metric.name] for metric in known)),
        tuple(banded[:MAX_STEPS]),
        frozenset(range(1, len(known) + 1)),
        _note(len(banded) - MAX_STEPS, len(rows) - len(banded)),
    )


def _step(place: Place) -> Cell:
    return Cell(" ".join(word for word in (place.arm, place_of(place.at)) if word))


def _cells(told: list[Spread], known: list[Metric]) -> list[Cell]:
    bands = [band(spread) for metric, spread in zip(MAIN, told, strict=True) if metric in known]
    return [Cell(show(b, DIGITS).replace("..", " to ") if b else ABSENT) for b in bands]


def _note(left_out: int, bandless: int) -> str | None:
    more = f"{count(left_out, 'more step')}: the command knows the bands." if left_out > 0 else ""
    none = (
        f"{count(bandless, 'other step')} without a band: too few repeats, or too far apart."
        if bandless
        else ""
    )
    return " ".join(filter(None, (more, none))) or None


def _missing(spreads: Spreads) -> str:
    measured = [spread for told in spreads.values() for spread in told if spread.values]
    return no_band(measured[0]) if measured else "no step was finished"


def _prompts(material: Material) -> str | None:
    """What makes a reader's prompts the same texts: they are written from the spec's own bytes."""
    if material.audited or any(a.workload.prompt.file for a in material.case.arms.values()):
        return None
    digest = material.facts.spec_sha256
    return f"Your prompts are the same texts if your spec.yaml has the SHA-256 {digest}."
