"""Parts of a spec that contradict each other in form: names that nothing has, two answers to one
question. What the spec means is the linter's business, not this file's.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from benchspec.spec.models import METRICS, SELF_REPORTED, Place, Spec, Test
from benchspec.spec.problems import FormProblem, Path, dotted, shown
from benchspec.spec.quantity import QuantityError, parse_quantity

_LONGEST_COMPARED, _MOST_COMPARED = 32, 20  # a comparison costs up to 0.1 ms, for every problem
_PERCENTILE = re.compile(r"p(?:100|[1-9]?[0-9](?:\.[0-9]{1,3})?)\Z")


def inconsistencies(spec: Spec) -> Iterator[FormProblem]:
    """What contradicts itself in `spec`, each at the place to change."""
    yield from _unique("hypotheses", [hypothesis.id for hypothesis in spec.hypotheses])
    yield from _unique("arms", [arm.id for arm in spec.arms])
    yield from _unique("hardware.devices", [device.id for device in spec.hardware.devices])
    yield from _load(spec)
    yield from _hardware(spec)
    yield from _arm_names(spec)
    yield from _flags(spec)
    yield from _log(spec)
    yield from _observed(spec)
    for index, hypothesis in enumerate(spec.hypotheses):
        if hypothesis.test is not None:
            yield from _test(spec, hypothesis.test, ("hypotheses", index, "test"))


def _unique(where: str, ids: list[str]) -> Iterator[FormProblem]:
    for index, name in enumerate(ids):
        if name in ids[:index]:
            path: Path = (*where.split("."), index, "id")
            what = f"the id '{shown(name)}' is used twice in {where}"
            yield FormProblem("wrong-value", path, what, "give each its own id")


def _load(spec: Spec) -> Iterator[FormProblem]:
    if spec.load.concurrency and spec.load.rate:
        what = "load has both `concurrency` (closed loop) and `rate` (open loop)"
        fix = "keep one; a study of both is two specs"
        yield FormProblem("wrong-value", ("load", "rate"), what, fix)
    if spec.load.requests is not None and spec.load.duration is not None:
        what = "load has both `requests` and `duration`"
        yield FormProblem(
            "wrong-value", ("load", "duration"), what, "keep the one that ends a step"
        )


def _hardware(spec: Spec) -> Iterator[FormProblem]:
    devices = [device.id for device in spec.hardware.devices]
    for index, link in enumerate(spec.hardware.links):
        for end, name in enumerate(link.between):
            path: Path = ("hardware", "links", index, "between", end)
            yield from _known(name, devices, "device", path)
    for index, device in enumerate(spec.hardware.devices):
        for size in device.bandwidth_curve:
            path = ("hardware", "devices", index, "bandwidth_curve", size)
            try:
                parse_quantity(size, "size")
            except QuantityError as error:
                yield FormProblem(error.kind, path, f"{dotted(path[:-1])}: {error}", error.fix)


def _arm_names(spec: Spec) -> Iterator[FormProblem]:
    arms = _arm_ids(spec)
    for index, arm in enumerate(spec.arms):
        others = [name for name in arms if name != arm.id]
        for other in arm.control_for:
            yield from _known(other, others, "other arm", ("arms", index, "control_for"))
    for index, waiver in enumerate(spec.waivers):
        yield from _known(waiver.arm, arms, "arm", ("waivers", index, "arm"))


def _observed(spec: Spec) -> Iterator[FormProblem]:
    """Every figure belongs to an arm of this spec; where there are several, it says which."""
    seen, arms = spec.observations, _arm_ids(spec)
    if seen is None:
        return
    for name in seen.arms:
        yield from _known(name, arms, "arm", ("observations", "arms", name))
    for part in ("steps", "series", "budgets", "figures", "transfers", "scaled", "sends"):
        for index, item in enumerate(getattr(seen, part)):
            path: Path = ("observations", part, index)
            yield from _known(item.arm, arms, "arm", (*path, "arm"))
            if part == "steps" and item.arm is None and len(arms) > 1:
                what = f"{dotted(path)} does not say which arm it is of"
                fix = f"add `arm:` with one of {', '.join(shown(arm, 64) for arm in arms[:12])}"
                yield FormProblem("missing-key", path, what, fix)
    for part in ("agreement", "parity"):
        for index, pair in enumerate(getattr(seen, part)):
            for end, name in enumerate(pair.arms):
                yield from _known(name, arms, "arm", ("observations", part, index, "arms", end))


def _log(spec: Spec) -> Iterator[FormProblem]:
    """A log belongs to a server that somebody else started."""
    engines = [arm.engine or {} for arm in spec.arms]
    if spec.engine is None or spec.engine.log is None or spec.engine.attach is not None:
        return
    if not any("attach" in engine for engine in engines):
        what = "engine.log names the log of an attached server, and none is attached to"
        fix = "remove it: benchspec keeps the log of a server that it starts"
        yield FormProblem("wrong-value", ("engine", "log"), what, fix)


def _flags(spec: Spec) -> Iterator[FormProblem]:
    """Flags whose value no command line can carry; in an arm, null removes the flag."""
    if spec.engine is not None:
        for flag, value in spec.engine.flags.items():
            if value is None:
                what = f"the flag `{shown(flag)}` has no value"
                path: Path = ("engine", "flags", flag)
                yield FormProblem("wrong-type", path, what, "write true for a flag without a value")
            yield from _flag_items(value, ("engine", "flags", flag))
    for index, arm in enumerate(spec.arms):
        flags = (arm.engine or {}).get("flags")
        for flag, value in flags.items() if isinstance(flags, dict) else ():
            yield from _flag_items(value, ("arms", index, "engine", "flags", flag))


def _flag_items(value: Any, path: Path) -> Iterator[FormProblem]:
    for index, item in enumerate(value if isinstance(value, list) else ()):
        if item is None or isinstance(item, list | bool):
            what = f"{dotted((*path, index))} is not a value of a repeated flag"
            fix = "write one text or number for each time that the flag is given"
            yield FormProblem("wrong-type", (*path, index), what, fix)


def _test(spec: Spec, test: Test, path: Path) -> Iterator[FormProblem]:
    if (test.metric is None) == (test.check is None):
        what = "names both a metric and a check" if test.metric else "names no metric and no check"
        fix = "write `metric` with a relation and a value, or `check` with what it must give"
        yield FormProblem("wrong-value", path, f"{dotted(path)} {what}", fix)
    if test.metric is not None:
        yield from _metric(test.metric, (*path, "metric"))
    for name, place in (("at", test.at), ("over", test.over)):
        if place is not None:
            yield from _place(spec, place, (*path, name))


def _metric(metric: str, path: Path) -> Iterator[FormProblem]:
    name, _, percentile = metric.partition(".")
    if name not in METRICS and name not in SELF_REPORTED:
        yield from _known(name, METRICS, "metric", path)
    elif percentile and not _PERCENTILE.match(percentile):
        what = f"'{shown(percentile)}' in {dotted(path)} is not a percentile"
        yield FormProblem("wrong-value", path, what, f"write for example {name}.p95")


def _place(spec: Spec, place: Place, path: Path) -> Iterator[FormProblem]:
    devices = {device.id for device in spec.hardware.devices}
    for arm in spec.arms:
        devices |= {str(item.get("id")) for item in arm.devices or () if isinstance(item, dict)}
    yield from _known(place.arm, _arm_ids(spec), "arm", (*path, "arm"))
    yield from _known(place.device, devices, "device", (*path, "device"))


def _arm_ids(spec: Spec) -> list[str]:
    return [arm.id for arm in spec.arms] or ["main"]


def _known(
    name: str | None, names: Collection[str], what: str, path: Path
) -> Iterable[FormProblem]:
    if name is None or name in names:
        return []
    few = [known for known in names if len(known) <= _LONGEST_COMPARED][:_MOST_COMPARED]
    near = difflib.get_close_matches(name, few, n=1) if len(name) <= _LONGEST_COMPARED else []
    listed = ", ".join(shown(known, 64) for known in sorted(names)[:12])
    fix = f"did you mean '{near[0]}'?" if near else f"name one of: {listed or '(there are none)'}"
    message = f"{dotted(path)} is '{shown(name)}', which is no {what} of this spec"
    if what == "metric":
        message = f"{dotted(path)} is '{shown(name)}', which is no metric"
    return [FormProblem("wrong-value", path, message, fix)]
