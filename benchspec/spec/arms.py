"""Arms over the base: what each arm of a study really is.

Maps merge by key; lists and scalars replace; `null` removes; an empty key is an empty map. Flags
merge by setting, so that an arm's `np` replaces the base's `parallel`. An arm's `command` replaces
command and flags; an arm's `flags` over a base `command` are added to it. No arms is one, `main`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic_core import ValidationError

from benchspec.errors import UsageError
from benchspec.spec.messages import problem_of
from benchspec.spec.models import Arm, Device, EngineSpec, Model, Spec, Workload
from benchspec.spec.node import Node
from benchspec.spec.problems import FormProblem, Path, shown

Canonical = Callable[[str, str], str]
"""(engine kind, flag as spelled) -> the name of the setting."""

N = TypeVar("N", bound=Node)


class Stated(NamedTuple):
    """Where a flag of an arm was written."""

    origin: Literal["base", "arm"]
    path: Path


@dataclass(frozen=True)
class ResolvedArm:
    """One arm, whole. `stated` has each flag's origin, by the name of the setting."""

    id: str
    title: str | None
    control_for: tuple[str, ...]
    engine: EngineSpec | None
    model: Model
    workload: Workload
    devices: list[Device]
    stated: dict[str, Stated]
    path: Path
    overrides: frozenset[Path]

    def where(self, path: Path) -> Path:
        """Where in the document the value at `path` of this arm was written.

        `("engine", "version")` is `("arms", 1, "engine", "version")` when the arm states it.
        """
        if path in self.overrides:
            return (*self.path, *path)
        return ("hardware", *path) if path[:1] == ("devices",) else path


def resolve_arms(spec: Spec, canonical: Canonical) -> list[ResolvedArm]:
    """The arms of `spec`, merged and validated, in their order.

    Raises UsageError when an arm does not fit the language; the loader reports such arms first,
    so it cannot happen to a spec that loaded.
    """
    arms, problems = merge_arms(spec, canonical)
    if problems:
        raise UsageError(problems[0].message, hint=problems[0].help)
    return arms


def merge_arms(
    spec: Spec,
    canonical: Canonical,
    plain: Callable[[Path], bool] = lambda _path: True,
) -> tuple[list[ResolvedArm], list[FormProblem]]:
    """The arms that are valid, and what is wrong with the others, at each arm's path."""
    if not spec.arms:
        flags = spec.engine.flags if spec.engine else {}
        stated = _stated(flags, {}, spec.engine.kind if spec.engine else "", canonical, ())
        main = ResolvedArm(
            id="main",
            title=None,
            control_for=(),
            engine=spec.engine,
            model=spec.model,
            workload=spec.workload,
            devices=spec.hardware.devices,
            stated=stated,
            path=(),
            overrides=frozenset(),
        )
        return [main], []
    merger = _Merger(spec, canonical, plain)
    arms = [merger.arm(index, arm) for index, arm in enumerate(spec.arms)]
    return [arm for arm in arms if arm is not None], merger.problems


