"""From a spec to what will be done: cells in order, engine starts, time. Pure."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from benchspec.errors import UsageError
from benchspec.load.materials import MATERIALS
from benchspec.run.launches import PlannedLaunch, plan_launch
from benchspec.spec.arms import ResolvedArm
from benchspec.spec.models import Load, Sampling, Spec
from benchspec.store.records import CellKey

Mode = Literal["burst", "sustained", "open"]

IDLE_S = 1.0
"""Idle window next to every cell where the spec names none."""

PROMPT_TOKENS = 64
"""Prompt length where the spec names none and no file."""

OUTPUT_TOKENS = 128
"""Output length where the spec names none."""

OPEN_LOOP_S = 30.0
"""Length of an open-loop step that names neither requests nor duration."""

ASSUMED_TOK_S = 40.0
"""For the estimate alone: all streams together, a small model on one processor core."""

ASSUMED_START_S = 4.0
"""For the estimate alone: one engine start with its warm-up, and the rendering at the end."""


MAX_CELLS = 10_000

MAX_REQUESTS = 100_000
"""Per cell: every one is prepared before the cell and kept until its end."""


@dataclass(frozen=True)
class Work:
    """What every request of an arm asks for."""

    material: str
    prompt_tokens: int
    prompt_file: str | None
    unique: bool
    shared_prefix: int
    max_tokens: int
    forced: bool
    sampling: Sampling
    turns: int


@dataclass(frozen=True)
class PlannedCell:
    """One cell. `requests` is how many will be sent; None when `duration_s` decides.

    Cells with the same `prompts` send the same ones: those of different arms at one place, so that
    arms are compared on the same text, but not of arms that one engine serves, whose prefix cache
    would know them.
    """

    key: CellKey
    prompts: str
    mode: Mode
    requests: int | None
    duration_s: float | None
    work: Work

    @property
    def expected_requests(self) -> int:
        """`requests`, or what the duration is expected to hold (at least the number in flight)."""
        if self.requests is not None:
            return self.requests
        if self.key.rate is not None:
            return math.ceil(self.key.rate * (self.duration_s or 0.0)) * self.work.turns
        served = (self.duration_s or 0.0) * ASSUMED_TOK_S / self.work.max_tokens
        return max(self.key.concurrency or 1, math.ceil(served))


@dataclass(frozen=True)
class Block:
    """Cells that one engine start serves, in order."""

    launch: PlannedLaunch
    cells: tuple[PlannedCell, ...]


@dataclass(frozen=True)
class Plan:
    """Everything a run will do. `seed` decides the order, and nothing else."""

    spec_sha256: str
    seed: int
    order: Literal["interleaved", "fixed"]
    launches: Mapping[str, PlannedLaunch]
    blocks: tuple[Block, ...]
    warmup_requests: int
    idle_s: float
    timeout_s: float | None

    @property
    def cells(self) -> list[PlannedCell]:
        return [cell for block in self.blocks for cell in block.cells]

    @property
    def estimate_s(self) -> float:
        """Wall time at ASSUMED_TOK_S; the progress of a run shows the real pace."""
        starts_s = ASSUMED_START_S * (len(self.blocks) + 1)
        return starts_s + sum(_cell_s(cell) + self.idle_s for cell in self.cells)


def make_plan(
    spec: Spec, arms: Sequence[ResolvedArm], *, spec_sha256: str, seed: int | None = None
) -> Plan:
    """The plan of a spec that the linter passed; the same spec always gives the same plan.

    Interleaved: within a repeat every arm has its turn, and every other repeat goes backwards
    (A B, B A, ...), so that arms alternate over time while neighbours share an engine start. The
    order of the arms and of the steps is drawn by `seed`, from the spec's digest unless given.

    Raises UsageError when an arm's flags cannot be spelled, or for more cells or requests than the limits.
    """
    _check_size(spec, arms)
    chosen = int(spec_sha256[:8], 16) if seed is None else seed
    launches = {arm.id: plan_launch(arm) for arm in arms}
    cells = list(_ordered(spec, arms, launches, random.Random(chosen)))
    idle = spec.telemetry.idle_baseline
    return Plan(
        spec_sha256=spec_sha256,
        seed=chosen,
        order=spec.order,
        launches=launches,
        blocks=tuple(_blocks(cells, launches)),
        warmup_requests=spec.warmup.requests,
        idle_s=IDLE_S if idle is None else float(idle.low),
        timeout_s=None if spec.load.timeout is None else float(spec.load.timeout.low),
    )


def _check_size(spec: Spec, arms: Sequence[ResolvedArm]) -> None:
    steps = max(1, len(spec.load.concurrency) + len(spec.load.rate))
    steps *= max(1, len(spec.load.context)) * max(1, len(spec.load.cache))
    cells = len(arms) * steps * spec.repeats
    if cells > MAX_CELLS:
        raise UsageError(
            f"This spec asks for {cells} cells; at most {MAX_CELLS} are run at once.",
            hint="Use fewer repeats or steps, or split the study.",
        )
    per_step = [spec.load.requests or 0, *spec.load.concurrency]
    if spec.load.requests is None:
        seconds = OPEN_LOOP_S if spec.load.duration is None else float(spec.load.duration.low)
        per_step += [math.ceil(rate * seconds) for rate in spec.load.rate]
    requests = max(per_step)
    if requests > MAX_REQUESTS:
        raise UsageError(
            f"This spec asks for {requests} requests in a cell; at most {MAX_REQUESTS} are sent.",
            hint="Use fewer requests, and more repeats.",
        )


def _ordered(
    spec: Spec,
    arms: Sequence[ResolvedArm],
    launches: Mapping[str, PlannedLaunch],
    draw: random.Random,
) -> Iterator[PlannedCell]:
    turns = list(arms)
    sharing = _sharing(arms, launches)
    if spec.order == "interleaved":
        draw.shuffle(turns)
    for repeat in range(1, spec.repeats + 1):
        for arm in turns:
            cells = list(_cells_of(spec, arm, repeat, sharing[arm.id]))
            if spec.order == "interleaved":
                draw.shuffle(cells)
            yield from cells
        if spec.order == "interleaved":
            turns.reverse()


def _sharing(arms: Sequence[ResolvedArm], launches: Mapping[str, PlannedLaunch]) -> dict[str, int]:
    """How many arms before each one use the same engine start."""
    ids = [arm.id for arm in arms]
    return {
        arm: sum(launches[other] == launches[arm] for other in ids[:place])
        for place, arm in enumerate(ids)
    }


def _cells_of(spec: Spec, arm: ResolvedArm, repeat: int, sharing: int) -> Iterator[PlannedCell]:
    load = spec.load
    seed = spec.seeds[(repeat - 1) % len(spec.seeds)] if spec.seeds else None
    loads: list[tuple[int | None, float | None]] = [(c, None) for c in load.concurrency]
    loads += [(None, rate) for rate in load.rate]
    contexts: list[int | None] = [*load.context] or [None]
    caches: list[Literal["cold", "warm"] | None] = [*load.cache] or [None]
    for (concurrency, rate), context, cache in itertools.product(
        loads or [(1, None)], contexts, caches
    ):
        key = CellKey(
            id="",
            arm=arm.id,
            concurrency=concurrency,
            rate=rate,
            context_tokens=context,
            cache=cache,
            repeat=repeat,
            seed=seed,
        )
        work = _work(arm, context)
        mode, requests, duration_s = _amount(load, concurrency, rate, work.turns)
        _check_turns(arm.id, mode, requests, cache, work.turns)
        place = _place(key)
        key = key.model_copy(update={"id": f"{quote(arm.id, safe='')}-{place}"})
        prompts = f"{place} {sharing}"
        yield PlannedCell(key, prompts, mode, requests, duration_s, work)


def _place(key: CellKey) -> str:
    """Where a cell stands within its arm: readable, unique there, fit for a file name."""
    parts = [f"c{key.concurrency}" if key.rate is None else f"q{key.rate:g}"]
    parts += [f"n{key.context_tokens}"] if key.context_tokens is not None else []
    parts += [key.cache] if key.cache is not None else []
    return "-".join([*parts, f"r{key.repeat}"])


def _amount(
    load: Load, concurrency: int | None, rate: float | None, turns: int
) -> tuple[Mode, int | None, float | None]:
    """Mode, number of requests and duration of one step.

    A burst is one wave of C. `requests` or `duration` make it sustained, and so do conversations;
    without either, sustained means max(5 C, 20) requests, so that ramp and drain stay a small part
    of it, in at least C conversations.
    """
    duration_s = None if load.duration is None else float(load.duration.low)
    if rate is not None:
        seconds = None if load.requests is not None else duration_s or OPEN_LOOP_S
        return "open", load.requests, seconds
    in_flight = concurrency or 1
    sustained = load.requests is not None or duration_s is not None or turns > 1
    if load.mode == "burst" or (load.mode is None and not sustained):
        return "burst", load.requests or in_flight, None
    if load.requests is not None or duration_s is not None:
        return "sustained", load.requests, duration_s
    conversations = max(in_flight, math.ceil(max(5 * in_flight, 20) / turns))
    return "sustained", conversations * turns, None


def _check_turns(arm: str, mode: Mode, requests: int | None, cache: str | None, turns: int) -> None:
    """Raises UsageError for conversations that the load does not leave room for."""
    if turns == 1:
        return
    why = None
    if mode == "burst":
        why = "a burst is one wave of requests; use `mode: sustained`"
    elif cache == "warm":
        why = "`load.cache: warm` sends every prompt before; a conversation warms its own prefix"
    elif requests is not None and requests % turns:
        why = f"`load.requests: {requests}` is no whole number of them"
    if why is not None:
        raise UsageError(f"Arm {arm} has conversations of {turns} turns, but {why}.")


def _work(arm: ResolvedArm, context: int | None) -> Work:
    prompt, output = arm.workload.prompt, arm.workload.output
    return Work(
        material=_material(arm),
        prompt_tokens=context or prompt.tokens or PROMPT_TOKENS,
        prompt_file=prompt.file,
        unique=prompt.unique,
        shared_prefix=prompt.shared_prefix or 0,
        max_tokens=output.tokens or OUTPUT_TOKENS,
        forced=output.forced,
        sampling=arm.workload.sampling,
        turns=arm.workload.turns,
    )


def _material(arm: ResolvedArm) -> str:
    """Prompts are what the label says: with no file to read, they can only be what is made here."""
    label = arm.workload.label
    named = label.material if label is not None else None
    if named is None or arm.workload.prompt.file is not None:
        return named or next(iter(MATERIALS))
    if named not in MATERIALS:
        raise UsageError(
            f"Arm {arm.id} is labelled {named!r}, and prompts of that material are not made here.",
            hint=f"Use one of {', '.join(MATERIALS)}, or give the prompts in workload.prompt.file.",
        )
    return named


def _blocks(cells: Sequence[PlannedCell], launches: Mapping[str, PlannedLaunch]) -> Iterator[Block]:
    """Neighbours whose launches are equal share one start."""
    for launch, group in itertools.groupby(cells, key=lambda cell: launches[cell.key.arm]):
        yield Block(launch, tuple(group))


def _cell_s(cell: PlannedCell) -> float:
    if cell.duration_s is not None:
        return cell.duration_s
    tokens = cell.expected_requests * cell.work.max_tokens
    served_s = tokens / ASSUMED_TOK_S
    if cell.key.rate is not None:
        return max(served_s, cell.expected_requests / cell.key.rate)
    return served_s
