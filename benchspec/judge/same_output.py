"""Which answers of a run should be equal: those of two arms that run one model greedily."""

from __future__ import annotations

from collections.abc import Iterator

from benchspec.judge.case import Case
from benchspec.knowledge import engines
from benchspec.observations.answers import Agreement


def pairs(case: Case) -> list[Agreement]:
    """As someone else compared them; of a run, each arm with the one it is compared with."""
    found = case.observations.agreement
    return found if case.observations.origin != "run" else list(_of_run(case, found))


def _of_run(case: Case, found: list[Agreement]) -> Iterator[Agreement]:
    by_arms = {frozenset(one.arms): one for one in found}
    for arm in case.arm_ids:
        base = next(iter([*case.controls(arm), *case.arm_ids]))
        one = by_arms.get(frozenset((arm, base)))
        if arm == base or one is None or not _same_model(case, arm, base):
            continue
        greedy, drafter = _greedy(case, arm, base), _drafter(case, arm) == _drafter(case, base)
        forth = one.arms[0] == arm
        kept = Agreement(
            arms=[arm, base],
            common_prefix_tokens=one.common_prefix_tokens if greedy else [],
            whole_tokens=one.whole_tokens if greedy else [],
            acceptance=(one.acceptance if forth else one.acceptance[::-1]) if drafter else [],
        )
        if kept.common_prefix_tokens or kept.whole_tokens or kept.acceptance:
            yield kept


def _same_model(case: Case, arm: str, base: str) -> bool:
    """By the digests of the files that were loaded where both are known, else as declared."""
    seen = [case.observed(one).identity.get("model_sha256") for one in (arm, base)]
    if None not in seen:
        return seen[0] == seen[1]
    return case.setup(arm).model == case.setup(base).model


def _greedy(case: Case, *arms: str) -> bool:
    """Whether every arm takes the likeliest token; what is not stated is the server's choice."""
    described = [case.arms.get(arm) for arm in arms]
    return all(one and one.workload.sampling.temperature == 0 for one in described)


def _drafter(case: Case, arm: str) -> tuple[object, ...]:
    """The engine and what it was told of drafting."""
    setup = case.setup(arm)
    kind = setup.resolved.engine.kind if setup.resolved and setup.resolved.engine else None
    known = engines.engine(kind) if kind else None
    settings = known.settings if known else {}
    drafting = {
        name: use.value
        for name, use in setup.settings.items()
        if name in settings and "speculation" in settings[name].affects
    }
    return kind, drafting
