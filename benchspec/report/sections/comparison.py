"""What was compared, and what was held equal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from benchspec.report.material import Material
from benchspec.report.numbers import ABSENT, count, setting
from benchspec.report.parts import Cell, Comparison, Pair, Shared, Table
from benchspec.report.sections.trade import trade
from benchspec.spec.arms import ResolvedArm
from benchspec.spec.models import Spec
from benchspec.spec.node import Node
from benchspec.spec.quantity import Quantity

ROOMS = ("engine", "model", "workload", "devices")


def comparison(material: Material) -> Comparison:
    """Arms side by side in what differs and in what they give and take, and the list of what they
    share.

    Arms are compared as they were resolved: an arm's `np` is the base's `parallel`.
    """
    arms = material.case.arms.values()
    stated = {arm.id: dict(_flatten(_stated(arm))) for arm in arms}
    keys = dict.fromkeys(key for values in stated.values() for key in values)
    differing = [k for k in keys if len({v.get(k, ABSENT) for v in stated.values()}) > 1]
    shared = next(iter(stated.values()), {})
    # Devices that do not differ are listed with the hardware.
    same = [k for k in keys if k not in differing and not k.startswith("devices")]
    equal = [Pair(k, shared[k]) for k in same if k in shared]
    return Comparison(
        arms=tuple(Pair(arm.id, words) for arm in arms if (words := _describe(arm))),
        differs=_differences(differing, stated) if differing else None,
        trade=trade(material),
        equal=tuple(_rooms([*equal, *_load(material.spec)])),
    )


def _stated(arm: ResolvedArm) -> dict[str, Any]:
    return {room: getattr(arm, room) for room in ROOMS}


def _rooms(pairs: list[Pair]) -> Iterator[Shared]:
    for room, facts in groupby(pairs, lambda p: p.label.partition(".")[0]):
        yield Shared(room, tuple(Pair(_short(p.label), p.value) for p in facts))


def _short(path: str) -> str:
    return path.partition(".")[2].removeprefix("flags.")


def _describe(arm: ResolvedArm) -> str:
    control = f"control for {', '.join(arm.control_for)}" if arm.control_for else None
    return "; ".join(w for w in (arm.title, control) if w)


def _differences(keys: list[str], stated: Mapping[str, Mapping[str, str]]) -> Table:
    rows = [
        (Cell(key, code=True), *(Cell(values.get(key, ABSENT)) for values in stated.values()))
        for key in keys
    ]
    return Table("What differs between the arms", ("Setting", *stated), tuple(rows))


def _flatten(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every stated setting with its path; defaults that nobody wrote are left out."""
    if isinstance(value, Node):
        value = value.stated()
    if isinstance(value, list) and any(isinstance(v, Node) for v in value):
        value = {getattr(node, "id", str(place)): node for place, node in enumerate(value)}
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flatten(inner, f"{path}.{key}" if path else str(key))
    elif value is not None:
        yield path, _scalar(value)


def _scalar(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(_scalar(v) for v in value)
    return str(value) if isinstance(value, Quantity) else setting(value)


_SAID = ("mode", "concurrency", "rate")


def _load(spec: Spec) -> Iterator[Pair]:
    load = spec.load
    if load.mode:
        yield Pair("load.mode", load.mode)
    if load.concurrency:
        yield Pair("load.concurrency", ", ".join(map(str, load.concurrency)))
    if load.rate:
        yield Pair("load.rate", ", ".join(f"{r:g}" for r in load.rate) + " requests/s")
    stated = {key: value for key, value in load.stated().items() if key not in _SAID}
    yield from (Pair(path, words) for path, words in _flatten(stated, "load"))
    yield Pair("load.repeats", str(spec.repeats))
    yield Pair("load.order", spec.order)
    yield Pair("load.warm-up", count(spec.warmup.requests, "request"))
