"""One setting is stated twice with different values.

## What it checks
No two spellings of one setting (`-np` and `--parallel`) stand in the same flags or command line.

## Why it misleads
The last one wins. llama.cpp warns only if the spelling is the same, so a reader who stops at the
first one believes in the wrong number.

## Bad
```yaml
engine:
  kind: llama.cpp
  version: b11434
  command: llama-server -m x.gguf -np 2 -c 8192 -ngl 99 -fit off --parallel 4  # warning: BS318
```

## Good
```yaml
engine:
  kind: llama.cpp
  version: b11434
  command: llama-server -m x.gguf -c 8192 -ngl 99 -fit off --parallel 4
```

## Fix
Delete the one that does not count.

## References
llama.cpp, common/arg.cpp.
"""

from collections.abc import Iterator

from benchspec.lint import engine_problems
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS318", "flag-given-twice", "warning")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per setting and place."""
    yield from engine_problems.facts(
        subject, "duplicate-flag", help_text="delete the one that does not count"
    )
