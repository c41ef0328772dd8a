"""The value is accepted and then fails or does nothing.

## What it checks
Values that an engine's parser takes and its back end no longer supports, such as `split-mode: row`
of llama.cpp on CUDA; and variables that are read at compile time only.

## Why it misleads
The flag is in the post, so readers credit it with the result. With `-sm row` the load fails on CUDA
and HIP; with a compile-time variable everything runs exactly as without it.

## Bad
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off", split-mode: row}  # error: BS304
```

## Good
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off", split-mode: layer}
```

## Fix
Use a value that works: `layer` or `tensor` for a split over cards.

## References
llama.cpp, src/llama-model.cpp: no split buffer type in the CUDA back end.
"""

from collections.abc import Iterator

from benchspec.lint.arm import Arm
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, by_setting, names
from benchspec.spec.problems import Path

RULE = Rule("BS304", "dead-value", "error")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per setting and place."""
    for name in dict.fromkeys(name for arm in subject.arms for name in _dead(arm)):
        dead = [arm for arm in subject.arms if name in _dead(arm)]
        for path, _, arms in by_setting(dead, lambda _arm, name=name: name):  # type: ignore[misc]
            yield _fact(subject, path, name, arms)


def _fact(subject: Subject, path: Path, name: str, arms: list[Arm]) -> Fact:
    known = arms[0].knowledge
    setting = known.settings[name] if known else None
    alive = [c for c in setting.choices if c not in setting.dead] if setting else []
    note = f": {setting.note}" if setting and setting.note else ""
    return Fact(
        f"`{name} {arms[0].value(name)}` parses, and then it fails or does nothing{note}.",
        path,
        f"use one of {', '.join(alive)}",
        arms=names(arms),
        affects=subject.affected(arms),
    )


def _dead(arm: Arm) -> list[str]:
    settings = arm.knowledge.settings if arm.knowledge else {}
    return [
        name
        for name, use in arm.settings.items()
        if name in settings and str(use.value) in settings[name].dead
    ]
