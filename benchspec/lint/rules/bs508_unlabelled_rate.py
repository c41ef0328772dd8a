"""Rates will be published without saying of what.

## What it checks
`workload.label` says `material`, `context_tokens` and `speculation`, in every arm that serves
requests. Where `load.context` sweeps the context, each rate carries its own.

## Why it misleads
The same server on the same card gives 77 tok/s on code and 54 on Chinese prose when it speculates,
and slows down with the context. A rate without these words cannot be compared with any other.

## Bad
```yaml
workload:  # warning: BS508
  prompt: {tokens: 64, unique: true}
  output: {tokens: 64, forced: true}
```

## Good
```yaml
workload:
  label: {material: english-prose, context_tokens: 128, speculation: none}
  prompt: {tokens: 64, unique: true}
  output: {tokens: 64, forced: true}
```

## Fix
Fill in the label. `speculation: none` is an answer, too.

## References
The judge's identity check: docs/checks.md.
"""

from collections.abc import Iterator

from benchspec.lint.arm import Arm
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, by_place, names

RULE = Rule("BS508", "unlabelled-rate", "warning")

_WORDS = ("material", "context_tokens", "speculation")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per label that lacks something."""
    swept = {"context_tokens"} if subject.spec.load.context else set()
    wanted = [word for word in _WORDS if word not in swept]
    unlabelled = [arm for arm in subject.arms if arm.serves and _lacks(arm, wanted)]
    for path, arms in by_place(unlabelled, lambda arm: arm.part("workload", "label")):
        *most, last = _lacks(arms[0], wanted)
        lacking = f"{', '.join(most)} and {last}" if most else last
        yield Fact(
            f"The label does not say {lacking}, so its rates cannot be compared with others.",
            path,
            f"add {lacking} to workload.label",
            arms=names(arms),
            affects=subject.affected(arms),
        )


def _lacks(arm: Arm, wanted: list[str]) -> list[str]:
    label = arm.workload.label
    return [word for word in wanted if label is None or getattr(label, word) is None]
