"""Nothing says what others may do with the data.

## What it checks
`study.license` is stated.

## Why it misleads
Without a licence nobody may copy the bundle, not even to check it.

## Bad
```yaml
study:  # warning: BS702
  title: One card, four slots
  authors: [A. Author]
  interests: none
```

## Good
```yaml
study:
  title: One card, four slots
  authors: [A. Author]
  license: CC-BY-4.0
  interests: none
```

## Fix
Add `license: CC-BY-4.0`, or another SPDX id.

## References
https://spdx.org/licenses/
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS702", "no-license", "warning")


def check(subject: Subject) -> Iterator[Fact]:
    """At most one fact."""
    if not subject.spec.study.license:
        yield Fact(
            "The study has no licence, so nobody may publish its data again.",
            ("study", "license") if subject.stands("study", "license") else ("study",),
            "add `license: CC-BY-4.0`",
        )
