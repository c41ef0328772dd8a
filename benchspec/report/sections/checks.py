"""Every check: its reading and division, or why it stayed silent."""

from __future__ import annotations

from collections import Counter

from benchspec.judge.result import CheckResult
from benchspec.report.material import Material, check_anchor, place_of
from benchspec.report.numbers import ABSENT, count, figure
from benchspec.report.parts import CheckGroup, CheckView
from benchspec.report.sections.verdicts import ingredients, spread

MAX_UNFOLDED = 3
_STATE_WORDS = {
    "judged": "judged",
    "insufficient": "not judged",
    "not-applicable": "not applicable",
    "invalid": "invalid",
}


def checks(material: Material) -> tuple[CheckGroup, ...]:
    """Results grouped by check, in the order in which the judge gave them."""
    groups: dict[str, list[CheckResult]] = {}
    for result in material.verdicts.checks:
        groups.setdefault(result.check, []).append(result)
    return tuple(
        CheckGroup(
            name=name,
            anchor=check_anchor(name),
            overview=_overview(results),
            short=len(results) <= MAX_UNFOLDED,
            results=tuple(_view(r, len(results)) for r in results),
        )
        for name, results in groups.items()
    )


def _overview(results: list[CheckResult]) -> str:
    """`8 results: 6 contaminated, 2 quiet`."""
    readings = Counter(_reading(r) for r in results)
    counts = ", ".join(f"{n} {word}" for word, n in readings.items())
    return f"{count(len(results), 'result')}: {counts}"


def _reading(result: CheckResult) -> str:
    return result.reading or _STATE_WORDS[result.state]


def _view(result: CheckResult, siblings: int) -> CheckView:
    key = result.key
    place = ", ".join(w for w in (result.arm, place_of(result.at)) if w)
    repeats = count(result.n, "repeat") if result.n else None
    return CheckView(
        anchor=check_anchor(key) if siblings > 1 or place else check_anchor(f"{key} all"),
        place=place or "whole run",
        state=result.state,
        reading=_reading(result),
        division=result.arithmetic,
        value=figure(result.value, result.unit),
        spread=ABSENT
        if result.state != "judged"
        else ", ".join(w for w in (repeats, spread(result)) if w) or ABSENT,
        quotable=result.quotable,
        why=_why(result),
        caveats=tuple(result.caveats),
        ingredients=ingredients(result.inputs),
    )


def _why(result: CheckResult) -> str | None:
    if result.state == "judged" or result.reason:
        return result.reason
    return f"Missing: {', '.join(result.missing)}." if result.missing else None
