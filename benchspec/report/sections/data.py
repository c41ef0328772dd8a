"""The raw data as a table, and how a stranger checks it."""

from __future__ import annotations

import shlex

from benchspec.observations.model import Step
from benchspec.report import measures
from benchspec.report.material import Material
from benchspec.report.numbers import ABSENT, column, figure
from benchspec.report.parts import Cell, Data, Pair, Table
from benchspec.report.sections.counters import over_repeats, single_repeats, sources

MAX_STEPS = 300
MAX_EVIDENCE = 200


def data(material: Material) -> Data:
    """Steps, the evidence list with its digests, and the commands that recompute everything."""
    facts = material.facts
    digests = [Pair("spec.yaml", facts.spec_sha256, code=True)]
    if facts.evidence_sha256:
        digests.append(Pair("EVIDENCE.sha256", facts.evidence_sha256, code=True))
    return Data(
        steps=_steps(material),
        counters=over_repeats(material),
        counter_repeats=single_repeats(material),
        counter_sources=sources(material),
        evidence=_evidence(material),
        commands=_commands(material),
        digests=tuple(digests),
        spec_text=facts.spec_text,
    )


def _commands(material: Material) -> tuple[str, ...]:
    if material.audited:
        return ("benchspec audit spec.yaml",)
    bundle = material.facts.bundle or "BUNDLE"
    return (f"benchspec verify {shlex.quote(bundle)}", "benchspec run spec.yaml")


def _steps(material: Material) -> Table | None:
    """Every cell in the order measured; columns in which nothing is known are left out."""
    steps = material.observations.steps
    if not steps:
        return None
    shown, left_out = steps[:MAX_STEPS], len(steps) - MAX_STEPS
    columns: dict[str, list[Cell]] = {
        "Arm": [Cell(s.arm) for s in shown],
        "C": [Cell(figure(s.concurrency)) for s in shown],
        "Asked 1/s": [Cell(figure(s.rate)) for s in shown],
        "Sent 1/s": _numbers(shown, _sent_per_s),
        "Context": [Cell(figure(s.context_tokens)) for s in shown],
        "Cache": [Cell(s.cache or ABSENT) for s in shown],
        "Repeat": [Cell(str(s.repeat)) for s in shown],
        "State": [_state(s) for s in shown],
        "Wall s": _numbers(shown, measures.wall_s),
        "Answered": [Cell(_answered(s)) for s in shown],
        "Tokens": _numbers(shown, measures.tokens),
        "Aggregate tok/s": _numbers(shown, measures.aggregate_tok_s),
        "Stream tok/s": _numbers(shown, measures.stream_tok_s),
        "TTFT ms": _numbers(shown, measures.ttft_ms),
    }
    known = {name: cells for name, cells in columns.items() if any(c.text != ABSENT for c in cells)}
    return Table(
        "Every figure that was given" if material.audited else "Every cell, in the order measured",
        tuple(known),
        tuple(zip(*known.values(), strict=True)),
        frozenset(i for i, name in enumerate(known) if name not in {"Arm", "Cache", "State"}),
        note=f"{left_out} more cells in observations.json." if left_out > 0 else None,
    )


def _numbers(steps: list[Step], value: measures.Measure) -> list[Cell]:
    return [Cell(text) for text in column([value(s) for s in steps])]


def _sent_per_s(step: Step) -> float | None:
    """Of an open loop only: the others send as fast as they are answered."""
    return measures.sent_per_s(step) if step.rate is not None else None


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
