"""The first request of a fresh engine is measured.

## What it checks
`warmup.requests` is at least 1, where benchspec starts the engine.

## Why it misleads
The first request pays for kernels that are compiled or loaded on first use, for cold caches and
clocks that have not risen. llama.cpp's own warm-up is one tiny decode and does not touch the large
shapes.

## Bad
```yaml
warmup: {requests: 0}  # warning: BS210
```

## Good
```yaml
warmup: {requests: 2}
```

## Fix
Write `warmup: {requests: 2}`; warm-up requests are not observations. If the cold start is the
question, waive this and say so.

## References
Barrett et al., Virtual Machine Warmup Blows Hot and Cold, OOPSLA 2017.
"""

from collections.abc import Iterator

from benchspec.lint.fixes import Put
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, names

RULE = Rule("BS210", "no-warmup", "warning", applies="run")


def check(subject: Subject) -> Iterator[Fact]:
    """At most one fact."""
    started = [arm for arm in subject.arms if arm.serves and not arm.attached]
    if started and subject.spec.warmup.requests == 0:
        yield Fact(
            "No warm-up request is sent, so the first observation pays for the start.",
            ("warmup", "requests"),
            "write 1 or more",
            arms=names(started),
            affects=subject.affected(started),
            fix=Put(("warmup",), "requests", "2"),
        )
