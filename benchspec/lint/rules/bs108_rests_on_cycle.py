"""Hypotheses rest on each other in a circle.

## What it checks
Following `rests_on` from a hypothesis never leads back to it.

## Why it misleads
Each claim of a circle is propped up by the others, and none by a measurement.

## Bad
```yaml
hypotheses:
  - id: H1
    claim: The link is busy.
    rests_on: [H2]  # error: BS108
    test: {metric: stream_tok_s, at: {concurrency: 1}, relation: "<=", value: 40}
  - id: H2
    claim: More streams do not help.
    rests_on: [H1]
    test: {metric: aggregate_tok_s, at: {concurrency: 8}, over: {concurrency: 1}, relation: "<", value: 4}
```

## Good
```yaml
hypotheses:
  - id: H1
    claim: One stream is slow.
    test: {metric: stream_tok_s, at: {concurrency: 1}, relation: "<=", value: 40}
  - id: H2
    claim: More streams help little.
    rests_on: [H1]
    test: {metric: aggregate_tok_s, at: {concurrency: 8}, over: {concurrency: 1}, relation: "<", value: 4}
```

## Fix
Remove the arrow that points from the foundation to what is built on it.

## References
The spec language: docs/spec.md, `rests_on`.
"""

from collections.abc import Iterator, Mapping, Sequence

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS108", "rests-on-cycle", "error")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per circle, at the first hypothesis of it."""
    arrows = {hypothesis.id: hypothesis.rests_on for hypothesis in subject.spec.hypotheses}
    told: set[str] = set()
    for index, hypothesis in enumerate(subject.spec.hypotheses):
        circle = _circle(hypothesis.id, arrows)
        if circle and not told & set(circle):
            told.update(circle)
            yield Fact(
                f"These hypotheses rest on each other: {' -> '.join([*circle, circle[0]])}.",
                ("hypotheses", index, "rests_on"),
                "remove one of the arrows",
                affects=tuple(circle),
            )


def _circle(start: str, arrows: Mapping[str, Sequence[str]]) -> list[str]:
    """A way from `start` back to it, or an empty list."""
    ways, seen = [[start]], {start}
    while ways:
        way = ways.pop()
        for step in arrows.get(way[-1], ()):
            if step == start:
                return way
            if step not in seen:
                seen.add(step)
                ways.append([*way, step])
    return []
