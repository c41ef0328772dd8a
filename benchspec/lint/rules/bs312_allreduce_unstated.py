"""A tensor split does not say how the cards exchange their sums.

## What it checks
llama.cpp with `split-mode: tensor` states `GGML_CUDA_ALLREDUCE` in `engine.env`, unless the devices
are CPUs.

## Why it misleads
There are three implementations: NCCL, an internal one and a plain exchange of copies. Which one
runs depends on what was compiled in and on what fails at start, and the log is silent when it is
NCCL. They differ in traffic and in rounding (BF16 or F32), so they differ in speed, in acceptance
and in the text.

## Bad
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off", split-mode: tensor}  # warning: BS312
```

## Good
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off", split-mode: tensor}
  env: {GGML_CUDA_ALLREDUCE: internal}
```

## Fix
Set the variable to `nccl`, `internal` or `none`. On other back ends than CUDA waive this.

## References
llama.cpp, ggml/src/ggml-cuda/allreduce.cu.
"""

from collections.abc import Iterator

from benchspec.lint.arm import Arm
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, by_place, names

RULE = Rule("BS312", "allreduce-unstated", "warning")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per line that splits."""
    unstated = [arm for arm in subject.arms if _unstated(arm)]
    for path, arms in by_place(unstated, lambda arm: arm.place("split-mode")):
        yield Fact(
            "The split needs an all-reduce, and nothing says which of the three runs.",
            path,
            "add `GGML_CUDA_ALLREDUCE: internal` (or nccl, none) to engine.env",
            arms=names(arms),
            affects=subject.affected(arms),
        )


def _unstated(arm: Arm) -> bool:
    if arm.kind != "llama.cpp" or arm.value("split-mode") != "tensor":
        return False
    if arm.devices and all(device.kind == "cpu" for device in arm.devices):
        return False
    return "GGML_CUDA_ALLREDUCE" not in arm.settings
