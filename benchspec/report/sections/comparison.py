"""What was compared, and what was held equal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from benchspec.report.material import Material
from benchspec.report.numbers import ABSENT, count, setting
from benchspec.report.parts import Cell, Comparison, Pair, Shared, Table
from benchspec.spec.models import Arm, Spec
from benchspec.spec.quantity import Quantity

_MERGED = ("engine", "model", "workload")


def comparison(material: Material) -> Comparison:
    """Arms side by side in what differs, and the list of what they share."""
    spec = material.spec
    arms = spec.arms
    stated = {arm.id: dict(_flatten(_merged(spec, arm))) for arm in arms}
    base = dict(_flatten(_merged(spec, None)))
    keys = dict.fromkeys(key for values in (base, *stated.values()) for key in values)
    differing = [k for k in keys if len({v.get(k, ABSENT) for v in stated.values()}) > 1]
    shared = next(iter(stated.values()), base)
    equal = [Pair(k, shared[k]) for k in keys if k not in differing and k in shared]
    return Comparison(
        arms=tuple(Pair(arm.id, words) for arm in arms if (words := _describe(arm))),
        differs=_differences(differing, stated) if differing else None,
        equal=tuple(_rooms([*equal, *_load(spec)])),
    )


def _rooms(pairs: list[Pair]) -> Iterator[Shared]:
    for room, facts in groupby(pairs, lambda p: p.label.partition(".")[0]):
        yield Shared(room, tuple(Pair(_short(p.label), p.value) for p in facts))


def _short(path: str) -> str:
    return path.partition(".")[2].removeprefix("flags.")


def _describe(arm: Arm) -> str:
    control = f"control for {arm.control_for}" if arm.control_for else None
    return "; ".join(w for w in (arm.title, control) if w)


def _differences(keys: list[str], stated: Mapping[str, Mapping[str, str]]) -> Table:
    rows = [
        (Cell(key, code=True), *(Cell(values.get(key, ABSENT)) for values in stated.values()))
        for key in keys
    ]
    return Table("What differs between the arms", ("Setting", *stated), tuple(rows))


def _merged(spec: Spec, arm: Arm | None) -> dict[str, Any]:
    """Base settings with the arm's over them, as written (aliases of a flag are not resolved)."""
    whole: dict[str, Any] = {}
    for room in _MERGED:
        node = getattr(spec, room)
        base = node.model_dump(exclude_unset=True) if node else {}
        over = getattr(arm, room) if arm else None
        whole[room] = _merge(base, over or {})
    return whole


def _merge(base: Any, over: Any) -> Any:
    if not (isinstance(base, Mapping) and isinstance(over, Mapping)):
        return over
    merged = {**base, **{key: _merge(base.get(key), value) for key, value in over.items()}}
    return {key: value for key, value in merged.items() if value is not None}


def _flatten(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    # A quantity dumps as a map that still has the author's text: that text is what is shown.
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flatten(inner, f"{path}.{key}" if path else str(key))
    elif value is not None:
        yield path, _scalar(value)


def _scalar(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(_scalar(v) for v in value)
    return str(value) if isinstance(value, Quantity) else setting(value)


def _load(spec: Spec) -> Iterator[Pair]:
    load = spec.load
    if load.mode:
        yield Pair("load.mode", load.mode)
    if load.concurrency:
        yield Pair("load.concurrency", ", ".join(map(str, load.concurrency)))
    if load.rate:
        yield Pair("load.rate", ", ".join(f"{r:g}" for r in load.rate) + " requests/s")
    yield Pair("load.repeats", str(spec.repeats))
    yield Pair("load.order", spec.order)
    yield Pair("load.warm-up", count(spec.warmup.requests, "request"))
