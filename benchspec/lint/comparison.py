"""Which arms differ in what: a factor is one thing that a reader would call one change."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from benchspec.lint.arm import Arm
from benchspec.lint.capacity import slot_context
from benchspec.spec.problems import Path

_FACTOR_OF = {
    "split-mode": "split",
    "tensor-split": "split",
    "main-gpu": "split",
    "device": "split",
    "tensor-parallel-size": "split",
    "pipeline-parallel-size": "split",
    "batch-size": "batch",
    "ubatch-size": "batch",
    "threads": "threads",
    "threads-batch": "threads",
    "cache-type-k": "kv-type",
    "cache-type-v": "kv-type",
}
_SPLIT_ENV = ("GGML_CUDA_ALLREDUCE", "NCCL_", "GGML_CUDA_P2P", "CUDA_VISIBLE_DEVICES")
_ENGINE_FIELDS = ("kind", "version", "binary", "attach", "endpoint")
_MODEL_FIELDS = ("source", "sha256", "name")
_NOT_A_FACTOR = frozenset({"logging", "server", "none"})


class Pair(NamedTuple):
    """Two arms that the spec compares: the one looked at, and what it is compared with."""

    arm: Arm
    base: Arm
    path: Path
    hypothesis: str | None


class Signature(NamedTuple):
    """All that can distinguish an arm: its engine's settings by name, and its other parts."""

    kind: str
    settings: Mapping[str, object]
    parts: Mapping[str, object]
    slot_context: int | None


def signature(arm: Arm) -> Signature:
    """What is compared of `arm`; logs and ports are left out."""
    engine, work, model = arm.engine, arm.workload, arm.model
    settings = {name: use.value for name, use in arm.settings.items() if _matters(arm, name)}
    spelled = {use.spelled for use in arm.settings.values()}
    env = engine.env if engine else {}
    variables = {name: value for name, value in env.items() if name not in spelled}
    parts = {
        "engine": tuple(getattr(engine, name, None) for name in _ENGINE_FIELDS),
        "workload.prompt": work.prompt,
        "workload.output": work.output,
        "workload.sampling": work.sampling,
        "workload.command": work.command,
        "model": tuple(getattr(model, name) for name in _MODEL_FIELDS),
        "devices": arm.devices,
    }
    return Signature(arm.kind, {**settings, **variables}, parts, slot_context(arm))


def factors(one: Arm, other: Arm) -> dict[str, Path]:
    """What differs between two arms, each factor with the place where `one` states it."""
    mine, theirs = signature(one), signature(other)
    found: dict[str, Path] = {}
    for factor, name in _differences(one, mine, theirs):
        found.setdefault(factor, _place(one, name, mine))
    return found


def connected(arms: Sequence[Arm]) -> list[set[str]]:
    """The arms in groups: within a group each can be reached by changing one factor at a time."""
    signed = [(arm, signature(arm)) for arm in arms]
    groups = {arm.id: {arm.id} for arm in arms}
    for (one, mine), (other, theirs) in combinations(signed, 2):
        if groups[one.id] is groups[other.id]:
            continue
        if len({factor for factor, _ in _differences(one, mine, theirs)}) <= 1:
            joined = groups[one.id] | groups[other.id]
            groups.update(dict.fromkeys(joined, joined))
    return list({id(group): group for group in groups.values()}.values())


def _differences(one: Arm, mine: Signature, theirs: Signature) -> Iterator[tuple[str, str]]:
    """(factor, name) of all that differs."""
    names = [name for name, value in mine.parts.items() if value != theirs.parts[name]]
    yield from ((name, name) for name in names)
    if mine.kind != theirs.kind:
        return  # flags of different engines are not comparable one by one
    either = dict.fromkeys((*mine.settings, *theirs.settings))
    changed = [n for n in either if mine.settings.get(n) != theirs.settings.get(n)]
    found = [(_factor(one, name), name) for name in changed]
    same_share = mine.slot_context is not None and mine.slot_context == theirs.slot_context
    if same_share and any(factor == "slots" for factor, _ in found):
        # the context grows with the slots, so that each keeps its share
        found = [pair for pair in found if pair[0] != "context"]
    yield from found


def _place(arm: Arm, name: str, mine: Signature) -> Path:
    if name in mine.parts:
        return arm.part(*name.split("."))
    return arm.stated_at(name) or arm.place(name)


def _factor(arm: Arm, name: str) -> str:
    setting = arm.knowledge.settings.get(name) if arm.knowledge else None
    if name.startswith(_SPLIT_ENV):
        return "split"
    if name == arm.slot_setting:
        return "slots"
    if setting and "speculation" in setting.affects:
        return "speculation"
    if setting and setting.affects[:1] == ("context",):
        return "context"
    return _FACTOR_OF.get(name, name)


def _matters(arm: Arm, name: str) -> bool:
    setting = arm.knowledge.settings.get(name) if arm.knowledge else None
    return setting is None or not set(setting.affects) <= _NOT_A_FACTOR
