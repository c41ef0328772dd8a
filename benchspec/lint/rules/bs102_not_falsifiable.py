"""No result of the run could refute the hypothesis.

## What it checks
A hypothesis has a test (or is marked `exploratory`); the test has a relation and a number, or an
expected reading; the number can be missed (`>= 0` cannot); the expected readings are not all there
are.

## Why it misleads
A claim that survives every outcome says nothing about the server. It reads like a result all the
same.

## Bad
```yaml
hypotheses:
  - id: H1
    claim: The server is fast.  # error: BS102
```

## Good
```yaml
hypotheses:
  - id: H1
    claim: One stream decodes at least 40 tok/s.
    test: {metric: stream_tok_s, at: {concurrency: 1}, relation: ">=", value: 40}
```

## Fix
Name the figure and the threshold that would change your mind. If you only want to look, write
`exploratory: true`; the report then shows the figure apart and gives no verdict.

## References
Popper, The Logic of Scientific Discovery, section 6.
"""

from collections.abc import Iterator

from benchspec.lint.figures import registered
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, Tested
from benchspec.lint.vocabulary import READINGS
from benchspec.spec.models import Hypothesis
from benchspec.spec.problems import Path

RULE = Rule("BS102", "not-falsifiable", "error")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per hypothesis that cannot fail."""
    for index, hypothesis in enumerate(subject.spec.hypotheses):
        if hypothesis.test is None and not hypothesis.exploratory:
            yield _fact(hypothesis, ("hypotheses", index, "claim"), "has no test")
    for tested in subject.tests:
        found = _defect(tested)
        if found is not None and not tested.hypothesis.exploratory:
            key, why = found
            path = (*tested.path, "test", key) if key else (*tested.path, "test")
            yield _fact(tested.hypothesis, path, why)


def _fact(hypothesis: Hypothesis, path: Path, why: str) -> Fact:
    return Fact(
        f"{hypothesis.id} cannot be refuted: it {why}.",
        path,
        "add a test with a relation and a value, or with the reading you expect",
        affects=(hypothesis.id,),
    )


def _defect(tested: Tested) -> tuple[str, str] | None:
    """The key at fault ("" for the test as a whole) and what is wrong with it."""
    test = tested.test
    if test.check and test.expect:
        readings = set(READINGS.get(test.check, ())) - {"unresolved", "insufficient"}
        everything = len(readings) > 1 and readings <= set(test.expect)
        return ("expect", "expects every reading there is") if everything else None
    if test.relation is None or test.value is None:
        return "", "compares with nothing"
    target = registered(test.value, tested.uses)
    if target is None:
        return "value", f"compares with {test.value!r}, which is no figure"
    if test.relation == ">=" and target.high <= 0 and test.over is None:
        return "value", "holds for every figure that is not negative"
    return None
