"""A claim reaches beyond what is measured, and nothing carries it there.

## What it checks
A hypothesis about a step beyond the end of the sweep; and a claim about a PCIe generation that no
link of `hardware.links` has, when no link is measured and no check divides (`link-share`,
`link-load`).

## Why it misleads
"On Gen 4 it would be twice as fast" follows from the link only if the link was the limit. A
straight line through two points is no model, and the place where it breaks lies outside the sweep.

## Bad
```yaml
hypotheses:
  - id: H1
    claim: Sixteen streams give at least three times the throughput of one.
    test:
      metric: aggregate_tok_s
      at: {concurrency: 16}  # error: BS106
      over: {concurrency: 1}
      relation: ">="
      value: 3
```

## Good
```yaml
hypotheses:
  - id: H1
    claim: Sixteen streams give at least three times the throughput of one.
    test: {metric: aggregate_tok_s, at: {concurrency: 16}, over: {concurrency: 1}, relation: ">=", value: 3}
load:
  mode: burst
  concurrency: [1, 2, 4, 8, 16]
```

## Fix
Measure there, or state the division that leads there: what the time consists of, and which part the
change shortens.

## References
The judge's link-share check, and the bound 1 / (1 - t (1 - 1/m)) of its link-load: docs/checks.md.
"""

import re
from collections.abc import Iterator

from benchspec.lint.places import named, sweep
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS106", "extrapolation-without-model", "error")

_GENERATION = re.compile(
    r"\b(?:pci-?e|pci express)\s*(?:gen(?:eration)?\s*)?([3-7])\b", re.IGNORECASE
)
_DIVIDES = frozenset({"link-share", "link-load", "expected-traffic"})


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per place beyond the sweep, one per claim about another PCIe generation."""
    for coordinate in named(subject):
        steps = sweep(subject, coordinate.name)
        if steps and coordinate.beyond(steps):
            yield Fact(
                f"{coordinate.hypothesis} is about {coordinate.name} {coordinate.value}, beyond the "
                f"last step {max(steps)}.",
                coordinate.path,
                f"add {coordinate.value} to the steps",
                affects=(coordinate.hypothesis,),
            )
    yield from _generations(subject)


def _generations(subject: Subject) -> Iterator[Fact]:
    links = subject.spec.hardware.links
    here = {str(link.gen) for link in links if link.gen}
    divided = {t.id for t in subject.tests if t.uses in _DIVIDES}
    for index, hypothesis in enumerate(subject.spec.hypotheses):
        claimed = set(_GENERATION.findall(hypothesis.claim)) - here
        if claimed and here and hypothesis.id not in divided:
            yield Fact(
                f"{hypothesis.id} is about PCIe generation {', '.join(sorted(claimed))}, the links "
                f"here are generation {', '.join(sorted(here))}, and no check divides the time.",
                ("hypotheses", index, "claim"),
                "test it with `check: link-share`, which says what share the link has",
                affects=(hypothesis.id,),
                severity="warning",
            )
