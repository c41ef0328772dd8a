"""A ratio divides a figure by itself.

## What it checks
`over` names at least one coordinate that differs from `at`; what it does not name it inherits.

## Why it misleads
The quotient is 1 by construction, and every `>= 1` is supported.

## Bad
```yaml
hypotheses:
  - id: H1
    claim: The throughput holds at eight streams.
    test:
      metric: aggregate_tok_s
      at: {concurrency: 8}
      over: {concurrency: 8}  # error: BS112
      relation: ">="
      value: 0.9
```

## Good
```yaml
hypotheses:
  - id: H1
    claim: The throughput holds at eight streams.
    test: {metric: aggregate_tok_s, at: {concurrency: 8}, over: {concurrency: 4}, relation: ">=", value: 0.9}
```

## Fix
Name in `over` what the figure is compared with.

## References
The spec language: docs/spec.md, `at` and `over`.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS112", "ratio-of-itself", "error")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per hypothesis."""
    for tested in subject.tests:
        if tested.test.over is None:
            continue
        at = tested.test.at.model_dump(exclude_none=True)
        over = tested.test.over.model_dump(exclude_none=True)
        if all(at.get(name) == value for name, value in over.items()):
            yield Fact(
                f"{tested.id} divides a figure by itself: `over` names nothing that differs from "
                "`at`.",
                (*tested.path, "test", "over"),
                "name the arm or the step that it is compared with",
                affects=(tested.id,),
            )
