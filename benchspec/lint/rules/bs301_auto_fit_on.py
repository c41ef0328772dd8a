"""llama.cpp may change the settings to fit the memory that happens to be free.

## What it checks
`fit` (`-fit`, `LLAMA_ARG_FIT`) is `off`. It is on by default. With `split-mode: tensor` llama.cpp
refuses to fit, so there nothing is asked. For vLLM: `max-model-len` is a number and not `auto` or
-1.

## Why it misleads
Fitting shortens the context and moves layers or experts to the CPU, by the memory that is free at
that moment, and says so only at a log level that is off by default. Two runs of one spec are then
two configurations, and arms that fit differently are compared as if they did not.

## Bad
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99}  # error: BS301
```

## Good
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off"}
```

## Fix
Add `fit: "off"` and state `ctx-size` and `n-gpu-layers`. If the model then does not load, the
fitted version was another experiment.

## References
llama.cpp, common/fit.cpp.
"""

from collections.abc import Iterator

from benchspec.lint.arm import Arm
from benchspec.lint.fitting import fits
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, by_place, names

RULE = Rule("BS301", "auto-fit-on", "error")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per line where fitting has to be turned off."""
    for path, arms in by_place(filter(fits, subject.arms), lambda arm: arm.place("fit")):
        stated = "fit" in arms[0].settings
        yield Fact(
            f"Auto-fit is on{'' if stated else ' by default'}: llama.cpp may shorten the context "
            "or move layers to the CPU, by the memory that is free at that moment.",
            path,
            "write `off`" if stated else arms[0].how_to_set("fit", '"off"'),
            arms=names(arms),
            affects=subject.affected(arms),
            fix=arms[0].fix_for("fit", '"off"'),
        )
    for path, arms in by_place(
        filter(_vllm_fits, subject.arms), lambda arm: arm.place("max-model-len")
    ):
        yield Fact(
            "`max-model-len` is automatic: vLLM shortens the context to the memory that is free.",
            path,
            "write the number of tokens that the study needs",
            arms=names(arms),
            affects=subject.affected(arms),
        )


def _vllm_fits(arm: Arm) -> bool:
    return arm.kind == "vllm" and str(arm.value("max-model-len")) in ("-1", "auto")
