"""A feature is switched on that may not exist for this kind of model.

## What it checks
A batching or prefix-cache setting is on and the model is hybrid, recurrent, or a mixture of
experts: then a hypothesis uses the check that shows the effect (`completion-shape`, `queueing` or
`scaling`; `prefix-cache` or `cached_tokens`).

## Why it misleads
Release notes say "supports batching"; the log of a hybrid model says "not available for this
architecture", at a level nobody reads. The flag is accepted, requests run one after the other, and
every one succeeds.

## Bad
```yaml
model: {name: 35B hybrid, source: served, architecture: hybrid}
engine:
  kind: mlx-lm
  version: "0.32.2"
  attach: http://127.0.0.1:8080
  flags: {decode-concurrency: 4}  # warning: BS315
```

## Good
```yaml
model: {name: 35B hybrid, source: served, architecture: hybrid}
engine:
  kind: mlx-lm
  version: "0.32.2"
  attach: http://127.0.0.1:8080
  flags: {decode-concurrency: 4}
hypotheses:
  - id: H1
    claim: Four requests really run side by side.
    test: {check: completion-shape, at: {concurrency: 4}, expect: parallel}
```

## Fix
Add a hypothesis with the check that shows whether the feature works.

## References
The judge's completion-shape and prefix-cache checks: docs/checks.md.
"""

from collections.abc import Iterator

from benchspec.lint.arm import Arm
from benchspec.lint.effects import BATCHING, CACHE, Effect, shown_by
from benchspec.lint.physics import is_moe
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, by_setting, names

RULE = Rule("BS315", "feature-unproven-for-architecture", "warning")

_DOUBTFUL = ("hybrid", "recurrent", "mamba", "ssm", "rwkv", "linear")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per feature and place."""
    for effect in (BATCHING, CACHE):
        if shown_by(effect, subject):
            continue
        on = [arm for arm in subject.arms if _doubtful(arm, effect)]
        for path, name, arms in by_setting(on, effect.setting):
            yield Fact(
                f"`{name}` is set for a {_kind(arms[0])} model, and nothing shows "
                "that the engine does it there.",
                path,
                f"add a hypothesis with `check: {effect.checks[0]}`",
                arms=names(arms),
                affects=subject.affected(arms),
            )


def _doubtful(arm: Arm, effect: Effect) -> bool:
    name = (arm.model.architecture or "").lower()
    return any(word in name for word in _DOUBTFUL) or (
        effect is BATCHING and is_moe(arm) and arm.attached
    )


def _kind(arm: Arm) -> str:
    return arm.model.architecture or "mixture-of-experts"
