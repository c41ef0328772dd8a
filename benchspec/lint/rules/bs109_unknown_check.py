"""A hypothesis names a check that does not exist.

## What it checks
`test.check` is one of the judge's checks.

## Why it misleads
The judge has nothing to divide, and the hypothesis ends inconclusive after a whole run.

## Bad
```yaml
hypotheses:
  - id: H1
    claim: Eight requests on four slots queue.
    test: {check: queuing, at: {concurrency: 8}, expect: queued}  # error: BS109
```

## Good
```yaml
hypotheses:
  - id: H1
    claim: Eight requests on four slots queue.
    test: {check: queueing, at: {concurrency: 8}, expect: queued}
```

## Fix
Write the name that the finding suggests; `benchspec explain` lists all.

## References
The checks: docs/checks.md.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject
from benchspec.lint.vocabulary import READINGS
from benchspec.spec.problems import shown

RULE = Rule("BS109", "unknown-check", "error")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per hypothesis."""
    for tested in subject.tests:
        name = tested.test.check
        if name is not None and name not in READINGS:
            from difflib import get_close_matches

            near = get_close_matches(name[:64], READINGS, 1)
            yield Fact(
                f"There is no check {shown(name)!r}.",
                (*tested.path, "test", "check"),
                f"did you mean `{near[0]}`?" if near else "`benchspec explain` lists the checks",
                affects=(tested.id,),
            )
