"""The spec does not say which version of the engine.

## What it checks
`engine.version` is stated, unless the engine is the embedded one, whose version is that of its
package.

## Why it misleads
Defaults change between builds: the number of slots, fitting, the draft length, the whole scheduler.
A command line without a version describes a family of experiments.

## Bad
```yaml
engine:
  kind: llama.cpp
  binary: llama-server  # warning: BS313
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off"}
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
Write what `llama-server --version`, `vllm --version` or `ollama --version` prints. The run reads
the version back and compares it.

## References
The judge's identity check: docs/checks.md.
"""

from collections.abc import Iterator

from benchspec.lint.arm import Arm
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, by_place, names

RULE = Rule("BS313", "version-unpinned", "warning")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per engine."""
    unpinned = [arm for arm in subject.arms if _unpinned(arm)]
    for path, arms in by_place(unpinned, _place):
        yield Fact(
            "The version of the engine is not stated, and its defaults change between versions.",
            path,
            "add `version: ...` to the engine",
            arms=names(arms),
            affects=subject.affected(arms),
        )


def _unpinned(arm: Arm) -> bool:
    engine = arm.engine
    return engine is not None and not engine.version and engine.binary != "embedded"


def _place(arm: Arm) -> tuple[str | int, ...]:
    stated = [
        name for name in ("binary", "command", "attach") if arm.engine and getattr(arm.engine, name)
    ]
    return arm.part("engine", stated[0] if stated else "kind")
