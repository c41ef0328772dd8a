"""Two repeats cannot decide a threshold.

## What it checks
With `repeats: 2`, no hypothesis rests on a rate or a time. (One repeat is another rule's finding.)

## Why it misleads
Below three repeats the judge calls a threshold inconclusive, however far it is passed: two against
two cannot separate by more than one chance in six.

## Bad
```yaml
repeats: 2  # error: BS511
```

## Good
```yaml
repeats: 3
```

## Fix
Write `repeats: 3`; with three a registered direction can be supported, with four an unregistered
difference.

## References
Exact permutation test: 2 against 2 has one-sided p = 1/6.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, names

RULE = Rule("BS511", "too-few-repeats", "error", applies="run")


def check(subject: Subject) -> Iterator[Fact]:
    """At most one fact."""
    numeric = [tested for tested in subject.tests if tested.needs_repeats]
    if subject.spec.repeats == 2 and numeric:
        yield Fact(
            f"Two repeats leave {', '.join(t.id for t in numeric)} inconclusive.",
            ("repeats",),
            "write `repeats: 3` or more",
            arms=names(subject.arms),
            affects=tuple(t.id for t in numeric),
        )
