"""Speculation is set up and not turned on.

## What it checks
An arm states settings of speculation (a draft model, a number of drafts) without the one that turns
it on: `spec-type` for llama.cpp, `speculative-config` with a method for vLLM,
`speculative-algorithm` for SGLang.

## Why it misleads
llama.cpp loads an ordinary draft model and then drops it, with one line at a log level that is off.
The draft costs memory, the rate is the plain one, and the post says "with a draft model".

## Bad
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags:
    parallel: 4
    ctx-size: 8192
    n-gpu-layers: 99
    fit: "off"
    model-draft: draft.gguf  # error: BS307
```

## Good
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags:
    parallel: 4
    ctx-size: 8192
    n-gpu-layers: 99
    fit: "off"
    model-draft: draft.gguf
    spec-type: draft-simple
```

## Fix
State how it speculates: `spec-type: draft-simple` for an ordinary draft model, `draft-mtp` for
heads in the model. Drafts that name their own type work without, but then the spec does not say
which.

## References
llama.cpp, common/speculative.cpp: `draft-simple` is never inferred.
"""

from collections.abc import Iterator

from benchspec.lint.arm import Arm
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.speculation import SWITCH, speculates, stated
from benchspec.lint.subject import Subject, by_setting, names

RULE = Rule("BS307", "speculation-inactive", "error")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per place of the first setting that does nothing."""
    for path, name, arms in by_setting(subject.arms, _idle):
        switch = SWITCH[arms[0].kind]
        yield Fact(
            f"`{name}` is set, and without `{switch}` it does nothing.",
            path,
            arms[0].how_to_set(switch, _EXAMPLE.get(arms[0].kind, "...")),
            arms=names(arms),
            affects=subject.affected(arms),
        )


_EXAMPLE = {"llama.cpp": "draft-simple", "sglang": "EAGLE"}


def _idle(arm: Arm) -> str:
    """The first setting of speculation that has no effect, or nothing."""
    if arm.kind not in ("llama.cpp", "vllm", "sglang") or speculates(arm):
        return ""
    others = [name for name in stated(arm) if name != SWITCH[arm.kind]]
    fakes = ("synth", "SIMULATE")
    return next((name for name in others if not any(f in name for f in fakes)), "")
