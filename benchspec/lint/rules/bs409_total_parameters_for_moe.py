"""The bytes per token of a mixture of experts are taken from all its parameters.

## What it checks
A mixture of experts (`experts`, `architecture: moe`) that states `parameters.total` also states
`parameters.active` or `bytes_per_token`, and `bytes_per_token` is not that of all parameters.

## Why it misleads
A token reads the active experts only. With 18 of 320 billion parameters active, the total makes the
model look as if it ran at eighteen times its ceiling, or the memory as if it were eighteen times
too slow.

## Bad
```yaml
model:
  name: 320B with 18B active
  source: served
  architecture: moe
  parameters: {total: 320e9}  # error: BS409
  bits_per_weight: 3.01
```

## Good
```yaml
model:
  name: 320B with 18B active
  source: served
  architecture: moe
  parameters: {total: 320e9, active: 18e9}
  bits_per_weight: 3.01
```

## Fix
Add `active`; `benchspec model FILE` prints the bytes per token of a GGUF, tensor by tensor.

## References
llama.cpp, src/llama-model.cpp: `expert_used_count`.
"""

from collections.abc import Iterator

from benchspec.lint.arm import Arm
from benchspec.lint.physics import is_moe
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, by_place, names

RULE = Rule("BS409", "total-parameters-for-moe", "error")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per model."""
    total = [arm for arm in subject.arms if is_moe(arm) and _key(arm)]
    for path, arms in by_place(total, lambda arm: arm.part("model", _key(arm))):
        yield Fact(
            "This is a mixture of experts, and its bytes per token are those of all parameters.",
            path,
            "state `parameters.active`: what one token reads",
            arms=names(arms),
            affects=subject.affected(arms),
        )


def _key(arm: Arm) -> str:
    """The key that counts all parameters for a token, or nothing."""
    model, parameters = arm.model, arm.model.parameters
    if not parameters or not parameters.total:
        return ""
    if model.bytes_per_token and model.bits_per_weight:
        everything = parameters.total * model.bits_per_weight / 8
        return "bytes_per_token" if abs(model.bytes_per_token.mid / everything - 1) < 0.05 else ""
    return "" if parameters.active or model.bytes_per_token else "parameters"
