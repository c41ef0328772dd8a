"""Two arms are compared that differ in more than one thing.

## What it checks
Arms that a hypothesis compares (`at` and `over`), or that `control_for` joins, differ in one
factor, or other arms lead from one to the other one factor at a time. Without a declared
comparison, every arm has a neighbour that differs in one factor. Settings that make one change
together count as one: speculation and its length, K and V cache types, the split and its
all-reduce, slots and a context that grows with them. Logging and ports do not count.

## Why it misleads
If context, slots and prompt changed together, the difference has three possible causes and the spec
cannot say which. A reader will take the one in the title.

## Bad
```yaml
arms:
  - {id: A}
  - {id: B, engine: {flags: {flash-attn: "on", cache-type-k: q8_0}}}
hypotheses:
  - id: H1
    claim: Flash attention makes one stream at least 1.1 times as fast.
    test:
      metric: stream_tok_s
      at: {arm: B, concurrency: 1}
      over: {arm: A}  # error: BS501
      relation: ">="
      value: 1.1
```

## Good
```yaml
arms:
  - {id: A}
  - {id: B, engine: {flags: {flash-attn: "on"}}}
  - {id: C, engine: {flags: {flash-attn: "on", cache-type-k: q8_0}}}
hypotheses:
  - id: H1
    claim: Flash attention makes one stream at least 1.1 times as fast.
    test:
      metric: stream_tok_s
      at: {arm: B, concurrency: 1}
      over: {arm: A}
      relation: ">="
      value: 1.1
```

## Fix
Add an arm between the two for each further factor, or change only one.

## References
The judge's decomposition and control checks: docs/checks.md.
"""

from collections.abc import Iterable, Iterator

from benchspec.lint.comparison import Pair, factors
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, names

RULE = Rule("BS501", "arms-confounded", "error")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per declared comparison; without any, one per arm that stands alone."""
    yield from map(_declared, subject.unbridged)
    if not subject.pairs and len(subject.arms) > 1:
        yield from _alone(subject)


def _declared(pair: Pair) -> Fact:
    found = factors(pair.arm, pair.base)
    return Fact(
        f"Arms {pair.arm.id} and {pair.base.id} are compared and differ in {_and(found)}: the "
        "difference cannot be put down to one of them.",
        pair.path,
        "add an arm between them for each factor, or change only one",
        related=tuple((path, f"{pair.arm.id}: {name}") for name, path in found.items()),
        arms=names([pair.arm, pair.base]),
        affects=(pair.hypothesis,) if pair.hypothesis else (),
    )


def _alone(subject: Subject) -> Iterator[Fact]:
    for arm in subject.arms[1:]:
        if {arm.id} in subject.groups:
            nearest = min(
                (factors(arm, other) for other in subject.arms if other is not arm), key=len
            )
            yield Fact(
                f"Arm {arm.id} differs from every other arm in more than one thing "
                f"({_and(nearest)} from the nearest).",
                arm.path,
                "add an arm between them for each factor",
                arms=names([arm]),
                affects=subject.affected([arm]),
                severity="warning",
            )


def _and(found: Iterable[str]) -> str:
    *most, last = found
    return f"{', '.join(most)} and {last}" if most else last
