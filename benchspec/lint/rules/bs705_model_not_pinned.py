"""The model file is not identified by its digest.

## What it checks
A model that benchspec loads or fetches (`file:`, `pypi:`, `hf:`) has `sha256`.

## Why it misleads
"Llama 3.1 8B Q4_K_M" is a dozen files, from several people, in several versions, and they differ in
speed. A download without a digest also needs `--trust`.

## Bad
```yaml
model:
  name: Llama-3.1-8B-Instruct Q4_K_M
  source: file:llama-3.1-8b-instruct-q4_k_m.gguf  # warning: BS705
```

## Good
```yaml
model:
  name: Llama-3.1-8B-Instruct Q4_K_M
  source: file:llama-3.1-8b-instruct-q4_k_m.gguf
  sha256: 0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0
```

## Fix
Write what `sha256sum FILE` prints. The run compares it.

## References
The judge's identity check: docs/checks.md.
"""

from collections.abc import Iterator

from benchspec.lint.arm import Arm
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, by_place, names

RULE = Rule("BS705", "model-not-pinned", "warning")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per model."""
    loose = [arm for arm in subject.arms if _is_loose(arm)]
    for path, arms in by_place(loose, lambda arm: arm.part("model", "source")):
        yield Fact(
            "The model file has no digest, so nobody can be sure to have the same one.",
            path,
            "add `sha256: ...`",
            arms=names(arms),
            affects=subject.affected(arms),
        )


def _is_loose(arm: Arm) -> bool:
    source = arm.model.source
    return bool(source) and source != "served" and not arm.model.sha256 and not arm.attached
