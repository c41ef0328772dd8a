"""Arms ask an attached server to be started differently.

## What it checks
Arms that attach to the same address do not differ in flags, command line or environment.

## Why it misleads
benchspec never restarts a server that it attached to, so all these arms measure one and the same
configuration, and the report would show a comparison.

## Bad
```yaml
engine: {kind: llama.cpp, attach: "http://127.0.0.1:8080", version: b11434}
arms:
  - {id: A, engine: {flags: {parallel: 4}}}
  - {id: B, engine: {flags: {parallel: 8}}}  # error: BS314
load:
  mode: burst
  concurrency: [1, 4, 8, 16]
```

## Good
```yaml
engine: {kind: llama.cpp, attach: "http://127.0.0.1:8080", version: b11434, flags: {parallel: 4}}
arms:
  - {id: A, workload: {sampling: {temperature: 0}}}
  - {id: B, workload: {sampling: {temperature: 1}}}
```

## Fix
Start one server per arm and attach each arm to its own, or let benchspec start the engine.

## References
The spec language: docs/spec.md, `engine.attach`.
"""

from collections.abc import Iterator

from benchspec.lint.arm import Arm
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, names

RULE = Rule("BS314", "attached-arm-differs", "error", applies="run")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per arm that differs from the first one at its address."""
    first: dict[str, Arm] = {}
    for arm in subject.arms:
        address = arm.engine.attach if arm.engine else None
        if not address:
            continue
        other = first.setdefault(address, arm)
        different = _different(arm, other)
        if different:
            yield Fact(
                f"Arms {other.id} and {arm.id} attach to one server and differ in "
                f"{', '.join(different[:5])}, which only a restart could change.",
                arm.place(different[0]),
                "attach each arm to a server of its own",
                related=((other.place(different[0]), f"arm {other.id}"),),
                arms=names([other, arm]),
                affects=subject.affected([other, arm]),
            )


def _different(one: Arm, other: Arm) -> list[str]:
    names_ = dict.fromkeys((*one.settings, *other.settings))
    return [name for name in names_ if one.value(name) != other.value(name)]
