"""Which arms differ in what: a factor is one thing that a reader would call one change."""

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from benchspec.lint.arm import Arm
from benchspec.lint.capacity import slot_context
from benchspec.lint.subject import Subject
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


def pairs(subject: Subject) -> Iterator[Pair]:
    """The comparisons that the spec declares: by `over` in a test, by `control_for` in an arm."""
    for tested in subject.tests:
        over = tested.test.over
        arm = subject.arm(tested.test.at.arm or "")
        base = subject.arm(over.arm or "") if over else None
        if arm and base and arm is not base:
            yield Pair(arm, base, (*tested.path, "test", "over"), tested.id)
    for control in subject.arms:
        arm = subject.arm(control.control_for or "")
        if arm and arm is not control:
            yield Pair(arm, control, control.part("control_for"), None)


def factors(one: Arm, other: Arm) -> dict[str, Path]:
    """What differs between two arms, each factor with the place where `one` states it."""
    found: dict[str, Path] = {}
    for name, path in _engine_differences(one, other):
        found.setdefault(name, path)
    if found.keys() >= {"slots", "context"} and slot_context(one) == slot_context(other):
        del found["context"]  # the context grows with the slots so that each keeps its share
    for name, mine, theirs, path in _other_parts(one, other):
        if mine != theirs:
            found[name] = path
    return found


def connected(arms: Iterable[Arm]) -> list[set[str]]:
    """The arms in groups: within a group each can be reached by changing one factor at a time."""
    groups = [{arm.id} for arm in arms]
    for one, other in combinations(arms, 2):
        if len(factors(one, other)) <= 1:
            joined = [group for group in groups if group & {one.id, other.id}]
            groups = [group for group in groups if group not in joined] + [set().union(*joined)]
    return groups


def unbridged(subject: Subject) -> Iterator[Pair]:
    """The declared comparisons that no chain of single changes joins."""
    groups = connected(subject.arms) if len(subject.arms) > 1 else []
    for pair in pairs(subject):
        if not any({pair.arm.id, pair.base.id} <= group for group in groups):
            yield pair


def _engine_differences(one: Arm, other: Arm) -> Iterator[tuple[str, Path]]:
    mine, theirs = one.engine, other.engine
    if any(getattr(mine, name, None) != getattr(theirs, name, None) for name in _ENGINE_FIELDS):
        yield "engine", one.part("engine")
    if one.kind != other.kind:
        return  # flags of different engines are not comparable one by one
    for name in dict.fromkeys((*one.settings, *other.settings)):
        if one.value(name) != other.value(name) and _matters(one, name):
            yield _factor(one, name), one.place(name)
    env = {**(mine.env if mine else {}), **(theirs.env if theirs else {})}
    for name in env:
        if not _is_setting(one, name) and _variable(one, name) != _variable(other, name):
            yield _factor(one, name), one.part("engine", "env", name)


def _other_parts(one: Arm, other: Arm) -> Iterator[tuple[str, object, object, Path]]:
    mine, theirs = one.workload, other.workload
    for name in ("prompt", "output", "sampling", "command"):
        path = one.part("workload", name)
        yield f"workload.{name}", getattr(mine, name), getattr(theirs, name), path
    yield "model", _model(one), _model(other), one.part("model")
    yield "devices", one.devices, other.devices, one.part("devices")


def _model(arm: Arm) -> tuple[object, ...]:
    return tuple(getattr(arm.model, name) for name in _MODEL_FIELDS)


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


def _is_setting(arm: Arm, variable: str) -> bool:
    return any(use.spelled == variable for use in arm.settings.values())


def _variable(arm: Arm, name: str) -> str | None:
    return arm.engine.env.get(name) if arm.engine else None
