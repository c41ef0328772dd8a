"""The server decides per request which model to load.

## What it checks
llama.cpp is not started as a router (`models-dir`, `models-preset`), and does not unload its model
when idle (`sleep-idle-seconds`).

## Why it misleads
A router starts a server per model and passes requests on, so times include the hop, the load, and
another process' settings. A server that sleeps pays the load again in the next request.

## Bad
```yaml
engine:
  kind: llama.cpp
  version: b11434
  command: llama-server --models-dir models -np 4 -c 8192 -ngl 99 -fit off  # error: BS325
```

## Good
```yaml
engine:
  kind: llama.cpp
  version: b11434
  command: llama-server -m model.gguf -np 4 -c 8192 -ngl 99 -fit off
```

## Fix
Start the server with one model.

## References
llama.cpp, tools/server: router mode.
"""

from collections.abc import Iterator

from benchspec.lint.arm import Arm
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, by_setting, names

RULE = Rule("BS325", "router-mode", "error")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per place."""
    for path, name, arms in by_setting(subject.arms, _routes):
        yield Fact(
            f"`{name}`: models are loaded while requests wait, and that is in the times.",
            path,
            "start the server with one model, and keep it loaded",
            arms=names(arms),
            affects=subject.affected(arms),
        )


def _routes(arm: Arm) -> str:
    """The setting that makes loading part of a request, or nothing."""
    for name in ("models-dir", "models-preset"):
        if arm.value(name):
            return name
    return "sleep-idle-seconds" if (arm.number("sleep-idle-seconds") or -1) > 0 else ""
