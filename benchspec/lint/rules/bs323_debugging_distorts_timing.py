"""A debugging aid is on that changes the timing.

## What it checks
llama.cpp: `verbose`, `verbosity` above 4, `GGML_SCHED_DEBUG`, `GGML_META_DEBUG`,
`LLAMA_KV_CACHE_DEBUG`, `LLAMA_TRACE`, `GGML_CUDA_DISABLE_GRAPHS`, `GGML_CUDA_DISABLE_FUSION`,
`LLAMA_GRAPH_REUSE_DISABLE`. vLLM: `enforce-eager`, `VLLM_LOGGING_LEVEL: DEBUG`. SGLang:
`disable-cuda-graph`. Any engine: `CUDA_LAUNCH_BLOCKING`.

## Why it misleads
Each of these costs time in every step. They are left behind after a search for a bug, and the rate
is then that of the search.

## Bad
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off"}
  env:
    CUDA_LAUNCH_BLOCKING: "1"  # warning: BS323
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
Remove it, or waive the finding if the aid is what you study.

## References
llama.cpp, ggml/src: the variables' own comments; CUDA programming guide: launch blocking.
"""

from collections.abc import Iterator

from benchspec.lint.arm import Arm
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, names
from benchspec.spec.problems import Path

RULE = Rule("BS323", "debugging-distorts-timing", "warning")

_VARIABLES = (
    "GGML_SCHED_DEBUG", "GGML_META_DEBUG", "LLAMA_KV_CACHE_DEBUG", "LLAMA_TRACE",
    "GGML_CUDA_DISABLE_GRAPHS", "GGML_CUDA_DISABLE_FUSION", "LLAMA_GRAPH_REUSE_DISABLE",
    "CUDA_LAUNCH_BLOCKING",
)  # fmt: skip
_SWITCHES = ("verbose", "enforce-eager", "disable-cuda-graph")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per aid and place."""
    found: dict[tuple[Path, str], list[Arm]] = {}
    for arm in subject.arms:
        for name in _aids(arm):
            found.setdefault((_place(arm, name), name), []).append(arm)
    for (path, name), arms in found.items():
        yield Fact(
            f"`{name}` is on, and it costs time in every step.",
            path,
            "remove it",
            arms=names(arms),
            affects=subject.affected(arms),
        )


def _aids(arm: Arm) -> Iterator[str]:
    env = arm.engine.env if arm.engine else {}
    for name in _VARIABLES:
        stated = arm.value(name) if name in arm.settings else env.get(name)
        if str(stated) not in ("None", "0"):
            yield name
    yield from (name for name in _SWITCHES if arm.value(name) is True)
    if arm.kind == "llama.cpp" and (arm.number("verbosity") or 0) > 4:
        yield "verbosity"
    level = arm.value("VLLM_LOGGING_LEVEL") or env.get("VLLM_LOGGING_LEVEL", "")
    if str(level).upper() == "DEBUG":
        yield "VLLM_LOGGING_LEVEL"


def _place(arm: Arm, name: str) -> Path:
    return arm.stated_at(name) or arm.place(name)
