"""Some arms are tuned by the engine and the others are not.

## What it checks
llama.cpp's fitting is on in all arms or in none. It counts as off where llama.cpp refuses to fit,
as with a tensor split.

## Why it misleads
Arms A and B then run with the context and the offload that fitted the free memory, C with what was
written. The difference is put down to the split.

## Bad
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99}  # error: BS507
  env: {GGML_CUDA_ALLREDUCE: internal}
arms:
  - {id: B, engine: {flags: {split-mode: layer}}}
  - {id: C, engine: {flags: {split-mode: tensor}}}
```

## Good
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off"}
  env: {GGML_CUDA_ALLREDUCE: internal}
arms:
  - {id: B, engine: {flags: {split-mode: layer}}}
  - {id: C, engine: {flags: {split-mode: tensor}}}
```

## Fix
Turn fitting off in every arm.

## References
llama.cpp, common/fit.cpp: fitting is refused with `-sm tensor`.
"""

from collections.abc import Iterator

from benchspec.lint.fitting import fits
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, by_place, names

RULE = Rule("BS507", "auto-tuned-arms", "error")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per line where fitting is on."""
    tuned = [arm for arm in subject.arms if fits(arm)]
    fixed = [arm for arm in subject.arms if not fits(arm)]
    if not fixed:
        return
    for path, arms in by_place(tuned, lambda arm: arm.place("fit")):
        yield Fact(
            f"Arms {', '.join(names(arms))} are fitted to the free memory, "
            f"{', '.join(names(fixed))} not.",
            path,
            arms[0].how_to_set("fit", '"off"'),
            arms=names([*arms, *fixed]),
            fix=arms[0].fix_for("fit", '"off"'),
            affects=subject.affected([*arms, *fixed]),
        )
