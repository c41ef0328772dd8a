"""Which keys stand where: unknown keys are named with the nearest known one, and set aside.

The same walk makes an empty key an empty map (or list) wherever the language wants one.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from benchspec.spec.models import Arm, Device, EngineSpec, Model, Spec, Workload
from benchspec.spec.node import Node
from benchspec.spec.other_names import counter_for, keys_for, without_statistic
from benchspec.spec.problems import FormProblem, Path, dotted, shown

MAX_SUGGESTIONS = 100  # a comparison costs up to a millisecond; nobody reads more

_OVERRIDES: dict[str, type[Node]] = {"engine": EngineSpec, "model": Model, "workload": Workload}


class Slot(NamedTuple):
    """What a key holds: one value, a map, a list, or a table (a map whose keys are names); `model`
    of the map, of the items, or of the table's values."""

    shape: Literal["value", "map", "list", "table"]
    model: type[Node] | None
    nullable: bool


_SLOTS: dict[type[Node], dict[str, Slot]] = {}


def slots(model: type[Node]) -> dict[str, Slot]:
    """The keys of `model`; an arm's sections have the keys of the sections they override."""
    if model not in _SLOTS:
        _SLOTS[model] = _slots(model)
    return _SLOTS[model]


def _slots(model: type[Node]) -> dict[str, Slot]:
    found = {name: _slot(field.annotation) for name, field in model.model_fields.items()}
    if model is Arm:
        found |= {name: Slot("map", section, True) for name, section in _OVERRIDES.items()}
        found["devices"] = Slot("list", Device, True)
    return found


def _slot(annotation: Any) -> Slot:
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    parts = get_args(annotation)
    if get_origin(annotation) in (Union, UnionType):
        inner = _slot(next(part for part in parts if part is not type(None)))
        return Slot(inner.shape, inner.model, type(None) in parts)
    if isinstance(annotation, type) and issubclass(annotation, Node):
        return Slot("map", annotation, False)
    if get_origin(annotation) is dict:
        inside = _slot(parts[1]).model
        return Slot("table" if inside else "map", inside, False)
    if get_origin(annotation) is list:
        return Slot("list", _slot(parts[0]).model, False)
    return Slot("value", None, False)


class KeyCheck:
    """Removes unknown keys from a spec's data; `problems` says which and what was meant.

    `flags` are names known to be engine flags, for the advice to move them.
    """

    def __init__(self, flags: Collection[str] = ()) -> None:
        self.flags = {_plain(flag) for flag in flags}
        self.problems: list[FormProblem] = []

    def pruned(self, data: Any, model: type[Node], path: Path = ()) -> Any:
        """A copy of `data` (what stands at `path`) with only the keys that `model` knows."""
        if not isinstance(data, dict):
            return data
        known = slots(model)
        kept = {}
        for key, value in data.items():
            if key in known:
                kept[key] = self._filled(value, known[key], (*path, key))
            else:
                self.problems.append(self._unknown(key, data, model, path))
        return kept

    def _filled(self, value: Any, slot: Slot, path: Path) -> Any:
        if value is None and slot.shape in ("map", "table"):
            return {}
        if value is None and slot.shape == "list" and not slot.nullable:
            return []
        if slot.model is None:
            return value
        if slot.shape == "list" and isinstance(value, list):
            return [self.pruned(item, slot.model, (*path, i)) for i, item in enumerate(value)]
        if slot.shape == "table" and isinstance(value, dict):
            return {n: self.pruned(v, slot.model, (*path, n)) for n, v in value.items()}
        return self.pruned(value, slot.model, path)

    def _unknown(self, key: str, data: Any, model: type[Node], path: Path) -> FormProblem:
        message = f"`{shown(key)}` is not a key of {dotted(path)}"
        if len(self.problems) >= MAX_SUGGESTIONS or len(key) > 64:
            return FormProblem("unknown-key", (*path, key), message, "delete it")
        advice = list(self._advice(key, data, model, path))
        if not advice:
            advice = [_listed(key, list(slots(model)))]
        return FormProblem("unknown-key", (*path, key), message, "; ".join(advice))

    def _advice(self, key: str, data: Any, model: type[Node], path: Path) -> Iterator[str]:
        names = {_plain(name): name for name in slots(model)}
        called = list(_called(_plain(key), slots(model))) if path[:1] in _REPORTED else []
        if called:
            yield from called
            return
        near = difflib.get_close_matches(_plain(key), names, n=1, cutoff=0.7)
        if near:
            name = names[near[0]]
            also = " (it is here already)" if name in data else ""
            yield f"did you mean `{name}`?{also}"
        places = [place for place in _places().get(_plain(key), ()) if place != dotted(path)]
        if places:
            yield f"`{shown(key)}` belongs under {' or '.join(places[:3])}"
        elif _plain(key) in self.flags:
            yield f"`{shown(key)}` is a flag of the engine: it belongs under engine.flags"
        elif model is EngineSpec and not near:
            yield "a flag of the engine belongs under engine.flags"


def _called(name: str, known: Collection[str]) -> Iterator[str]:
    """Advice on a name that other tools use for a key that stands here, or for a counter."""
    if name in known:
        return
    keys = keys_for(name, known)
    if keys:
        yield f"did you mean {' or '.join(f'`{key}`' for key in keys)}?"
        return
    rest = without_statistic(name)
    keys = [] if rest is None else [rest] if rest in known else keys_for(rest, known)
    if keys:
        yield (
            f"did you mean `{keys[0]}`? It holds one figure: the median, or the mean where only "
            "that is known; percentiles need `requests`"
        )
    elif "round_ms" in known and (counter := counter_for(name)):
        yield (
            "a counter of a device stands under observations.series: "
            f"{{counter: {counter}, device: ..., unit: ..., mean: ...}}"
        )


_REPORTED = (("observations",), ("hardware",), ("model",))
"""What is written down from a report, in its own words."""

_FEW_KEYS = 20


def _listed(key: str, known: list[str]) -> str:
    """The keys of a map; of many those that look most alike."""
    if len(known) <= _FEW_KEYS:
        return "keys here are " + ", ".join(known)
    near = difflib.get_close_matches(_plain(key), known, n=8, cutoff=0.0)
    return f"some of the {len(known)} keys here are {', '.join(near)}; docs/spec.md has them all"


def _plain(key: str) -> str:
    return key.lstrip("-").replace("-", "_").lower()


_SUFFIX = {"list": "[]", "table": ".NAME"}


@cache
def _places() -> dict[str, list[str]]:
    """Key -> the maps of the language that have it, as `hypotheses[].test`."""
    places: dict[str, list[str]] = {}
    todo: list[tuple[str, type[Node]]] = [("", Spec)]
    while todo:
        where, model = todo.pop(0)
        for key, slot in slots(model).items():
            places.setdefault(key, []).append(where or "the top level")
            if slot.model is not None and model is not Arm:
                inner = f"{where}.{key}" if where else key
                todo.append((inner + _SUFFIX.get(slot.shape, ""), slot.model))
    return places
