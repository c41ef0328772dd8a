"""Prompts share their beginning, and the prefix cache is on.

## What it checks
`prompt.unique: false` or a `shared_prefix`, while the engine's prefix cache is not turned off. It
is an error where a hypothesis reads `ttft_ms` or `prefill_tok_s`. Studies of the cache itself
(`load.cache` with `warm`, the check `prefix-cache`, the metric `cached_tokens`) are left alone.

## Why it misleads
The second request with the same beginning skips its prefill. First-token times then mix two
populations, and the prefill rate of a prompt that was not computed has no meaning.

## Bad
```yaml
workload:
  label: {material: english-prose, context_tokens: 128, speculation: none}
  prompt: {tokens: 64, unique: false}  # warning: BS209
  output: {tokens: 64, forced: true}
```

## Good
```yaml
workload:
  label: {material: english-prose, context_tokens: 128, speculation: none}
  prompt: {tokens: 64, unique: true}
  output: {tokens: 64, forced: true}
```

## Fix
Write `unique: true`, or turn the cache off: `cache-prompt: false` (llama.cpp),
`enable-prefix-caching: false` (vLLM), `disable-radix-cache: true` (SGLang).

## References
llama.cpp: `cache_prompt` is on by default; vLLM and SGLang: prefix caching is on by default.
"""

from collections.abc import Iterator

from benchspec.lint.arm import Arm
from benchspec.lint.prompt_cache import cache_is_off, studies_cache
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, by_place, names

RULE = Rule("BS209", "shared-prompts-hit-cache", "warning", applies="run")

_SENSITIVE = frozenset({"ttft_ms", "prefill_tok_s", "compute-ceiling"})


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per prompt."""
    if studies_cache(subject):
        return
    sensitive = tuple(t.id for t in subject.tests if t.uses in _SENSITIVE)
    hit = [arm for arm in subject.arms if arm.serves and _shared(arm) and not cache_is_off(arm)]
    for path, arms in by_place(hit, lambda arm: arm.part("workload", "prompt")):
        yield Fact(
            f"{_shared(arms[0])}, and the engine's prefix cache is on: later prompts are not "
            "computed.",
            path,
            "make the prompts unique, or turn the prefix cache off",
            arms=names(arms),
            affects=sensitive or subject.affected(arms),
            severity="error" if sensitive else None,
        )


def _shared(arm: Arm) -> str:
    prompt = arm.workload.prompt
    if prompt.shared_prefix:
        return f"Prompts share {prompt.shared_prefix} tokens"
    return "" if prompt.unique else "Prompts are all the same"
