"""There are not as many seeds as repeats.

## What it checks
`seeds`, where stated, has one entry per repeat, and no entry twice.

## Why it misleads
A repeat with another's seed sends the same prompts again: it repeats the timing and not the
workload, and the spread comes out too small.

## Bad
```yaml
repeats: 3
seeds: [1, 2]  # warning: BS512
```

## Good
```yaml
repeats: 3
seeds: [1, 2, 3]
```

## Fix
List one seed per repeat, or delete `seeds`; benchspec then counts from 1.

## References
The spec language: docs/spec.md, `seeds`.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS512", "seeds-do-not-match-repeats", "warning")


def check(subject: Subject) -> Iterator[Fact]:
    """At most one fact."""
    seeds, repeats = subject.spec.seeds, subject.spec.repeats
    if seeds and (len(seeds) != repeats or len(set(seeds)) < len(seeds)):
        what = (
            f"{len(seeds)} seeds for {repeats} repeats" if len(seeds) != repeats else "a seed twice"
        )
        yield Fact(
            f"There is {what}." if what.startswith("a ") else f"There are {what}.",
            ("seeds",),
            "list one seed per repeat",
            related=((("repeats",), "the repeats"),),
            affects=subject.affected(),
        )
