"""A small world of specs and steps for the judge's tests: servers with S slots, simulated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchspec.judge.judge import judge
from benchspec.judge.result import CheckResult, Verdicts
from benchspec.observations.model import ArmObservation, Observations, Request, Step
from benchspec.spec.models import Spec


def spec(**sections: Any) -> Spec:
    """A spec with `sections` over a minimum: one llama.cpp engine, forced output."""
    base: dict[str, Any] = {
        "benchspec": 1,
        "study": {"title": "a study"},
        "engine": {"kind": "llama.cpp"},
        "workload": {"output": {"tokens": 32, "forced": True}},
    }
    return Spec.model_validate(base | sections)


def hypothesis(name: str = "H1", **rest: Any) -> dict[str, Any]:
    return {"id": name, "claim": f"claim {name}", **rest}


def per_token(batch: int) -> float:
    """Seconds per token with `batch` streams on one core: grows, but less than in proportion."""
    return 0.02 * (0.6 + 0.4 * batch)


def burst(
    arm: str,
    count: int,
    slots: int,
    *,
    repeat: int = 1,
    tokens: int = 32,
    prefill_s: float = 0.01,
    token_s: Callable[[int], float] = per_token,
    scale: float = 1.0,
    **fields: Any,
) -> Step:
    """A wave of `count` equal requests on a server that takes `slots` of them at a time."""
    requests, clock = [], 0.0
    for first in range(0, count, slots):
        batch = min(slots, count - first)
        begin = clock + prefill_s * batch
        end = begin + (tokens - 1) * token_s(batch)
        requests += [
            Request(
                start_s=0.0,
                first_token_s=begin * scale,
                last_token_s=end * scale,
                end_s=end * scale,
                ttft_ms=begin * scale * 1e3,
                itl_ms=token_s(batch) * scale * 1e3,
                tokens=tokens,
                prompt_tokens=16,
                self_reported_tok_s=1 / token_s(batch) / scale,
            )
            for _ in range(batch)
        ]
        clock = end
    base: dict[str, Any] = {
        "arm": arm,
        "concurrency": count,
        "repeat": repeat,
        "mode": "burst",
        "planned_requests": count,
        "wall_s": clock * scale,
        "requests": requests,
    }
    return Step(**base | fields)


def sweep(
    arm: str, slots: int, counts: Sequence[int] = (1, 2, 4, 8), repeats: int = 3, **rest: Any
) -> list[Step]:
    """Bursts at every count, three times, with half a percent between repeats."""
    return [
        burst(arm, c, slots, repeat=r, scale=1 + 0.005 * (r - 1), **rest)
        for r in range(1, repeats + 1)
        for c in counts
    ]


def seen(
    *steps: Step, slots: dict[str, int] | None = None, origin: str = "run", **rest: Any
) -> Observations:
    """Observations of `steps`; `slots` per arm as the live server says them."""
    arms = {a: ArmObservation(slots=n, slots_source="/props") for a, n in (slots or {}).items()}
    fields: dict[str, Any] = {"arms": arms, "steps": list(steps), "origin": origin}
    return Observations(**fields | rest)


def verdicts(study: Spec, observations: Observations, **rest: Any) -> Verdicts:
    return judge(study, observations, spec_sha256="0" * 64, **rest)


def result(found: Verdicts | Sequence[CheckResult], check: str, /, **place: Any) -> CheckResult:
    """The one result of `check` at `place` (arm and other coordinates)."""
    results = found.checks if isinstance(found, Verdicts) else found
    here = [
        r
        for r in results
        if r.check == check and all({"arm": r.arm, **r.at}.get(k) == v for k, v in place.items())
    ]
    assert len(here) == 1, [r.key for r in here] or [r.key for r in results]
    return here[0]
