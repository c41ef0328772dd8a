"""How tokens are chosen is left to the server, where it matters.

## What it checks
`sampling.temperature` is stated in every arm when an arm speculates, or when a hypothesis looks at
outputs (`output-agreement`, `output-sanity`, `parity`, `acceptance`).

## Why it misleads
Acceptance depends on the temperature, and the default comes from the engine, from the model file or
from `generation_config.json`: 0.8 here, 1.0 there. Two servers then draft against different texts.

## Bad
```yaml
workload:
  label: {material: english-prose, context_tokens: 128, speculation: mtp k=3}
  prompt: {tokens: 64, unique: true}
  output: {tokens: 64, forced: true}
  sampling: {seed: 1}  # warning: BS215
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off", spec-type: draft-mtp}
```

## Good
```yaml
workload:
  label: {material: english-prose, context_tokens: 128, speculation: mtp k=3}
  prompt: {tokens: 64, unique: true}
  output: {tokens: 64, forced: true}
  sampling: {temperature: 0, seed: 1}
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off", spec-type: draft-mtp}
```

## Fix
Write `sampling: {temperature: 0, seed: 1}`, or the temperature that is used in practice.

## References
llama.cpp, common/common.cpp: sampling defaults are read from the GGUF; vLLM: `--generation-config
auto`.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.speculation import speculates
from benchspec.lint.subject import Subject, by_place, names

RULE = Rule("BS215", "sampling-not-pinned", "warning")

_OUTPUTS = frozenset({"output-agreement", "output-sanity", "parity", "acceptance", "speculation"})


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per sampling that is not pinned."""
    asked = any(tested.uses in _OUTPUTS for tested in subject.tests)
    if not asked and not any(speculates(arm) for arm in subject.arms):
        return
    loose = [a for a in subject.arms if a.serves and a.workload.sampling.temperature is None]
    for path, arms in by_place(loose, lambda arm: arm.part("workload", "sampling")):
        yield Fact(
            "The temperature is not stated, and acceptance and outputs depend on it.",
            path,
            "add `temperature: 0`, or the one that is used in practice",
            arms=names(arms),
            affects=subject.affected(arms),
        )
