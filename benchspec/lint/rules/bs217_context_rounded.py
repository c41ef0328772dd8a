"""llama.cpp rounds the context that is asked for.

## What it checks
Whether `ctx-size` is what llama.cpp makes of it: a multiple of 256, and with a KV cache that is
divided among the slots, a multiple of 256 x slots. A context of unknown size is not checked.

## Why it misleads
The server has another context than the spec says, so a reader who repeats the spec cannot tell
which of the two mattered. `effective-settings` reads *changed* after the run, and figures of such
an arm decide nothing.

## Bad
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 5000, n-gpu-layers: 99, fit: "off"}  # warning: BS217
```

## Good
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 5120, n-gpu-layers: 99, fit: "off"}
```

## Fix
Write the context that the server will have.

## References
llama.cpp, src/llama-context.cpp: `n_ctx_seq`, "n_ctx is not divisible by n_seq_max".
"""

from collections.abc import Iterator

from benchspec.lint.capacity import granted_context, shares
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, names

RULE = Rule("BS217", "context-rounded", "warning", applies="run")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per arm whose server has another context than it was asked for."""
    for arm in subject.arms:
        asked, granted = arm.number("ctx-size"), granted_context(arm)
        if arm.kind != "llama.cpp" or asked is None or granted in (None, asked):
            continue
        share = shares(arm)
        steps = f"256 x {share} slots" if share > 1 else "256"
        yield Fact(
            f"llama.cpp makes {granted} of a context of {asked}: it goes in steps of {steps}.",
            arm.place("ctx-size"),
            f"write `ctx-size: {granted}`",
            arms=names([arm]),
            affects=subject.affected([arm]),
            fix=arm.fix_for("ctx-size", str(granted)),
        )
