"""A cold step meets a warm cache.

## What it checks
With `cold` in `load.cache`, prompts are unique or the engine's prefix cache is off; and llama.cpp's
store of old prompts in host memory (`cache-ram`, 8 GiB unless stated) is 0.

## Why it misleads
A "cold" prefill that finds its prefix is not cold. With `cache-ram` on, llama.cpp copies the slot's
old cache from the card to the host before the request's clock starts: the client sees it in the
first-token time, the server's own figures do not.

## Bad
```yaml
load:
  mode: burst
  concurrency: [1, 2, 4, 8]
  cache: [cold]
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off"}  # warning: BS309
```

## Good
```yaml
load:
  mode: burst
  concurrency: [1, 2, 4, 8]
  cache: [cold]
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off", cache-ram: 0}
```

## Fix
Make the prompts unique; for llama.cpp add `cache-ram: 0`.

## References
llama.cpp, tools/server: `--cache-ram`, `cache_prompt`.
"""

from collections.abc import Iterator

from benchspec.lint.arm import Arm
from benchspec.lint.prompt_cache import cache_is_off
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, by_place, names

RULE = Rule("BS309", "cache-on-in-cold-test", "warning", applies="run")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per prompt that can be found in a cache, one per store that is on."""
    if "cold" not in subject.spec.load.cache:
        return
    cold = (("load", "cache"), "cold is asked for here")
    found = [arm for arm in subject.arms if arm.serves and _is_found(arm)]
    for path, arms in by_place(found, lambda arm: arm.part("workload", "prompt")):
        yield Fact(
            "Prompts share their beginning and the prefix cache is on, so only the first is cold.",
            path,
            "write `unique: true`, or turn the prefix cache off",
            related=(cold,),
            arms=names(arms),
            affects=subject.affected(arms),
            severity="error",
        )
    stores = [arm for arm in subject.arms if _stores(arm)]
    for path, arms in by_place(stores, lambda arm: arm.place("cache-ram")):
        yield Fact(
            "llama.cpp keeps old prompts in host memory, and copying them is in the first-token time.",
            path,
            arms[0].how_to_set("cache-ram", "0"),
            related=(cold,),
            arms=names(arms),
            affects=subject.affected(arms),
        )


def _is_found(arm: Arm) -> bool:
    prompt = arm.workload.prompt
    return (not prompt.unique or bool(prompt.shared_prefix)) and not cache_is_off(arm)


def _stores(arm: Arm) -> bool:
    return arm.kind == "llama.cpp" and arm.stated_in_full and arm.number("cache-ram") != 0
