"""The KV pool is too small to fill all slots.

## What it checks
Where slots share one pool (llama.cpp with `kv-unified`, vLLM with `num-gpu-blocks-override`): slots
in use x (prompt + output) fits into it.

## Why it misleads
Requests then wait for memory, not for a slot, or are thrown out and computed again. The plateau
lies below the declared slots and looks like the hardware.

## Bad
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 512, kv-unified: true, n-gpu-layers: 99, fit: "off"}  # warning: BS208
workload:
  label: {material: english-prose, context_tokens: 300, speculation: none}
  prompt: {tokens: 200, unique: true}
  output: {tokens: 100, forced: true}
```

## Good
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 2048, kv-unified: true, n-gpu-layers: 99, fit: "off"}
workload:
  label: {material: english-prose, context_tokens: 300, speculation: none}
  prompt: {tokens: 200, unique: true}
  output: {tokens: 100, forced: true}
```

## Fix
Raise the pool to slots x (prompt + output), or declare fewer slots.

## References
vLLM, docs on preemption; llama.cpp, tools/server: `purging slot`.
"""

from collections.abc import Iterator

from benchspec.lint.arm import Arm
from benchspec.lint.capacity import request_tokens, slots
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, names

RULE = Rule("BS208", "kv-pool-below-slots", "warning")

_VLLM_BLOCK = 16  # tokens per block where block-size is not stated


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per arm."""
    most = subject.concurrency[-1] if subject.concurrency else None
    for arm in subject.arms:
        tokens, pool, count = request_tokens(arm, subject.spec.load), _pool(arm), slots(arm)
        if tokens is None or pool is None or count is None:
            continue
        setting, size = pool
        used = min(count, most or count)
        if tokens <= size < used * tokens:
            yield Fact(
                f"{used} slots x {tokens} tokens = {used * tokens}, and the pool holds {size}: "
                f"only {size // tokens} requests fit at once.",
                arm.place(setting),
                f"raise the pool to {used * tokens} tokens or more",
                arms=names([arm]),
                affects=subject.affected([arm]),
            )


def _pool(arm: Arm) -> tuple[str, int] | None:
    """The setting that bounds the shared pool, and the pool in tokens."""
    if arm.kind == "llama.cpp" and arm.value("kv-unified") is True:
        size = arm.number("ctx-size")
        return ("ctx-size", size) if size else None
    blocks = arm.number("num-gpu-blocks-override") if arm.kind == "vllm" else None
    if not blocks:
        return None
    return "num-gpu-blocks-override", blocks * (arm.number("block-size") or _VLLM_BLOCK)
