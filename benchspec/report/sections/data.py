"""The raw data as a table, and how a stranger checks it."""

from __future__ import annotations

import shlex

from benchspec.observations.model import Step
from benchspec.report import measures
from benchspec.report.material import Material
from benchspec.report.numbers import ABSENT, column, figure
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


def _steps(steps: list[Step]) -> Table | None:
    if not steps:
        return None
    shown, left_out = steps[:MAX_STEPS], len(steps) - MAX_STEPS
    columns: dict[str, list[Cell]] = {
        "Arm": [Cell(s.arm) for s in shown],
        "C": [Cell(figure(s.rate if s.concurrency is None else s.concurrency)) for s in shown],
        "Repeat": [Cell(str(s.repeat)) for s in shown],
        "State": [_state(s) for s in shown],
        "Wall s": _numbers(shown, measures.wall_s),
        "Answered": [Cell(_answered(s)) for s in shown],
        "Tokens": _numbers(shown, measures.tokens),
        "Aggregate tok/s": _numbers(shown, measures.aggregate_tok_s),
        "Stream tok/s": _numbers(shown, measures.stream_tok_s),
        "TTFT ms": _numbers(shown, measures.ttft_ms),
    }
    return Table(
        "Every cell",
        tuple(columns),
        tuple(zip(*columns.values(), strict=True)),
        frozenset({1, 2, 4, 5, 6, 7, 8, 9}),
        note=f"{left_out} more cells in observations.json." if left_out > 0 else None,
    )


def _numbers(steps: list[Step], value: measures.Measure) -> list[Cell]:
    return [Cell(text) for text in column([value(s) for s in steps])]


def _state(step: Step) -> Cell:
    told = None if step.provenance == "measured" else step.provenance
    return Cell(step.state, told, step.reason)


def _answered(step: Step) -> str:
    sent = len(step.requests)
    return f"{sent - measures.failed(step)} of {sent}" if sent else ABSENT


def _evidence(material: Material) -> Table | None:
    files = material.facts.evidence
    rows = tuple((Cell(f.path), Cell(f.sha256, code=True)) for f in files[:MAX_EVIDENCE])
    left_out = len(files) - MAX_EVIDENCE
    note = f"{left_out} more in EVIDENCE.sha256." if left_out > 0 else None
    head = ("File", "SHA-256")
    return (
        Table("Evidence: everything that is not rendered", head, rows, note=note) if rows else None
    )
