"""In this order: the questions to ask of a slow or flat figure, each with its answer or none."""

from __future__ import annotations

from benchspec.judge.order import in_order
from benchspec.report.material import Material
from benchspec.report.parts import OrderView


def order(material: Material) -> tuple[OrderView, ...]:
    """For someone else's figures, and where several devices share a model; else nothing."""
    if not material.audited and len(material.spec.hardware.devices) < 2:
        return ()
    steps = in_order(material.case, material.verdicts.checks)
    return tuple(OrderView(s.question, s.state.replace("-", " "), s.answer) for s in steps)
