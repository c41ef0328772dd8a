"""One card pretends to be several.

## What it checks
`GGML_CUDA_DEVICES` (virtual devices on real ones) is not set.

## Why it misleads
It is a developer's tool for trying multi-card code on one card. Utilisation, traffic and speed of
such a "split" say nothing about several cards, and NCCL is off.

## Bad
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off"}
  env:
    GGML_CUDA_DEVICES: "2"  # error: BS324
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
Remove the variable.

## References
llama.cpp, ggml/src/ggml-cuda/ggml-cuda.cu.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, by_setting, names

RULE = Rule("BS324", "virtual-devices", "error")

_NAME = "GGML_CUDA_DEVICES"


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per place."""
    fake = [arm for arm in subject.arms if (arm.number(_NAME) or 0) > 0]
    for path, _, arms in by_setting(fake, lambda _arm: _NAME):
        yield Fact(
            "Virtual devices are on: the cards of this study share one card.",
            path,
            "remove the variable",
            arms=names(arms),
            affects=subject.affected(arms),
        )
