"""Where a test looks: `at` and `over` as places and results.

What `at` leaves out is every candidate, and the test must hold at each. `over` inherits from the
place under test what it does not name. A material is that of the step, or else of its arm's label: in
a run another material is another arm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from benchspec.judge.case import Case
from benchspec.judge.place import Place
from benchspec.judge.result import CheckResult
from benchspec.spec import models

_NAMES = {"context": "context_tokens"}


def coordinates(place: models.Place) -> dict[str, Any]:
    """What an `at` or `over` names, under the names of the observations."""
    named = place.model_dump(exclude_none=True)
    return {_NAMES.get(name, name): value for name, value in named.items()}


def planned(case: Case) -> list[Place]:
    """Every place that the spec's load asks for."""
    load = case.spec.load
    steps = [{"concurrency": c} for c in load.concurrency] + [{"rate": r} for r in load.rate]
    contexts: list[int | None] = [*load.context] or [None]
    caches: list[str | None] = [*load.cache] or [None]
    return [
        Place(arm=arm, context_tokens=context, cache=cache, **step)
        for arm, context, cache, step in product(case.arms, contexts, caches, steps)
    ]


def places_at(case: Case, at: models.Place, over: models.Place | None) -> list[Place]:
    """The planned and the measured places that `at` names, but for those that `over` divides by."""
    wanted = coordinates(at)
    every = dict.fromkeys([*case.places, *_unmeasured(case)])
    found = [p for p in every if _matches(case, p, wanted)]
    return [p for p in found if over is None or divisor(case, p, over) != p]


def _unmeasured(case: Case) -> list[Place]:
    """Planned places that no measured one stands for."""
    seen = {(p.arm, p.concurrency, p.rate, p.context_tokens, p.cache) for p in case.places}
    return [
        p
        for p in planned(case)
        if (p.arm, p.concurrency, p.rate, p.context_tokens, p.cache) not in seen
    ]


def divisor(case: Case, place: Place, over: models.Place) -> Place:
    """The place that `over` names, seen from `place`."""
    named = {k: v for k, v in coordinates(over).items() if hasattr(place, k)}
    if "material" in named and place.material is None:
        named |= _arm_of(case, named.pop("material"), named.get("arm"))
    if "concurrency" in named:
        named.setdefault("rate", None)
    elif "rate" in named:
        named.setdefault("concurrency", None)
    return replace(place, **named)


def _arm_of(case: Case, material: str, arm: str | None) -> dict[str, str]:
    """The one arm of a material, as a coordinate; the material itself where there is not one."""
    arms = [one for one in case.arms if case.material(one) == material and arm in (None, one)]
    return {"arm": arms[0]} if len(arms) == 1 else {"material": material}


def _matches(case: Case, place: Place, wanted: dict[str, Any]) -> bool:
    seen = replace(place, material=place.material or case.material(place.arm))
    return all(getattr(seen, name, value) == value for name, value in wanted.items())


def results_at(
    case: Case, results: Sequence[CheckResult], check: str, wanted: dict[str, Any]
) -> list[CheckResult]:
    """The results of `check` at the coordinates `wanted`.

    A result that has no such coordinate (an arm's settings at any concurrency) is at every one; one
    of no arm counts only where the arm that is named has none of its own.
    Where something is left out, places where the question does not arise do not count.
    """
    found = [r for r in results if r.check == check and _names(case, r, wanted)]
    named = [r for r in found if r.arm == wanted["arm"]] if "arm" in wanted else []
    asked = [r for r in named or found if r.state != "not-applicable"]
    return asked or named or found


def _names(case: Case, result: CheckResult, wanted: dict[str, Any]) -> bool:
    own = {"arm": result.arm, "material": case.material(result.arm), **result.at}
    return all(own.get(name, value) in (value, None) for name, value in wanted.items())


def text_of(at: models.Place) -> str:
    """`at` for a sentence."""
    return ", ".join(f"{name} {value}" for name, value in coordinates(at).items()) or "any place"
