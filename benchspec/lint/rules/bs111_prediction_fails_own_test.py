"""The author's prediction would refute the author's claim.

## What it checks
`prediction`, where it is in the unit of the test, satisfies the test's relation and value.

## Why it misleads
One of the two is a slip. If the prediction comes true, the claim is refuted, and nobody knows which
the author meant.

## Bad
```yaml
hypotheses:
  - id: H1
    claim: Four streams give at least twice the throughput of one.
    prediction: 1.5  # warning: BS111
    test: {metric: aggregate_tok_s, at: {concurrency: 4}, over: {concurrency: 1}, relation: ">=", value: 2}
```

## Good
```yaml
hypotheses:
  - id: H1
    claim: Four streams give at least twice the throughput of one.
    prediction: 2.5
    test: {metric: aggregate_tok_s, at: {concurrency: 4}, over: {concurrency: 1}, relation: ">=", value: 2}
```

## Fix
Correct the one that is wrong. A threshold is what you would still accept, a prediction what you
expect.

## References
The spec language: docs/spec.md, `prediction`.
"""

from collections.abc import Iterator

from benchspec.lint.figures import possible, registered
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS111", "prediction-fails-own-test", "warning")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per hypothesis."""
    for tested in subject.tests:
        test, stated = tested.test, tested.hypothesis.prediction
        uses = "" if test.over else tested.uses  # a quotient has no unit
        predicted, target = registered(stated, uses), registered(test.value, uses)
        if predicted is None or target is None or test.relation in (None, "=="):
            continue
        if not possible(predicted, test.relation, target):
            yield Fact(
                f"{tested.id} predicts {stated} and is tested with {test.relation} {test.value}: "
                "the prediction would refute it.",
                (*tested.path, "prediction"),
                "correct the prediction or the threshold",
                related=(((*tested.path, "test", "value"), "the threshold"),),
                affects=(tested.id,),
            )
