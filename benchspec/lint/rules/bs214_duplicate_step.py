"""A step of the sweep is there twice.

## What it checks
`load.concurrency`, `load.rate` and `load.context` name every step once.

## Why it misleads
The step is measured twice as often as the others and looks more certain than they are. Repeats are
what `repeats` is for.

## Bad
```yaml
load:
  mode: burst
  concurrency: [1, 2, 4, 4, 8]  # warning: BS214
```

## Good
```yaml
load:
  mode: burst
  concurrency: [1, 2, 4, 8]
```

## Fix
Delete the second one; raise `repeats` if you want more of each.

## References
The spec language: docs/spec.md, `load`.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS214", "duplicate-step", "warning")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per list."""
    load = subject.spec.load
    for name, steps in (
        ("concurrency", load.concurrency),
        ("rate", load.rate),
        ("context", load.context),
    ):
        twice = [step for index, step in enumerate(steps) if step in steps[:index]]
        if twice:
            yield Fact(
                f"The step {twice[0]:g} is in `{name}` more than once.",
                ("load", name),
                "name every step once",
                affects=subject.affected(),
            )
