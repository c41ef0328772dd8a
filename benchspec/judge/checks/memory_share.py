"""memory-share: what fills the devices, weights or the cache of contexts, and what fits beside them?

Needs: bytes of weights and of the KV cache; or KV tokens, of one arm or of two.

Division: KV bytes / weight bytes; KV tokens x replicas; against the control, KV tokens of both.

Readings
  weights     the weights take more
  contexts    the KV cache takes more: the context that was reserved, not the model, fills the device
  fewer       holds fewer tokens of context than the control (every copy of the weights takes room)
  more        holds more
  unchanged   holds as many (within 2 %): a setting that should change their size did nothing

Silent when: none of these is known.

Value: KV / weights, or KV tokens / those of the control. Source: memory is shared out once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchspec.judge.case import Case
from benchspec.judge.interval import show
from benchspec.judge.lines import Line, attempt, invalid
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.thresholds import limit

NAME = "memory-share"
READINGS = ("weights", "contexts", "fewer", "more", "unchanged")
NEEDS = "bytes of weights and KV cache, or the tokens that it holds in two arms"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per arm with both sizes, one per arm and control with KV tokens."""
    return [*_sizes(case), *_tokens(case)]


def _sizes(case: Case) -> Iterator[CheckResult]:
    for arm in case.arm_ids:
        seen = case.observed(arm)
        if seen.weights_bytes is not None and seen.kv_bytes is not None:
            line = Line(NAME, arm)
            yield attempt(line, partial(_size, line, seen.kv_bytes, seen.weights_bytes), seen)


def _size(line: Line, kv: float, weights: float) -> CheckResult:
    if kv < 0 or weights <= 0:
        raise invalid("bytes of weights are above zero, and none are negative")
    ratio = kv / weights
    return line.judged(
        "contexts" if ratio > 1 else "weights",
        f"KV cache {show(kv / 2**30)} GiB / weights {show(weights / 2**30)} GiB = {show(ratio)}",
        ratio,
        "ratio",
        inputs=[
            Input(name="KV cache", value=kv, unit="B"),
            Input(name="weights", value=weights, unit="B"),
        ],
    )


def _tokens(case: Case) -> Iterator[CheckResult]:
    for arm in case.arm_ids:
        for control in case.controls(arm):
            held = [_held(case, one) for one in (arm, control)]
            if held[0] and held[1]:
                yield _compare(arm, control, held[0], held[1])


def _held(case: Case, arm: str) -> int | None:
    """KV tokens of all replicas together."""
    seen = case.observed(arm)
    return seen.kv_tokens * (seen.replicas or 1) if seen.kv_tokens else None


def _compare(arm: str, control: str, ours: int, theirs: int) -> CheckResult:
    ratio = ours / theirs
    same = abs(ratio - 1) <= limit("memory.same")
    return Line(NAME, arm, {"against": control}).judged(
        "unchanged" if same else "more" if ratio > 1 else "fewer",
        f"{ours} tokens / {theirs} of {control} = {show(ratio)}, {ours - theirs:+} tokens",
        ratio,
        "ratio",
        inputs=[
            Input(name="KV tokens", value=float(ours), unit="tokens"),
            Input(name=f"KV tokens, {control}", value=float(theirs), unit="tokens"),
        ],
    )
