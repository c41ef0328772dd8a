"""Are two runs of one thing? What differs between them, said before any figure of theirs.

The comparison is that of the `identity` check, over two runs instead of two arms: everything that
differs is put on an axis. They are comparable when at most one axis differs, and nothing was found
different that the specs declare equal. The engine's build and the machine are the exception: two
runs of one spec are made to compare just these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from benchspec.judge.case import Case
from benchspec.judge.checks import identity
from benchspec.judge.place import Place
from benchspec.judge.result import Node, Verdicts
from benchspec.spec.models import Workload

SURROUNDINGS = frozenset({"engine", "hardware"})
"""Axes on which two runs of one spec may differ without anybody having declared it."""


@dataclass(frozen=True)
class Side:
    """One of the runs that are compared; sentences call it by its `label`.

    `version` is that of the benchspec that measured it, None where its author did otherwise.
    `broken` says why its figures are not those that were recorded; `remarks` what else a reader
    must know of how it was read.
    """

    label: str
    name: str
    case: Case
    verdicts: Verdicts
    version: str | None = None
    broken: str | None = None
    remarks: tuple[str, ...] = ()


class Difference(Node):
    """What differs on one axis, the first run's before the second's; `arms` in which."""

    axis: str
    text: str
    declared: bool
    arms: list[str]


class Comparability(Node):
    """`why` is the answer in a sentence; `facts` are what is equal or not recorded, field by field.

    `blocked` where nothing that differs is the reason: no step in common, evidence that changed, or
    one run twice.
    """

    comparable: bool
    why: str
    blocked: bool
    differences: list[Difference]
    facts: list[str]


def shared(a: Side, b: Side) -> list[Place]:
    """The steps that both have measured, in the order of the first."""
    return [place for place in a.case.places if b.case.steps(place)]


def compare(a: Side, b: Side) -> Comparability:
    """What is equal, what differs, and whether ratios of their figures may be quoted."""
    arms = list(dict.fromkeys(place.arm for place in shared(a, b)))
    found = _merged([d for arm in arms for d in _differences(a, b, arm)])
    axes = {d.axis for d in found}
    facts = [text for field in _FIELDS if (text := _fact(field, a, b, arms, axes))]
    if arms:
        facts.append(_prompts(a, b, arms, "workload" in axes))
    blocked = _blocked(a, b, arms)
    comparable, why = (False, blocked) if blocked else _answer(found)
    return Comparability(
        comparable=comparable, why=why, blocked=bool(blocked), differences=found, facts=facts
    )


def _blocked(a: Side, b: Side, arms: Sequence[str]) -> str | None:
    broken = [f"{side.label}: {side.broken}" for side in (a, b) if side.broken]
    if not arms:
        return "They share no step, so there is nothing to compare."
    if broken:
        return f"Not comparable: {'; '.join(broken)}."
    if a.case.observations.steps == b.case.observations.steps:
        return "Not comparable: they are one run, equal to the last digit."
    return None


def _answer(found: Sequence[Difference]) -> tuple[bool, str]:
    axes = list(dict.fromkeys(d.axis for d in found))
    declared = {d.axis for d in found if d.declared}
    surprises = [axis for axis in axes if axis not in declared | SURROUNDINGS]
    if surprises:
        return (
            False,
            f"Not comparable: found different though declared equal: {', '.join(surprises)}.",
        )
    if len(axes) > 1:
        return False, (
            f"Not comparable: {len(axes)} things differ ({', '.join(axes)}), and what made a "
            "difference cannot be told."
        )
    if axes:
        return True, f"Comparable: one thing differs, {axes[0]}, and the ratios are of that."
    return True, "Comparable: nothing differs that is recorded of both."


def _differences(a: Side, b: Side, arm: str) -> Iterator[Difference]:
    declared, observed = identity.differences((b.case, arm), (a.case, arm))
    if _same(_model, a, b, arm):
        declared.pop("model", None)  # one file under two descriptions
    for axis, text in {**declared, **observed}.items():
        yield Difference(axis=axis, text=text, declared=axis in declared, arms=[arm])
    for field in _FIELDS:
        mine, theirs = field.read(a, arm), field.read(b, arm)
        if field.axis not in {*declared, *observed} and mine and theirs and mine != theirs:
            text = f"{mine} and {theirs}"
            yield Difference(axis=field.axis, text=text, declared=False, arms=[arm])
    if modes := _modes(a, b, arm):
        yield Difference(axis="load", text=modes, declared=True, arms=[arm])


def _modes(a: Side, b: Side, arm: str) -> str | None:
    """Two ways of keeping C in flight are two experiments."""
    for place in shared(a, b):
        if place.arm == arm:
            mine, theirs = ({s.mode for s in side.case.steps(place)} for side in (a, b))
            if None not in mine | theirs and mine != theirs:
                return " and ".join("/".join(sorted(map(str, modes))) for modes in (mine, theirs))
    return None


def _merged(found: Sequence[Difference]) -> list[Difference]:
    """The same difference in several arms is said once."""
    merged: dict[tuple[str, str], Difference] = {}
    for one in found:
        known = merged.setdefault((one.axis, one.text), one)
        if one is not known:
            arms = [*known.arms, *(arm for arm in one.arms if arm not in known.arms)]
            merged[one.axis, one.text] = known.model_copy(update={"arms": arms})
    return list(merged.values())


Reader = Callable[[Side, str], str | None]


@dataclass(frozen=True)
class _Field:
    """Something that both runs should have told of an arm."""

    name: str
    axis: str
    read: Reader


def _identity(side: Side, arm: str, name: str) -> str | None:
    value = side.case.observed(arm).identity.get(name)
    return None if value is None else str(value)


def _model(side: Side, arm: str) -> str | None:
    seen = _identity(side, arm, "model_sha256")
    digest = seen or side.case.setup(arm).model.sha256
    return None if digest is None else f"SHA-256 {digest}"


def _build(side: Side, arm: str) -> str | None:
    return _identity(side, arm, "build")


def _device(side: Side, arm: str) -> str | None:
    identity_ = side.case.observed(arm).identity
    seen = [str(value) for name, value in identity_.items() if name.endswith(".name")]
    declared = [device.name for device in side.case.setup(arm).devices if device.name]
    return ", ".join(sorted(seen or declared)) or None


def _label(side: Side, arm: str) -> str | None:
    """What the label says of the text; what it says of the engine is another axis."""
    workload = _workload(side, arm)
    label = workload.label if workload else None
    if label is None:
        return None
    context = f"context of {label.context_tokens} tokens" if label.context_tokens else None
    return ", ".join(word for word in (label.material, context) if word) or None


def _workload(side: Side, arm: str) -> Workload | None:
    resolved = side.case.setup(arm).resolved
    return resolved.workload if resolved else None


def _instrument(side: Side, arm: str) -> str | None:
    """Where arrivals were stamped counts, not the version: each run tells its own error."""
    if side.verdicts.origin != "run":
        return _identity(side, arm, "client") or "its author's own"
    clients = (step.client for step in side.case.of_arm(arm) if step.client)
    stamps = sorted({c.stamp_source for c in clients if c.stamp_source not in (None, "none")})
    return f"benchspec, arrivals stamped by: {', '.join(map(str, stamps)) or 'not recorded'}"


_FIELDS = (
    _Field("Model file", "model", _model),
    _Field("Engine build", "engine", _build),
    _Field("Device", "hardware", _device),
    _Field("Workload label", "workload", _label),
    _Field("Instrument", "instrument", _instrument),
)


def _same(read: Reader, a: Side, b: Side, arm: str) -> bool:
    mine = read(a, arm)
    return mine is not None and mine == read(b, arm)


def _fact(field: _Field, a: Side, b: Side, arms: Sequence[str], differing: set[str]) -> str | None:
    """`field` where it is equal or not known; where it differs, the difference is told already."""
    mine, theirs = ({field.read(side, arm) for arm in arms} for side in (a, b))
    if not arms or field.axis in differing:
        return None
    silent = [side.label for side, seen in ((a, mine), (b, theirs)) if None in seen]
    if silent:
        return f"{field.name}: not recorded in {' and '.join(silent)}."
    return f"{field.name}: the same in both, {'; '.join(sorted(map(str, mine)))}."


def _prompts(a: Side, b: Side, arms: Sequence[str], other_workload: bool) -> str:
    """Prompts that benchspec writes follow from the spec's bytes; those of a file are its own."""
    digests = [{_identity(side, arm, "prompts_sha256") for arm in arms} for side in (a, b)]
    if None not in digests[0] | digests[1]:
        return f"Prompts: {'the same' if digests[0] == digests[1] else 'other'} by their digest."
    written = all(made_here(side, arm) for side in (a, b) for arm in arms)
    digest = a.verdicts.spec_sha256
    if written and digest == b.verdicts.spec_sha256:
        return f"Prompts: the same texts, written from one spec, SHA-256 {digest}."
    if written and not other_workload:
        return "Prompts: other texts of one material and length, for the specs are not the same."
    return "Prompts: not recorded whether they are the same."


def made_here(side: Side, arm: str) -> bool:
    """Whether benchspec wrote the prompts of an arm, and did not read them from a file."""
    workload = _workload(side, arm)
    return side.verdicts.origin == "run" and bool(workload and not workload.prompt.file)
