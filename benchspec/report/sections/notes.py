"""Waivers, overrides and deviations: everything that was accepted against the rules."""

from __future__ import annotations

from benchspec.report.material import Material
from benchspec.report.parts import Item, ItemGroup


def notes(material: Material) -> tuple[ItemGroup, ...]:
    """Groups that have something to say; none of them means that nothing was waived."""
    facts, verdicts = material.facts, material.verdicts
    waived = [f"{f.code} {f.name}: {f.waived}" for f in facts.findings if f.waived]
    warned = [
        f"{f.code} {f.name} ({f.severity}): {f.message}" for f in facts.findings if not f.waived
    ]
    declared = [_waiver(w) for w in verdicts.waivers] if not waived else []
    groups = {
        "Waived findings, with the author's reasons": waived + declared,
        "Overrides: run in spite of an error": [
            f"{code}: {reason}" for code, reason in verdicts.overrides.items()
        ],
        "Findings of the linter that did not stop the run": warned,
        "Deviations from the spec": list(facts.deviations),
    }
    return tuple(
        ItemGroup(title, tuple(Item(text) for text in texts))
        for title, texts in groups.items()
        if texts
    )


def _waiver(waiver: dict[str, object]) -> str:
    where = f" (arm {waiver['arm']})" if waiver.get("arm") else ""
    return f"{waiver.get('rule', 'a rule')}{where}: {waiver.get('reason') or 'no reason given'}"
