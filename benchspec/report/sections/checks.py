"""Every check: its reading and division, or why it stayed silent."""

from __future__ import annotations

from benchspec.judge.result import CheckResult
from benchspec.report.material import Material, check_anchor, place_of
from benchspec.report.numbers import ABSENT, figure
from benchspec.report.parts import CheckGroup, CheckView
from benchspec.report.sections.verdicts import ingredients, spread

_STATE_WORDS = {
    "judged": "judged",
    "insufficient": "not judged: something is missing",
    "not-applicable": "does not apply",
    "invalid": "invalid",
}


def checks(material: Material) -> tuple[CheckGroup, ...]:
    """Results grouped by check, in the order in which the judge gave them."""
    groups: dict[str, list[CheckResult]] = {}
    for result in material.verdicts.checks:
        groups.setdefault(result.check, []).append(result)
    return tuple(
        CheckGroup(name, check_anchor(name), tuple(_view(r, len(results)) for r in results))
        for name, results in groups.items()
    )


def _view(result: CheckResult, siblings: int) -> CheckView:
    key = result.key
    place = ", ".join(w for w in (result.arm, place_of(result.at)) if w)
    bounds = figure(result.range, result.unit) if result.range else None
    return CheckView(
        anchor=check_anchor(key) if siblings > 1 or place else check_anchor(f"{key} all"),
        place=place or "whole run",
        state=result.state,
        reading=result.reading or _STATE_WORDS[result.state],
        division=result.arithmetic,
        value=figure(result.value, result.unit),
        spread=spread(result.n, bounds) or ABSENT,
        quotable=result.quotable,
        why=_why(result),
        caveats=tuple(result.caveats),
        ingredients=ingredients(result.inputs),
    )


def _why(result: CheckResult) -> str | None:
    if result.state == "judged":
        return result.reason
    missing = f"Missing: {', '.join(result.missing)}." if result.missing else None
    return " ".join(w for w in (result.reason, missing) if w) or _STATE_WORDS[result.state]
