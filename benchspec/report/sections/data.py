"""The raw data as a table, and how a stranger checks it."""

from __future__ import annotations

import shlex

from benchspec.observations.model import Step
from benchspec.report import measures
from benchspec.report.material import Material
from benchspec.report.numbers import ABSENT, figure, seconds
from benchspec.report.parts import Cell, Data, Pair, Table

MAX_STEPS = 300
MAX_EVIDENCE = 200


def data(material: Material) -> Data:
    """Steps, the evidence list with its digests, and the commands that recompute everything."""
    facts = material.facts
    bundle = facts.bundle or "BUNDLE"
    digests = [
        Pair("spec.yaml", facts.spec_sha256, code=True),
        Pair("EVIDENCE.sha256", facts.evidence_sha256 or "not recorded", code=True),
    ]
    return Data(
        steps=_steps(material.observations.steps),
        evidence=_evidence(material),
        commands=(f"benchspec verify {shlex.quote(bundle)}", "benchspec run spec.yaml"),
        digests=tuple(digests),
        spec_text=facts.spec_text,
    )


_HEAD = ("Arm", "C", "Repeat", "State", "Wall", "Requests", "Tokens", "Aggregate", "Stream", "TTFT")


def _steps(steps: list[Step]) -> Table | None:
    if not steps:
        return None
    left_out = len(steps) - MAX_STEPS
    return Table(
        "Every cell",
        _HEAD,
        tuple(_row(step) for step in steps[:MAX_STEPS]),
        frozenset({1, 2, 4, 5, 6, 7, 8, 9}),
        note=f"{left_out} more cells in observations.json." if left_out > 0 else None,
    )


def _row(step: Step) -> tuple[Cell, ...]:
    load = step.concurrency if step.concurrency is not None else step.rate
    sent, lost = len(step.requests), measures.failed(step)
    answered = f"{sent - lost} of {sent}" if sent else ABSENT
    total = measures.tokens(step)
    return (
        Cell(step.arm),
        Cell(figure(load)),
        Cell(str(step.repeat)),
        Cell(step.state, None if step.provenance == "measured" else step.provenance, step.reason),
        Cell(seconds(measures.wall_s(step))),
        Cell(answered),
        Cell(figure(total)),
        Cell(figure(measures.aggregate_tok_s(step), "tok/s")),
        Cell(figure(measures.stream_tok_s(step), "tok/s")),
        Cell(figure(measures.ttft_ms(step), "ms")),
    )


def _evidence(material: Material) -> Table | None:
    files = material.facts.evidence
    rows = tuple((Cell(f.path), Cell(f.sha256, code=True)) for f in files[:MAX_EVIDENCE])
    left_out = len(files) - MAX_EVIDENCE
    note = f"{left_out} more in EVIDENCE.sha256." if left_out > 0 else None
    head = ("File", "SHA-256")
    return Table("Evidence: everything that is not rendered", head, rows, note=note) if rows else None
