"""The stated bytes per token do not follow from parameters and bits.

## What it checks
`bytes_per_token` against active (or, for a dense model, total) parameters x `bits_per_weight` / 8:
a difference of more than 15 %. And `kv_size` against layers x KV heads x head size x 2 x bytes x
context.

## Why it misleads
Every fraction of the memory bandwidth is tokens per second times this number. 7 GB of KV cache were
declared where the geometry gives 4.9.

## Bad
```yaml
model:
  name: 8B dense
  source: served
  parameters: {total: 8e9}
  bits_per_weight: 4.5
  bytes_per_token: 8 GB  # warning: BS604
```

## Good
```yaml
model:
  name: 8B dense
  source: served
  parameters: {total: 8e9}
  bits_per_weight: 4.5
  bytes_per_token: 4.5 GB
```

## Fix
Run `benchspec model FILE`, which adds up the tensors that a token reads.

## References
KV bytes per token = 2 x attention layers x KV heads x head size x bytes per element.
"""

from collections.abc import Iterator

from benchspec.lint.arm import Arm
from benchspec.lint.figures import shown
from benchspec.lint.physics import is_moe
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS604", "bytes-per-token-disagree", "warning")

_WEIGHTS = 0.15  # embeddings and output heads are read otherwise than their share of the file
_KV = 0.10


def check(subject: Subject) -> Iterator[Fact]:
    """At most one fact for the weights and one for the KV cache, of the first arm's model."""
    arm = subject.arms[0]
    yield from _weights(subject, arm)
    yield from _kv(subject, arm)


def _weights(subject: Subject, arm: Arm) -> Iterator[Fact]:
    model, parameters = arm.model, arm.model.parameters
    read = parameters and (parameters.active or (None if is_moe(arm) else parameters.total))
    if not model.bytes_per_token or not model.bits_per_weight or not read:
        return
    computed = read * model.bits_per_weight / 8
    if abs(model.bytes_per_token.mid / computed - 1) > _WEIGHTS:
        yield Fact(
            f"{read / 1e9:g}e9 x {model.bits_per_weight:g} / 8 = {shown(computed / 1e9)} GB, and "
            f"bytes_per_token says {model.bytes_per_token}.",
            arm.part("model", "bytes_per_token"),
            "run `benchspec model FILE`, or correct one of the three",
            affects=subject.affected(),
        )


def _kv(subject: Subject, arm: Arm) -> Iterator[Fact]:
    model, label = arm.model, arm.workload.label
    layers = model.attention_layers or model.layers
    heads = model.kv_heads or model.heads
    context = label.context_tokens if label else None
    if not (model.kv_size and layers and heads and model.head_size and context):
        return
    element = model.kv_bytes_per_element or 2
    computed = 2 * layers * heads * model.head_size * element * context
    if abs(model.kv_size.mid / computed - 1) > _KV:
        yield Fact(
            f"2 x {layers} layers x {heads} heads x {model.head_size} x {element:g} B x {context} = "
            f"{shown(computed / 1e9)} GB, and kv_size says {model.kv_size}.",
            arm.part("model", "kv_size"),
            "correct the size or the geometry",
            affects=subject.affected(),
        )
