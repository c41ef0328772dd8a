"""What each arm gives and takes: its rates, and beside them the context and the memory they cost.

A faster file, split or drafter often pays with memory, and so with the longest context that fits.
"""

from __future__ import annotations

from collections.abc import Callable

from benchspec.judge.metrics import METRICS
from benchspec.observations.model import ArmObservation
from benchspec.observations.quantiles import median
from benchspec.report.material import Material
from benchspec.report.numbers import column
from benchspec.report.parts import Cell, Table

MIB = 2**20
_CONTEXT = ("ctx-size-per-slot", "max-model-len", "context-length")
"""Settings under which engines keep the longest context of one request."""

Known = float | None


def trade(material: Material) -> Table | None:
    """One row per arm, a column for all that some arm has; None for one arm, or without a cost."""
    arms = material.case.arm_ids
    seen = [material.case.observed(arm) for arm in arms]
    costs = _told({name: [read(one) for one in seen] for name, read in _COSTS})
    if len(arms) < 2 or not costs:
        return None
    rates = _told({head: [_rate(material, arm, name) for arm in arms] for head, name in _RATES})
    columns = {**rates, **costs}
    rows = zip(arms, *map(column, columns.values()), strict=True)
    return Table(
        "What each arm gives and takes",
        ("Arm", *columns),
        tuple(tuple(map(Cell, row)) for row in rows),
        frozenset(range(1, len(columns) + 1)),
        "Rates of a single stream, medians over all its steps.",
    )


def _told(columns: dict[str, list[Known]]) -> dict[str, list[Known]]:
    return {name: known for name, known in columns.items() if any(v is not None for v in known)}


_RATES = (("Decode, tok/s", "stream_tok_s"), ("Prefill, tok/s", "prefill_tok_s"))


def _rate(material: Material, arm: str, name: str) -> Known:
    steps = [s for s in material.case.of_arm(arm) if s.concurrency in (None, 1)]
    found = [value.mid for s in steps if (value := METRICS[name].whole(s)) is not None]
    return median(found) if found else None


def _context(seen: ArmObservation) -> Known:
    found = {s.name: s.found for s in seen.settings if isinstance(s.found, int)}
    stated = next((found[name] for name in _CONTEXT if name in found), None)
    return float(seen.context_per_slot or stated or 0) or None


def _in_use(seen: ArmObservation) -> Known:
    """MiB in use on all devices together when the engine was ready, and of others as well."""
    used = [v for name, v in seen.identity.items() if name.endswith("memory_used_mib")]
    known = [float(v) for v in used if isinstance(v, int | float)]
    return sum(known) if known else None


def _mib(size: Known) -> Known:
    return None if size is None else size / MIB


_COSTS: tuple[tuple[str, Callable[[ArmObservation], Known]], ...] = (
    ("Longest context, tokens", _context),
    ("Contexts together, tokens", lambda seen: seen.kv_tokens),
    ("Weights, MiB", lambda seen: _mib(seen.weights_bytes)),
    ("KV cache, MiB", lambda seen: _mib(seen.kv_bytes)),
    ("Devices' memory in use, MiB", _in_use),
)
