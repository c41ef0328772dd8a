"""A hypothesis expects a reading that its check never gives.

## What it checks
Every word of `test.expect` is in the closed vocabulary of `test.check`.

## Why it misleads
The hypothesis is refuted by a spelling mistake, whatever was measured.

## Bad
```yaml
hypotheses:
  - id: H1
    claim: Eight requests on four slots queue.
    test: {check: queueing, at: {concurrency: 8}, expect: queues}  # error: BS110
```

## Good
```yaml
hypotheses:
  - id: H1
    claim: Eight requests on four slots queue.
    test: {check: queueing, at: {concurrency: 8}, expect: queued}
```

## Fix
Write one of the readings that the finding lists; `benchspec explain CHECK` says what each means.

## References
The checks: docs/checks.md.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject
from benchspec.lint.vocabulary import READINGS
from benchspec.spec.problems import shown

RULE = Rule("BS110", "unknown-reading", "error")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per hypothesis."""
    for tested in subject.tests:
        known = READINGS.get(tested.test.check or "")
        strange = [word for word in tested.test.expect or () if known and word not in known]
        if known and strange:
            yield Fact(
                f"{tested.test.check} never reads {shown(strange[0])!r}.",
                (*tested.path, "test", "expect"),
                f"expect one of {', '.join(known)}",
                affects=(tested.id,),
            )
