"""What this didn't finish: every gap the judge found, grouped, with what each one touches."""

from __future__ import annotations

from benchspec.judge.result import Unfinished
from benchspec.report.material import Material, check_anchor, hypothesis_anchor
from benchspec.report.parts import Item, ItemGroup, Reference


def unfinished(material: Material) -> tuple[ItemGroup, ...]:
    """Groups in the order in which their kinds first appear; `kind` read as words is the title."""
    known = {h.id for h in material.verdicts.hypotheses}
    groups: dict[str, list[Item]] = {}
    for gap in material.verdicts.unfinished:
        groups.setdefault(gap.kind, []).append(Item(gap.text, _about(gap, material, known)))
    return tuple(ItemGroup(_title(kind), tuple(items)) for kind, items in groups.items())


_TITLES = {
    "author": "What the author names",
    "not-run": "Planned and not run",
    "aborted": "Stopped before its end",
    "within-slots": "Never above the slots",
    "jump": "Jumps without an explanation",
    "bound": "Bounds that stand in for measurements",
    "remainder": "Remainders without an explanation",
    "insufficient": "Not judged for want of inputs",
    "invalid": "Measured, but not usable",
    "single-run": "Measured once",
    "withdrawn": "Explanations withdrawn",
    "waiver": "Rules waived",
    "override": "Rules overridden",
}
"""The judge's kinds as a reader would say them; another kind is shown as it is."""


def _title(kind: str) -> str:
    words = kind.replace("-", " ")
    return _TITLES.get(kind, words[:1].upper() + words[1:])


def _about(gap: Unfinished, material: Material, known: set[str]) -> Reference | None:
    if gap.hypothesis in known and gap.hypothesis is not None:
        return Reference(gap.hypothesis, hypothesis_anchor(gap.hypothesis))
    if gap.check is None:
        return None
    same = [c for c in material.verdicts.checks if c.check == gap.check]
    exact = next((c for c in same if (c.arm, c.at) == (gap.arm, gap.at)), None)
    if exact:
        return Reference(exact.key, check_anchor(exact.key))
    return Reference(gap.check, check_anchor(gap.check)) if same else None
