"""A setting is left to a default that depends on the machine.

## What it checks
Settings whose default is chosen by memory, device, model or free memory, and that change what is
measured. llama.cpp: `ctx-size`; on GPUs `n-gpu-layers`, on CPUs `threads`; with several cards
`tensor-split`. vLLM: `max-model-len`, `gpu-memory-utilization`. SGLang: `context-length`,
`mem-fraction-static`. Ollama: `num-ctx`.

## Why it misleads
Whoever repeats the study on a similar machine runs something else: Ollama's context is 4096, 32768
or 262144 by the memory of the card, llama.cpp splits layers by what is free at that moment.

## Bad
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, n-gpu-layers: 99, fit: "off"}  # info: BS311
```

## Good
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off"}
```

## Fix
State the value that you want, or the one that the engine chose.

## References
The engines' defaults by device: `benchspec explain default-not-pinned`, and their own
documentation.
"""

from collections.abc import Iterator

from benchspec.lint.arm import Arm
from benchspec.lint.physics import split
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, by_place, names

RULE = Rule("BS311", "default-not-pinned", "info", applies="run")

_BY_KIND = {
    "llama.cpp": ("ctx-size",),
    "vllm": ("max-model-len", "gpu-memory-utilization"),
    "sglang": ("context-length", "mem-fraction-static"),
    "ollama": ("num-ctx",),
}


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per line where settings are missing."""
    loose = [arm for arm in subject.arms if arm.stated_in_full and _loose(arm)]
    for path, arms in by_place(loose, lambda arm: arm.flags_place):
        missing = list(dict.fromkeys(name for arm in arms for name in _loose(arm)))
        yield Fact(
            f"{_and(missing)} {'is' if len(missing) == 1 else 'are'} left to the engine, which "
            "chooses by machine or model.",
            path,
            "state them",
            arms=names(arms),
            affects=subject.affected(arms),
        )


def _loose(arm: Arm) -> list[str]:
    wanted = list(_BY_KIND.get(arm.kind, ()))
    if arm.kind == "llama.cpp":
        gpu = any(device.kind == "gpu" for device in arm.devices)
        wanted += ["n-gpu-layers"] if gpu else ["threads"] if arm.devices else []
        wanted += ["tensor-split"] if split(arm) == "layer" else []
    return [name for name in wanted if name not in arm.settings]


def _and(words: list[str]) -> str:
    quoted = [f"`{word}`" for word in words]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]]) if len(quoted) > 1 else quoted[0]
