"""A plan for people and for programs. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from benchspec.run.plan import ASSUMED_TOK_S, Block, Plan, PlannedCell
from benchspec.run.trust import Act
from benchspec.store.records import CellKey


def plan_text(title: str, plan: Plan, acts: Sequence[Act]) -> str:
    """Cells in order, engine starts, time, and what will be executed, read, fetched, contacted."""
    cells = plan.cells
    lines = [
        title,
        f"{_count(len(cells), 'cell')}, {_count(len(plan.blocks), 'engine start')}, "
        f"{_count(sum(cell.expected_requests for cell in cells), 'request')}; "
        f"about {duration_text(plan.estimate_s)} at an assumed {ASSUMED_TOK_S:g} tokens/s in all.",
        f"Order: {plan.order}, seed {plan.seed} (from the spec's SHA-256 "
        f"{plan.spec_sha256[:12]}...).",
        "",
    ]
    for number, block in enumerate(plan.blocks, 1):
        lines += _block_lines(number, block, plan)
    lines += ["", "What this does on your machine:", *(f"  {_act_text(act)}" for act in acts)]
    return "\n".join(lines)


def _block_lines(number: int, block: Block, plan: Plan) -> Iterator[str]:
    arms = ", ".join(dict.fromkeys(cell.key.arm for cell in block.cells))
    verb = "attach" if block.launch.attach else "start"
    yield f"{number}. {verb} {arms}, {_count(plan.warmup_requests, 'warm-up request')}"
    groups = itertools.groupby(block.cells, key=lambda cell: (cell.key.arm, cell.key.repeat))
    for (arm, repeat), cells in groups:
        steps = "  ".join(_step_text(cell) for cell in cells)
        yield f"   {arm}, repeat {repeat}: {steps}"


def step_words(key: CellKey) -> list[str]:
    """`C=8`, or `rate=2/s`; `n=1024` and `warm` where the sweep has contexts and caches."""
    words = [f"C={key.concurrency}" if key.rate is None else f"rate={key.rate:g}/s"]
    words += [f"n={key.context_tokens}"] if key.context_tokens is not None else []
    words += [key.cache] if key.cache is not None else []
    return words


def _step_text(cell: PlannedCell) -> str:
    key = cell.key
    words = step_words(key)
    if cell.requests is None:
        words.append(f"{cell.duration_s:g}s")
    elif cell.requests != key.concurrency:
        words.append(f"{cell.requests}x")
    return ",".join(words)


def _act_text(act: Act) -> str:
    return act.text if act.why is None else f"{act.text}   [needs --trust: {act.why}]"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def duration_text(seconds: float) -> str:
    """`50 s`, `2 min 10 s`, `1 h 05 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def plan_data(plan: Plan) -> dict[str, Any]:
    """The same as JSON data; part of `resolved.json`."""
    return {
        "spec_sha256": plan.spec_sha256,
        "seed": plan.seed,
        "order": plan.order,
        "warmup_requests": plan.warmup_requests,
        "idle_s": plan.idle_s,
        "estimate_s": round(plan.estimate_s, 1),
        "launches": {arm: asdict(launch) for arm, launch in plan.launches.items()},
        "starts": [
            {
                "arms": list(dict.fromkeys(cell.key.arm for cell in block.cells)),
                "cells": [_cell_data(cell) for cell in block.cells],
            }
            for block in plan.blocks
        ],
    }


def _cell_data(cell: PlannedCell) -> dict[str, Any]:
    return {
        **cell.key.model_dump(exclude_none=True),
        "mode": cell.mode,
        "requests": cell.requests,
        "duration_s": cell.duration_s,
        "prompt_tokens": cell.work.prompt_tokens,
        "max_tokens": cell.work.max_tokens,
    }


def acts_data(acts: Sequence[Act]) -> list[dict[str, str | None]]:
    """What a run does, as JSON data."""
    return [{"does": act.text, "needs_trust": act.why} for act in acts]
