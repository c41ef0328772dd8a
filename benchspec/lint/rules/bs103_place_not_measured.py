"""A hypothesis looks at a place where nothing is measured.

## What it checks
`at` and `over` name only steps of the load: a concurrency, a rate, a context length or a cache
state that is in the sweep, and a material that some workload label has. A place beyond the end of
the sweep is another rule's finding, extrapolation-without-model.

## Why it misleads
The verdict will be "not run", and it takes the whole run to find that out.

## Bad
```yaml
hypotheses:
  - id: H1
    claim: Six streams give at least 1.5 times the throughput of one.
    test:
      metric: aggregate_tok_s
      at: {concurrency: 6}  # error: BS103
      over: {concurrency: 1}
      relation: ">="
      value: 1.5
```

## Good
```yaml
hypotheses:
  - id: H1
    claim: Four streams give at least 1.5 times the throughput of one.
    test: {metric: aggregate_tok_s, at: {concurrency: 4}, over: {concurrency: 1}, relation: ">=", value: 1.5}
```

## Fix
Add the step to the load, or look at one that is there.

## References
The spec language: docs/spec.md, `at` and `over`.
"""

from collections.abc import Iterator

from benchspec.lint.places import named, sweep
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS103", "place-not-measured", "error")

_OF_THE_LOAD = ("concurrency", "rate", "cache")
"""Without them in the load no step has one; a context and a material stand elsewhere, too."""


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per coordinate."""
    for coordinate in named(subject):
        steps = sweep(subject, coordinate.name)
        if not steps and _missing(subject, coordinate.name):
            yield Fact(
                f"{coordinate.hypothesis} looks at {coordinate.name} {coordinate.value}, and the "
                f"load has no {coordinate.name}.",
                coordinate.path,
                f"add `{coordinate.name}: [{coordinate.value}]` to the load, or leave it out here",
                affects=(coordinate.hypothesis,),
            )
        if not steps or coordinate.value in steps or coordinate.beyond(steps):
            continue
        listed = ", ".join(str(step) for step in steps[:12])
        yield Fact(
            f"{coordinate.hypothesis} looks at {coordinate.name} {coordinate.value}, and the steps "
            f"are {listed}.",
            coordinate.path,
            f"add {coordinate.value} to the steps, or look at one of them",
            affects=(coordinate.hypothesis,),
        )


def _missing(subject: Subject, name: str) -> bool:
    """True where the load has steps, and none with this coordinate."""
    load = subject.spec.load
    return name in _OF_THE_LOAD and bool(load.concurrency or load.rate)
