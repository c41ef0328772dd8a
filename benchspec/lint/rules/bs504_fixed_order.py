"""Arms are measured one after the other, always in the same order.

## What it checks
A study with two or more arms has `order: interleaved`, which is the default.

## Why it misleads
Cards get warm, clocks fall, memory fragments. With a fixed order all of that belongs to the last
arm: a card that starts cold does a clip in 53 seconds and needs 56 after twelve of them.

## Bad
```yaml
order: fixed  # warning: BS504
arms:
  - {id: A}
  - {id: B, engine: {flags: {flash-attn: "on"}}}
```

## Good
```yaml
order: interleaved
arms:
  - {id: A}
  - {id: B, engine: {flags: {flash-attn: "on"}}}
```

## Fix
Delete the line, or waive this if restarting the engine between arms is too dear, and say so.

## References
Mytkowicz et al., Producing Wrong Data Without Doing Anything Obviously Wrong, ASPLOS 2009.
"""

from collections.abc import Iterator

from benchspec.lint.fixes import Put
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, names

RULE = Rule("BS504", "fixed-order", "warning")


def check(subject: Subject) -> Iterator[Fact]:
    """At most one fact."""
    if subject.spec.order == "fixed" and len(subject.arms) > 1:
        yield Fact(
            "The arms are measured in a fixed order, so a drift of the machine looks like an arm.",
            ("order",),
            "write `order: interleaved`",
            arms=names(subject.arms),
            affects=subject.affected(),
            fix=Put((), "order", "interleaved"),
        )
