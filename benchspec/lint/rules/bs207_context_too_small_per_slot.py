"""A request is longer than the context that one slot has.

## What it checks
Prompt plus output (and the longest step of `load.context`) against the context of one slot.
llama.cpp divides `ctx-size` by `parallel` unless the KV cache is unified, and pads both to
multiples of 256.

## Why it misleads
llama.cpp answers such a request with HTTP 400 or stops it early; Ollama drops the head of the
prompt. What is then measured is another workload, or nothing.

## Bad
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 1024, n-gpu-layers: 99, fit: "off"}  # error: BS207
workload:
  label: {material: english-prose, context_tokens: 400, speculation: none}
  prompt: {tokens: 300, unique: true}
  output: {tokens: 100, forced: true}
```

## Good
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 2048, n-gpu-layers: 99, fit: "off"}
workload:
  label: {material: english-prose, context_tokens: 400, speculation: none}
  prompt: {tokens: 300, unique: true}
  output: {tokens: 100, forced: true}
```

## Fix
Raise the context to slots x (prompt + output), with some room for the chat template.

## References
llama.cpp, src/llama-context.cpp: `n_ctx_seq`; error `exceed_context_size_error`.
"""

from collections.abc import Iterator

from benchspec.lint.arm import CONTEXT_SETTING, Arm
from benchspec.lint.capacity import request_tokens, shares, slot_context
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, names

RULE = Rule("BS207", "context-too-small-per-slot", "error")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per arm whose slots are too small."""
    for arm in subject.arms:
        needed, context = request_tokens(arm, subject.spec.load), slot_context(arm)
        if needed is None or context is None or needed <= context:
            continue
        setting = CONTEXT_SETTING[arm.kind]
        prompt = (
            ("load", "context") if subject.spec.load.context else arm.part("workload", "prompt")
        )
        yield Fact(
            f"A request of {needed} tokens does not fit into a slot of {context}{_sum(arm)}.",
            arm.place(setting),
            f"raise `{setting}` to {needed * shares(arm)} or more",
            related=((prompt, "the prompt"), (arm.part("workload", "output"), "the output")),
            arms=names([arm]),
            affects=subject.affected([arm]),
        )


def _sum(arm: Arm) -> str:
    share = shares(arm)
    return f" ({arm.number('ctx-size')} / {share} slots, in steps of 256)" if share > 1 else ""
