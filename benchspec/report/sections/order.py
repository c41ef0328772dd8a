"""In this order: the questions to ask of a slow or flat figure, each with its answer or none."""

from __future__ import annotations

from benchspec.judge.order import in_order
from benchspec.judge.result import OrderStep
from benchspec.report.material import Material, check_anchor
from benchspec.report.parts import Item, OrderView, Reference

MAX_ANSWERS = 3


def order(material: Material) -> tuple[OrderView, ...]:
    """For someone else's figures, and where several devices share a model; else nothing."""
    if not material.audited and len(material.spec.hardware.devices) < 2:
        return ()
    steps = in_order(material.case, material.verdicts.checks)
    return tuple(
        OrderView(s.question, s.state.replace("-", " "), tuple(_answers(s, material)))
        for s in steps
    )


def _answers(step: OrderStep, material: Material) -> list[Item]:
    """The first checks that answer it, each with its link; a sentence where no check does."""
    checks = [c for c in material.verdicts.checks if c.key in step.checks]
    if not checks:
        return [] if step.state == "not-asked" else [Item(step.answer)]
    items = [
        Item(
            f"{c.reading}: {c.arithmetic}" if c.state == "judged" else c.reason or c.state,
            Reference(c.key, check_anchor(c.key)),
        )
        for c in checks[:MAX_ANSWERS]
    ]
    left_out = len(checks) - MAX_ANSWERS
    return items + ([Item(f"and {left_out} more below")] if left_out > 0 else [])
