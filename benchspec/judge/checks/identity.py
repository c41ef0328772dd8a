"""identity: do two arms differ in the one thing that is compared?

Needs: what is declared of both arms, and what was observed of them: model digest, engine build,
device ids, memory clock, footprint, libraries, client, workload.

Besides, where arms ran at the same step: the length of their answers (5 %), and how many requests
each of their replicas got.

Comparison: everything that differs is put on an axis (model, engine, hardware, instrument, workload,
or what a setting affects: slots, placement, speculation); a limit that was set differently is one of
its own. No division.

Readings
  comparable       one axis at most, and nothing differs that was not meant to
  not-comparable   several axes (nobody can say which of them made the difference), or something was
                   found different that the spec declares equal: another file under the same name,
                   another card of the same name, another probe

Silent when: there is one arm.

Value: the number of axes. Source: one factor at a time; a footprint that differs by more than 1 % is
another configuration, a probed bandwidth that differs by more than 10 % another card; both of the
larger one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

from benchspec.judge import figures
from benchspec.judge.case import Case
from benchspec.judge.interval import show
from benchspec.judge.lines import Line
from benchspec.judge.place import Place
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.setup import Setup
from benchspec.judge.thresholds import limit
from benchspec.knowledge import engines
from benchspec.observations.model import Limit
from benchspec.observations.node import SettingValue
from benchspec.observations.quantiles import median
from benchspec.spec.models import Workload

NAME = "identity"
READINGS = ("comparable", "not-comparable")
NEEDS = "two arms"
RATE = False

_AXES = {
    "model": "model",
    "engine": "engine",
    "build": "engine",
    "device": "hardware",
    "pci": "hardware",
    "memory": "hardware",
    "driver": "hardware",
    "cuda": "hardware",
    "nccl": "hardware",
    "client": "instrument",
    "probe": "instrument",
    "prompt": "workload",
    "workload": "workload",
    "material": "workload",
    "window": "workload",
}
"""First word of an observed identity's name -> its axis; any other name is an axis of its own."""


_FOOTPRINT = ("memory_used", "vram", "footprint")

Arm = tuple[Case, str]
"""An arm of a case."""


def check(case: Case) -> list[CheckResult]:
    """One result per arm and its control; without controls, per arm against the first."""
    return [_judge(case, arm, other) for arm, other in pairs(case)]


def pairs(case: Case) -> Iterator[tuple[str, str]]:
    """Arms that are compared: each with its control; without controls each with the first."""
    controls = [(arm, a.id) for a in case.arms.values() for arm in a.control_for]
    if controls:
        yield from controls
        return
    first, *others = case.arm_ids or [""]
    yield from ((other, first) for other in others)


def axes_between(case: Case, arm: str, other: str) -> dict[str, str]:
    """Every axis on which the setups of two arms differ, declared or found, with what differs."""
    found = _by_axis(_observed(case.setup(arm), case.setup(other)))
    return {**found, **_on_purpose((case, arm), (case, other))}


def _on_purpose(mine: Arm, theirs: Arm) -> dict[str, str]:
    """What was made different: by the spec, by another split, by another limit."""
    a, b = mine[0].setup(mine[1]), theirs[0].setup(theirs[1])
    found = dict(_declared(a, b))
    ours, others = a.observed.split, b.observed.split
    if ours != others and ours is not None and others is not None:
        found.setdefault("placement", f"split by {others} and {ours}")
    there = _limits(theirs)
    for name, own in _limits(mine).items():
        other = there.get(name)
        if other is not None and other.limit != own.limit:
            found.setdefault(name, f"{show(other.limit)} and {show(own.limit)} {own.unit or ''}")
    return found


def _limits(arm: Arm) -> dict[str, Limit]:
    """Limits that were set for the arm, by what they limit."""
    return {one.name: one for one in arm[0].observations.limits if one.arm == arm[1]}


def _judge(case: Case, arm: str, other: str) -> CheckResult:
    declared, observed = differences((case, arm), (case, other))
    surprises = [axis for axis in observed if axis not in declared]
    axes = {**observed, **declared}
    count = len(axes)
    fine = count <= 1 and not surprises
    listed = "; ".join(f"{axis}: {text}" for axis, text in axes.items()) or "nothing differs"
    caveats = [f"declared equal, found different: {', '.join(surprises)}"] if surprises else []
    if count > 1:
        caveats.append("several things differ: what made the difference cannot be told")
    return Line(NAME, arm, {"against": other}).judged(
        "comparable" if fine else "not-comparable",
        listed,
        float(count),
        "axes",
        inputs=[Input(name=axis, value=text) for axis, text in axes.items()],
        caveats=caveats,
    )


def differences(mine: Arm, theirs: Arm) -> tuple[dict[str, str], dict[str, str]]:
    """Axis -> what differs, theirs first: as the specs declare it, and as it was found.

    The two arms may be of one case or of two.
    """
    a, b = mine[0].setup(mine[1]), theirs[0].setup(theirs[1])
    declared = _on_purpose(mine, theirs)
    observed = _by_axis(chain(_observed(a, b), _measured(mine, theirs)))
    if declared:
        observed.pop("footprint", None)  # what was changed on purpose may need other memory
    return declared, observed


