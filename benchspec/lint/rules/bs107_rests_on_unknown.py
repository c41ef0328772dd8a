"""A hypothesis rests on one that does not exist.

## What it checks
Every id in `rests_on` is the id of another hypothesis of this spec.

## Why it misleads
`rests_on` withdraws a claim when its foundation is refuted. A foundation that is not there is never
refuted, so the claim stays up whatever happens.

## Bad
```yaml
hypotheses:
  - id: H2
    claim: The slowdown under speculation is the link's, too.
    rests_on: [H1]  # error: BS107
    test: {metric: stream_tok_s, at: {concurrency: 1}, relation: ">=", value: 10}
```

## Good
```yaml
hypotheses:
  - id: H1
    claim: Four streams give at least 1.2 times the throughput of one.
    test: {metric: aggregate_tok_s, at: {concurrency: 4}, over: {concurrency: 1}, relation: ">=", value: 1.2}
  - id: H2
    claim: One stream reaches 10 tok/s.
    rests_on: [H1]
    test: {metric: stream_tok_s, at: {concurrency: 1}, relation: ">=", value: 10}
```

## Fix
Write the id of the hypothesis that carries this one, or register that one too.

## References
The spec language: docs/spec.md, `rests_on`.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS107", "rests-on-unknown", "error")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per unknown id."""
    known = {hypothesis.id for hypothesis in subject.spec.hypotheses}
    for index, hypothesis in enumerate(subject.spec.hypotheses):
        for number, foundation in enumerate(hypothesis.rests_on):
            if foundation not in known:
                yield Fact(
                    f"{hypothesis.id} rests on {foundation}, and there is no such hypothesis.",
                    ("hypotheses", index, "rests_on", number),
                    f"write one of {', '.join(sorted(known - {hypothesis.id})) or 'the others'}",
                    affects=(hypothesis.id,),
                )
