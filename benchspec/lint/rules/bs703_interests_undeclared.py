"""The author's interests are not declared.

## What it checks
`study.interests` says `none`, or what readers should know: who lent the hardware, who pays, what
links earn.

## Why it misleads
Thirty-two lent cards and an affiliate link do not make a measurement wrong. Finding out about them
afterwards makes readers think so.

## Bad
```yaml
study:  # warning: BS703
  title: One card, four slots
  authors: [A. Author]
  license: CC-BY-4.0
```

## Good
```yaml
study:
  title: One card, four slots
  authors: [A. Author]
  license: CC-BY-4.0
  interests: The card was lent by its vendor.
```

## Fix
Add `interests: none`, or the sentence that you would want to read.

## References
ICMJE, disclosure of interests.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS703", "interests-undeclared", "warning")


def check(subject: Subject) -> Iterator[Fact]:
    """At most one fact."""
    if not subject.spec.study.interests:
        yield Fact(
            "The study does not declare its author's interests.",
            ("study", "interests") if subject.stands("study", "interests") else ("study",),
            "add `interests: none`, or what readers should know",
        )
