"""How many requests an arm serves at once, and how much context each of them gets.

llama.cpp: src/llama-context.cpp and tools/server/server-context.cpp, build 11434: the context is
padded up to a multiple of 256 and, unless the KV cache is unified, divided by the slots.
"""

from __future__ import annotations

from benchspec.lint.arm import CONTEXT_SETTING, Arm
from benchspec.spec.models import Load

_PAD = 256


def declared_slots(arm: Arm) -> int | None:
    """The number of requests served at once that the engine is told; None where it is not.

    `engine.slots` is told by nobody but the reader, so it declares them only for a server that runs
    already, or an engine whose settings are not known.
    """
    stated = arm.number(arm.slot_setting) if arm.slot_setting else None
    if arm.kind == "mlx-lm" and stated is not None:  # the server takes the larger of the two
        stated = max(stated, arm.number("prompt-concurrency") or 0)
    if arm.kind == "vllm" and stated is not None:  # the setting is per data-parallel rank
        stated *= arm.number("data-parallel-size") or 1
    if stated is not None and stated > 0:
        return stated
    takes_word = arm.attached or arm.slot_setting is None
    return arm.engine.slots if arm.engine and takes_word else None


def slots(arm: Arm) -> int | None:
    """The number of requests served at once, as far as the spec says it at all."""
    return declared_slots(arm) or (arm.engine.slots if arm.engine else None)


def unified(arm: Arm) -> bool:
    """llama.cpp: True when all slots share one pool (asked for, or forced by automatic slots)."""
    return arm.value("kv-unified") is True or declared_slots(arm) is None


def shares(arm: Arm) -> int:
    """Into how many parts the engine divides its context: llama.cpp by slots, if it is not one pool."""
    return 1 if arm.kind != "llama.cpp" or unified(arm) else slots(arm) or 1


def slot_context(arm: Arm) -> int | None:
    """Tokens of context that one request can use; None where it is not stated."""
    name = CONTEXT_SETTING.get(arm.kind)
    total = arm.number(name) if name else None
    if not total or total < 0:
        return None
    if arm.kind != "llama.cpp":
        return total
    context = _per_share(arm, total)
    cap = arm.number("kv-unified-per-slot")
    return min(context, cap) if cap else context


def granted_context(arm: Arm) -> int | None:
    """What llama.cpp makes of `ctx-size`, in tokens for all slots together; None where it is not
    stated, or left to the server."""
    total = arm.number("ctx-size")
    if not total or total < 0:
        return None
    return _per_share(arm, total) * shares(arm)


def request_tokens(arm: Arm, load: Load) -> int | None:
    """Tokens of the longest request, prompt and output; None where either is not stated. The last
    turn of a conversation carries all turns.

    A chat template adds some to this.
    """
    prompt = max(load.context, default=None) or arm.workload.prompt.tokens
    output = arm.workload.output.tokens
    return (prompt + output) * arm.workload.turns if prompt and output else None


def _per_share(arm: Arm, total: int) -> int:
    """What llama.cpp makes of `total` tokens of context in each of its shares."""
    return _padded(_padded(total) // shares(arm))


def _padded(tokens: int) -> int:
    return -(-tokens // _PAD) * _PAD
