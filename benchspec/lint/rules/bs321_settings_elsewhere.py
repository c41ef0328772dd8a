"""Settings come from a place that the spec does not show.

## What it checks
Flags that read more settings from a file (`--config`, a preset file) and flags that set many things
at once (`--gpt-oss-20b-default`); and lines in which something is left out (`llama-server ... -np 4`).

## Why it misleads
The spec is the description of the experiment. What is in a file on the author's machine is not in
it, and a preset changes slots, context and batch sizes behind one word.

## Bad
```yaml
engine:
  kind: llama.cpp
  version: b11434
  command: llama-server --gpt-oss-20b-default -fit off -np 4 -ngl 99  # warning: BS321
```

## Good
```yaml
engine:
  kind: llama.cpp
  version: b11434
  command: llama-server -m gpt-oss-20b.gguf -c 8192 -fit off -np 4 -ngl 99
```

## Fix
Write the settings out.

## References
llama.cpp, common/arg.cpp: presets; vLLM: `--config`.
"""

from collections.abc import Iterator

from benchspec.lint import engine_problems
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS321", "settings-elsewhere", "warning")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per flag."""
    yield from engine_problems.facts(
        subject,
        "preset-flag",
        "config-file",
        "abridged",
        help_text="write the settings out in the spec",
    )
