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

from benchspec.lint.arm import Arm
from benchspec.lint.comparison import Signature, signature
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, names

RULE = Rule("BS514", "twin-arms", "warning", applies="run")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per arm that equals an earlier one."""
    seen: list[tuple[Arm, Signature]] = []
    for arm in subject.arms:
        mine = signature(arm)
        twin = next((other for other, theirs in seen if theirs == mine), None)
        seen.append((arm, mine))
        if twin is not None:
            yield Fact(
                f"Arms {twin.id} and {arm.id} are the same.",
                arm.path,
                "change what was meant to differ, or delete one",
                related=((twin.path, f"arm {twin.id}"),),
                arms=names([twin, arm]),
                affects=subject.affected([twin, arm]),
            )
