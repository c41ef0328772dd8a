"""What this didn't finish: every gap the judge found, grouped, with what each one touches."""

from __future__ import annotations

from benchspec.judge.result import Unfinished
from benchspec.report.material import Material, check_anchor, hypothesis_anchor, place_of
from benchspec.report.parts import Item, ItemGroup, Reference


def unfinished(material: Material) -> tuple[ItemGroup, ...]:
    """Groups in the order in which their kinds first appear; `kind` read as words is the title."""
    known = {h.id for h in material.verdicts.hypotheses}
    groups: dict[str, list[Item]] = {}
    for gap in material.verdicts.unfinished:
        groups.setdefault(gap.kind, []).append(Item(gap.text, _about(gap, material, known)))
    return tuple(ItemGroup(_title(kind), tuple(items)) for kind, items in groups.items())


def _title(kind: str) -> str:
    words = kind.replace("-", " ").replace("_", " ")
    return words[:1].upper() + words[1:]


def _about(gap: Unfinished, material: Material, known: set[str]) -> Reference | None:
    if gap.hypothesis in known and gap.hypothesis is not None:
        return Reference(gap.hypothesis, hypothesis_anchor(gap.hypothesis))
    if gap.check is None:
        return None
    key = " ".join(w for w in (gap.check, gap.arm, place_of(gap.at)) if w)
    group = any(c.check == gap.check for c in material.verdicts.checks)
    exact = any(
        (c.check, c.arm, c.at) == (gap.check, gap.arm, gap.at) for c in material.verdicts.checks
    )
    if exact:
        return Reference(key, check_anchor(key))
    return Reference(gap.check, check_anchor(gap.check)) if group else None
