"""A performance flag is set, and nothing in the study shows whether it did anything.

## What it checks
A prefix-cache setting that is on has a hypothesis with `prefix-cache` or `cached_tokens`, or a step
with `cache: [warm]`. Peer-to-peer transfers that are on have a traffic counter.

## Why it misleads
"P2P enabled" and "prefix caching: true" are what the engine was told. Traffic may take another
path, and the cache may be off for this model; the flag is still on in the log.

## Bad
```yaml
engine:
  kind: vllm
  version: "0.32.0"
  command: vllm serve some/model --max-num-seqs 4 --enable-prefix-caching  # warning: BS316
```

## Good
```yaml
engine:
  kind: vllm
  version: "0.32.0"
  command: vllm serve some/model --max-num-seqs 4 --enable-prefix-caching
hypotheses:
  - id: H1
    claim: The second of two equal prompts is answered from the cache.
    test: {check: prefix-cache, at: {concurrency: 1}, expect: effective}
load: {mode: burst, concurrency: [1, 2, 4, 8], cache: [cold, warm]}
```

## Fix
Add the check that shows the effect, or leave the flag out of the study.

## References
The judge's prefix-cache, effective-settings and expected-traffic checks: docs/checks.md.
"""

from collections.abc import Iterator

from benchspec.lint.effects import CACHE, PEER, Effect, shown_by
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, by_setting, names

RULE = Rule("BS316", "flag-without-effect-check", "warning")

_TRAFFIC = ("pcie", "nvlink", "xgmi")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per feature and place."""
    for effect in (CACHE, PEER):
        if shown_by(effect, subject) or _collected(effect, subject):
            continue
        for path, name, arms in by_setting(subject.arms, effect.setting):
            yield Fact(
                f"`{name}` is set, and nothing shows whether the {effect.name} had an effect.",
                path,
                f"add a hypothesis with `check: {effect.checks[0]}`",
                arms=names(arms),
                affects=subject.affected(arms),
            )


def _collected(effect: Effect, subject: Subject) -> bool:
    if effect is CACHE:
        return "warm" in subject.spec.load.cache
    return any(name.lower().startswith(_TRAFFIC) for name in subject.spec.telemetry.counters)
