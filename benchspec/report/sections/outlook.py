"""What follows from the checks for someone who has to choose: crossings and levers."""

from __future__ import annotations

from benchspec.judge.interval import Interval
from benchspec.judge.result import CheckResult
from benchspec.report.material import Material, check_anchor, place_of
from benchspec.report.numbers import ABSENT, figure
from benchspec.report.parts import Cell, Table


def crossings(material: Material) -> Table | None:
    """Where two arms cross (check break-even); None where none was judged."""
    judged = _judged(material, "break-even")
    if not judged:
        return None
    rows = tuple(
        (
            Cell(f"{c.arm} against {c.at.get('against')}", href=check_anchor(c.key)),
            Cell(_place(c, "against")),
            Cell(_short(c.value, c.unit) if c.reading == "crossing" else "never"),
            Cell(c.arithmetic or ABSENT),
        )
        for c in judged
    )
    head = ("Arms", "At", "Crossing", "Division")
    return Table("Where two arms are equally fast", head, rows)


def levers(material: Material) -> Table | None:
    """Levers by the largest gain that each could bring (check what-if); None where none was judged."""
    judged = sorted(_judged(material, "what-if"), key=_bound, reverse=True)
    if not judged:
        return None
    rows = tuple(
        (
            Cell(str(c.at.get("lever")), href=check_anchor(c.key)),
            Cell(", ".join(w for w in (c.arm, place_of(_without(c, "lever"))) if w) or ABSENT),
            Cell(f"{_bound(c):.3g} ×", note=None if c.reading == "gain" else "no gain"),
            Cell((c.arithmetic or ABSENT).removeprefix(f"{c.at.get('lever')}: ")),
        )
        for c in judged
    )
    head = ("Change", "For", "At most", "Division")
    note = (
        "Each is a bound on one change alone, on this machine, not a forecast; two together do not "
        "multiply."
    )
    return Table("Possible gains, the largest bound first", head, rows, frozenset({2}), note)


def _judged(material: Material, name: str) -> list[CheckResult]:
    return [c for c in material.verdicts.checks if c.check == name and c.state == "judged"]


def _bound(result: CheckResult) -> float:
    return Interval.of(result.value).high if result.value is not None else 1.0


def _short(value: object, unit: str | None) -> str:
    return figure(float(f"{value:.3g}"), unit) if isinstance(value, float) else ABSENT


def _place(result: CheckResult, left_out: str) -> str:
    return place_of(_without(result, left_out)) or ABSENT


def _without(result: CheckResult, name: str) -> dict[str, object]:
    return {key: value for key, value in result.at.items() if key != name}
