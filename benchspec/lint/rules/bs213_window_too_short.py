"""A sustained step ends before it has settled.

## What it checks
With `mode: sustained` and `requests: N`, every step has at least max(5 x C, 20) requests.

## Why it misleads
The throughput is taken between the moment when C requests are in flight and the last dispatch. With
N near C that window is empty, and what is left is ramp and drain, which read low by about C / 2N.

## Bad
```yaml
load:
  mode: sustained
  concurrency: [1, 4, 8]
  requests: 16  # warning: BS213
```

## Good
```yaml
load:
  mode: sustained
  concurrency: [1, 4, 8]
  requests: 40
```

## Fix
Raise `requests` to five times the largest step, or give a `duration`.

## References
The judge's aggregate check: docs/checks.md.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS213", "window-too-short", "warning", applies="run")


def check(subject: Subject) -> Iterator[Fact]:
    """At most one fact, about the largest step."""
    load, steps = subject.spec.load, subject.concurrency
    if load.mode != "sustained" or load.requests is None or not steps:
        return
    needed = max(5 * steps[-1], 20)
    if load.requests < needed:
        yield Fact(
            f"{load.requests} requests are too few for a steady window with {steps[-1]} in flight.",
            ("load", "requests"),
            f"send {needed} or more",
            related=((("load", "concurrency"), "the steps"),),
            affects=subject.affected(),
        )
