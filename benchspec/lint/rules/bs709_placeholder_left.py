"""A place that the starter marks is not filled in.

## What it checks
No text in the spec begins with `FILL IN:`, which is how `benchspec new` marks what it cannot know.

## Why it misleads
The spec is published with the report: the mark would stand there as the author's name, the card's
or the engine's version.

## Bad
```yaml
study:
  title: One card, four slots
  authors: ["FILL IN: who ran it"]  # warning: BS709
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
Write what the mark asks for, or delete the line where that is not known.

## References
`benchspec new --help`.
"""

from collections.abc import Iterator
from typing import Any

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject
from benchspec.spec.problems import Path, shown

RULE = Rule("BS709", "placeholder-left", "warning")

MARK = "FILL IN:"


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per place."""
    for path, text in _marked(subject.document.data, ()):
        what = shown(text.removeprefix(MARK).strip(), 80)
        yield Fact(f"This place is not filled in: {what}.", path, "write it, or delete the line")


def _marked(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str) and value.startswith(MARK):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _marked(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _marked(inner, (*path, number))
