"""The command line says one thing and `flags` another.

## What it checks
Where the base engine has both `command` and `flags`, no setting has two values. (An arm's flags
over the base's command are what arms are for.)

## Why it misleads
`flags` are added to the command and win, so the pasted line is not what ran.

## Bad
```yaml
engine:
  kind: llama.cpp
  version: b11434
  command: llama-server -m x.gguf -np 2 -c 8192 -ngl 99 -fit off
  flags: {parallel: 4}  # warning: BS326
```

## Good
```yaml
engine:
  kind: llama.cpp
  version: b11434
  command: llama-server -m x.gguf -np 4 -c 8192 -ngl 99 -fit off
```

## Fix
Keep one of the two.

## References
The spec language: docs/spec.md, `engine.command`.
"""

from collections.abc import Iterator

from benchspec.knowledge import engines
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS326", "command-and-flags-disagree", "warning")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per setting."""
    engine = subject.spec.engine
    if engine is None or not engine.command or not engine.flags:
        return
    command = engines.effective(engine.kind, flags={}, command=engine.command, env={})
    flags = engines.effective(engine.kind, flags=engine.flags, command=None, env={})
    for flag in engine.flags:
        name = engines.canonical(engine.kind, flag)
        if name in command and name in flags and command[name].value != flags[name].value:
            yield Fact(
                f"The command line sets {name} to {command[name].value} and `flags` to "
                f"{flags[name].value}; the flags win.",
                ("engine", "flags", flag),
                "keep one of the two",
                related=((("engine", "command"), "the command line"),),
                affects=subject.affected(),
            )