def _declared(mine: Setup, theirs: Setup) -> Iterator[tuple[str, str]]:
    """What the spec makes different on purpose: (axis, what)."""
    a, b = mine.resolved, theirs.resolved
    if a is None or b is None:
        return
    if a.model != b.model:
        yield "model", f"{b.model.name or b.model.source} and {a.model.name or a.model.source}"
    if unequal := list(_unequal(_sent(b.workload), _sent(a.workload))):
        yield "workload", ", ".join(unequal)
    if a.devices != b.devices:
        yield "hardware", "other devices"
    if a.engine is None or b.engine is None:
        return
    others = (b.engine.kind, b.engine.version, b.engine.binary)
    ours = (a.engine.kind, a.engine.version, a.engine.binary)
    if ours != others:
        yield "engine", " and ".join(" ".join(w for w in e if w) for e in (others, ours))
    yield from _settings(mine, theirs, a.engine.kind)


def _sent(workload: Workload) -> dict[str, Any]:
    """What is sent and asked for; a label also tells of the engine, which is another axis."""
    data = workload.model_dump()
    label = data.get("label") or {}
    data["label"] = {k: v for k, v in label.items() if k not in ("speculation", "slots", "note")}
    return data


def _unequal(theirs: dict[str, Any], ours: dict[str, Any], within: str = "") -> Iterator[str]:
    """The keys of two nested maps whose values differ, with both: `prompt.tokens 16 and 64`."""
    for key in {**theirs, **ours}:
        other, own = theirs.get(key), ours.get(key)
        if isinstance(other, dict) and isinstance(own, dict):
            yield from _unequal(other, own, f"{within}{key}.")
        elif other != own:
            both = ["unset" if value is None else str(value) for value in (other, own)]
            yield f"{within}{key} {' and '.join(both)}"


def _by_axis(found: Iterator[tuple[str, str]]) -> dict[str, str]:
    texts: dict[str, list[str]] = {}
    for axis, text in found:
        texts.setdefault(axis, []).append(text)
    return {axis: ", ".join(several) for axis, several in texts.items()}


def _settings(mine: Setup, theirs: Setup, kind: str) -> Iterator[tuple[str, str]]:
    """Settings that differ, by what they affect."""
    known = engines.engine(kind)
    by_axis: dict[str, list[str]] = {}
    for name in sorted({*mine.settings, *theirs.settings}):
        ours, others = mine.settings.get(name), theirs.settings.get(name)
        if (ours and ours.value) == (others and others.value):
            continue
        setting = known.find(name) if known else None
        axis = setting.affects[0] if setting and setting.affects else name
        values = [str(use.value) if use else "unset" for use in (others, ours)]
        by_axis.setdefault(axis, []).append(f"{name} {' and '.join(values)}")
    yield from ((axis, ", ".join(texts)) for axis, texts in by_axis.items())


def _observed(mine: Setup, theirs: Setup) -> Iterator[tuple[str, str]]:
    """What was found different: (axis, what)."""
    a, b = mine.observed.identity, theirs.observed.identity
    for name in sorted(set(a) & set(b)):
        if not _equal(name, a[name], b[name]):
            yield _axis(name), f"{name} {b[name]} and {a[name]}"


def _measured(mine: Arm, theirs: Arm) -> Iterator[tuple[str, str]]:
    """What the steps of both show: other lengths of answers, other loads, or of a replica."""
    yield from _apart(mine, theirs)
    (case, arm), (other_case, other) = mine, theirs
    for place in case.places:
        there = replace(place, arm=other)
        if place.arm != arm or not other_case.steps(there):
            continue
        ours, others = _length(case, place), _length(other_case, there)
        if ours and others and abs(ours / others - 1) > limit("tokens.length"):
            yield "answers", f"{show(others)} and {show(ours)} tokens per answer"
        loads = [(place.concurrency or 0) / c.setup(a).replicas for c, a in (theirs, mine)]
        if loads[0] != loads[1]:
            yield "load", f"{show(loads[0])} and {show(loads[1])} in flight per replica"


def _apart(mine: Arm, theirs: Arm) -> Iterator[tuple[str, str]]:
    """Arms that were measured at no common number of requests in flight."""
    ours, others = (sorted({s.concurrency or 0 for s in c.of_arm(a)}) for c, a in (mine, theirs))
    if ours and others and 0 not in (*ours, *others) and not set(ours) & set(others):
        yield "load", f"{_several(others)} and {_several(ours)} requests in flight"


def _several(counts: list[int]) -> str:
    return ", ".join(map(str, counts))


def _length(case: Case, place: Place) -> float | None:
    steps = case.sound(place)
    known = [n for s in steps if (n := figures.tokens_per_request(s))]
    return median(known) if known else None


def _axis(name: str) -> str:
    """`gpu0.memory_clock_mhz` is hardware, as is everything of a device."""
    device, _, rest = name.replace("-", "_").rpartition(".")
    if rest.startswith(_FOOTPRINT):
        return "footprint"
    return "hardware" if device else _AXES.get(rest.split("_")[0], name)


def _equal(name: str, ours: SettingValue, theirs: SettingValue) -> bool:
    if ours is None or theirs is None or ours == theirs:
        return True
    if name.endswith(".pci_bus"):  # where a card sits, not what it is
        return True
    if "probed_" in name:
        return not name.endswith("probed_read_gb_s") or _within(ours, theirs, "identity.probe")
    return "mib" in name.lower() and _within(ours, theirs, "identity.memory")


def _within(ours: SettingValue, theirs: SettingValue, most: str) -> bool:
    """Whether two numbers differ by at most the limit `most` of the larger one, whichever is first."""
    if not isinstance(ours, int | float) or not isinstance(theirs, int | float):
        return False
    return min(ours, theirs) > 0 and abs(ours - theirs) <= limit(most) * max(ours, theirs)
