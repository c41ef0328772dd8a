"""The author says that nothing is missing.

## What it checks
`unfinished` has at least one sentence.

## Why it misleads
Every study leaves something out: one machine, one model, short prompts. The report has a section
for it, and a reader trusts an author who fills it in more than one who leaves it to the tool.

## Bad
```yaml
unfinished: []  # warning: BS701
```

## Good
```yaml
unfinished:
  - One card and one model; contexts above 8 K were not tried.
```

## Fix
Write what you know is missing, one sentence each.

## References
The report's section "What this didn't finish".
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS701", "unfinished-empty", "warning")


def check(subject: Subject) -> Iterator[Fact]:
    """At most one fact."""
    if not subject.spec.unfinished:
        yield Fact(
            "`unfinished` is empty: the report will not say what its author left out.",
            ("unfinished",) if subject.stands("unfinished") else ("study",),
            "add a sentence for everything that this study does not answer",
        )
