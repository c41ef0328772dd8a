"""The sweep has no step with a single request.

## What it checks
A closed loop with more than one request in flight also has the step 1.

## Why it misleads
One stream is the yardstick for all others: how much a batch gains, how far summed per-stream rates
exceed what was delivered, and how long a request takes that waits for nobody. Without it a server
that handles requests one by one can look parallel.

## Bad
```yaml
load:
  mode: burst
  concurrency: [2, 4, 8]  # warning: BS204
hypotheses:
  - id: H1
    claim: Four streams give at least 1.2 times the throughput of two.
    test: {metric: aggregate_tok_s, at: {concurrency: 4}, over: {concurrency: 2}, relation: ">=", value: 1.2}
```

## Good
```yaml
load:
  mode: burst
  concurrency: [1, 2, 4, 8]
```

## Fix
Add 1 to `load.concurrency`.

## References
The judge's scaling and aggregate checks: docs/checks.md.
"""

from collections.abc import Iterator

from benchspec.lint.fixes import Extend
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS204", "no-single-stream-step", "warning")


def check(subject: Subject) -> Iterator[Fact]:
    """At most one fact."""
    steps = subject.concurrency
    if steps and steps[-1] > 1 and steps[0] != 1:
        yield Fact(
            f"The sweep starts at {steps[0]} requests in flight; without a single stream there is "
            "nothing to compare the others with.",
            subject.sweep_place,
            "add the step 1",
            affects=subject.affected(),
            fix=Extend(("load", "concurrency"), 1),
        )
