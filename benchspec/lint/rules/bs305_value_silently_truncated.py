"""The engine reads another number than the one that is written.

## What it checks
Numbers with a tail that the engine's parser drops: llama.cpp reads `-c 32k` as 32 and `0.75` as 0
where a whole number is wanted, without a word.

## Why it misleads
The post says 32 K of context; the server ran with 256 tokens.

## Bad
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 32k, n-gpu-layers: 99, fit: "off"}  # error: BS305
```

## Good
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 32768, n-gpu-layers: 99, fit: "off"}
```

## Fix
Write the number out.

## References
llama.cpp, common/arg.cpp: integers are read with `std::stoi`, which stops at the first other
character.
"""

from collections.abc import Iterator

from benchspec.lint import engine_problems
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS305", "value-silently-truncated", "error")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per flag and place."""
    yield from engine_problems.facts(
        subject, "value-truncated", help_text="write the whole number, without a suffix"
    )
