"""Two arms are the same.

## What it checks
No two arms are equal after they are merged over the base.

## Why it misleads
The comparison will be of a configuration with itself. Often it is a flag that went to the wrong
arm, or an alias of one that the base already sets.

## Bad
```yaml
arms:
  - {id: A}
  - {id: B, engine: {flags: {np: 4}}}  # warning: BS514
```

## Good
```yaml
arms:
  - {id: A}
  - {id: B, engine: {flags: {np: 2}}}
```

## Fix
Change what was meant to differ, or delete the arm. As a test of the instrument (an A/A comparison)
it is a good idea: waive this and say so.

## References
Kohavi et al., Trustworthy Online Controlled Experiments, on A/A tests.
"""

from collections.abc import Iterator
from itertools import combinations

from benchspec.lint.comparison import factors
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, names

RULE = Rule("BS514", "twin-arms", "warning", applies="run")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per pair."""
    for one, other in combinations(subject.arms, 2):
        if not factors(one, other):
            yield Fact(
                f"Arms {one.id} and {other.id} are the same.",
                other.path,
                "change what was meant to differ, or delete one",
                related=((one.path, f"arm {one.id}"),),
                arms=names([one, other]),
                affects=subject.affected([one, other]),
            )