class _Merger:
    def __init__(self, spec: Spec, canonical: Canonical, plain: Callable[[Path], bool]) -> None:
        self.spec = spec
        self.canonical = canonical
        self.plain = plain
        self.problems: list[FormProblem] = []

    def arm(self, index: int, arm: Arm) -> ResolvedArm | None:
        """The arm over the base, or None with the problems noted."""
        spec, path, before = self.spec, ("arms", index), len(self.problems)
        engine, stated = self._engine(arm, path)
        model = self._section(Model, spec.model, arm.model, (*path, "model"))
        workload = self._section(Workload, spec.workload, arm.workload, (*path, "workload"))
        devices = self._devices(arm, (*path, "devices"))
        if len(self.problems) > before or model is None or workload is None:
            return None
        return ResolvedArm(
            id=arm.id,
            title=arm.title,
            control_for=tuple(arm.control_for),
            engine=engine,
            model=model,
            workload=workload,
            devices=devices,
            stated=stated,
            path=path,
            overrides=frozenset(_paths(_plain_data(arm), ())),
        )

    def _engine(self, arm: Arm, path: Path) -> tuple[EngineSpec | None, dict[str, Stated]]:
        base = _plain_data(self.spec.engine) if self.spec.engine else {}
        own = dict(arm.engine or {})
        if not base and not own:
            return None, {}
        own_flags, base_flags = own.pop("flags", None), base.pop("flags", {})
        own_flags = {} if own_flags is None else own_flags
        if own.get("command") is not None:
            base_flags = {}
        merged = merge(base, own)
        kind = str(merged.get("kind", ""))
        if isinstance(own_flags, dict):
            merged["flags"] = self._flags(kind, base_flags, own_flags)
            stated = _stated(base_flags, own_flags, kind, self.canonical, path)
        else:
            merged["flags"], stated = own_flags, {}
        return self._validated(EngineSpec, merged, (*path, "engine")), stated

    def _flags(self, kind: str, base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
        """Own flags over the base's, where two spellings of one setting are one flag."""
        names = {flag: self.canonical(kind, flag) for flag in (*base, *own)}
        stated = {names[flag] for flag in own}
        merged = {flag: value for flag, value in base.items() if names[flag] not in stated}
        before = {names[flag]: value for flag, value in base.items()}
        for flag, value in own.items():
            merged |= merge({flag: before.get(names[flag])}, {flag: value})
        return merged

    def _section(
        self, model: type[N], base: N, own: Mapping[str, Any] | None, path: Path
    ) -> N | None:
        return self._validated(model, merge(_plain_data(base), own), path) if own else base

    def _validated(self, model: type[N], data: dict[str, Any], path: Path) -> N | None:
        try:
            return model.model_validate(data)
        except ValidationError as error:
            self.problems += [
                problem_of(part, path, self.plain) for part in error.errors(include_url=False)
            ]
            return None

    def _devices(self, arm: Arm, path: Path) -> list[Device]:
        base = self.spec.hardware.devices
        if arm.devices is None:
            return base
        known = {device.id: device for device in base}
        devices: list[Device] = []
        for index, item in enumerate(arm.devices):
            here = (*path, index)
            if isinstance(item, dict):
                device = self._validated(Device, item, here)
            elif (device := known.get(getattr(item, "raw", str(item)))) is None:
                what = f"'{shown(item)}' is not the id of a device in hardware.devices"
                fix = f"name one of {', '.join(known) or 'them'}, or write the device out"
                self.problems.append(FormProblem("wrong-value", here, what, fix))
            devices += [device] if device else []
        return devices


def merge(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """`own` over `base`: maps by key, everything else replaces, None removes."""
    merged = dict(base)
    for key, value in own.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict):
            old = merged.get(key)
            merged[key] = merge(old if isinstance(old, dict) else {}, value)
        else:
            merged[key] = value
    return merged


def _stated(
    base: Mapping[str, Any], own: Mapping[str, Any], kind: str, canonical: Canonical, path: Path
) -> dict[str, Stated]:
    stated: dict[str, Stated] = {}
    for flag in base:
        stated[canonical(kind, flag)] = Stated("base", ("engine", "flags", flag))
    for flag, value in own.items():
        name = canonical(kind, flag)
        stated.pop(name, None)
        if value is not None:
            stated[name] = Stated("arm", (*path, "engine", "flags", flag))
    return stated


def _plain_data(value: Any) -> Any:
    """A validated node as the maps and lists that were stated; defaults are left out."""
    if isinstance(value, Node):
        return {name: _plain_data(inner) for name, inner in value.stated().items()}
    if isinstance(value, list):
        return [_plain_data(item) for item in value]
    return value


def _paths(data: Any, path: Path) -> set[Path]:
    """Every path in nested maps and lists."""
    paths = {path}
    if isinstance(data, dict | list):
        items = data.items() if isinstance(data, dict) else enumerate(data)
        for key, value in items:
            paths |= _paths(value, (*path, key))
    return paths
