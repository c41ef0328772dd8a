"""The engine is told to invent how many drafts are accepted.

## What it checks
llama.cpp's `spec-synth-len` and `spec-synth-rates`, vLLM's `rejection_sample_method: synthetic`,
SGLang's `SGLANG_SIMULATE_ACC_LEN` above 0.

## Why it misleads
These are tools for engine developers. The tokens that come out are not the model's, and the rate is
the one that was typed in.

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
    spec-type: draft-mtp
    spec-synth-len: 3  # error: BS308
```

## Good
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off", spec-type: draft-mtp}
```

## Fix
Remove the setting and measure the acceptance.

## References
llama.cpp, common/arg.cpp: `--spec-synth-len`; vLLM: `rejection_sample_method`.
"""

from collections.abc import Iterator

from benchspec.lint.arm import Arm
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, by_setting, names

RULE = Rule("BS308", "fake-speculation", "error")

_FAKES = ("spec-synth-len", "spec-synth-rates", "SGLANG_SIMULATE_ACC_LEN")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per place."""
    for path, _, arms in by_setting(subject.arms, _fake):
        yield Fact(
            "Acceptance is made up, so neither the rate nor the text is the model's.",
            path,
            "remove the setting",
            arms=names(arms),
            affects=subject.affected(arms),
        )


def _fake(arm: Arm) -> str:
    """The setting that fakes acceptance, or nothing."""
    config = arm.value("speculative-config")
    if isinstance(config, dict) and config.get("rejection_sample_method") == "synthetic":
        return "speculative-config"
    return next(
        (n for n in _FAKES if str(arm.value(n)) not in ("None", "0", "-1", "0.0", "-1.0")), ""
    )
