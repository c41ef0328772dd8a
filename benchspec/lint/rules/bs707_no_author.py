"""The study has no author.

## What it checks
`study.authors` names at least one person or group.

## Why it misleads
It does not mislead; a figure that nobody stands by is worth less, and cannot be cited.

## Bad
```yaml
study:  # warning: BS707
  title: One card, four slots
  license: CC-BY-4.0
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
Add `authors: [Your Name]`; a pseudonym that can be reached is fine.

## References
Citation File Format 1.2, `authors`.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS707", "no-author", "warning")


def check(subject: Subject) -> Iterator[Fact]:
    """At most one fact."""
    if not subject.spec.study.authors:
        yield Fact(
            "Nobody is named as the author of the study.",
            ("study", "authors") if subject.stands("study", "authors") else ("study",),
            "add `authors: [...]`",
        )
