"""Bytes, floating-point operations and traffic of one forward pass, from a model's geometry."""

from __future__ import annotations

from benchspec.judge.interval import Interval
from benchspec.spec.models import Experts, Model

ACTIVATION_BYTES = 2
"""Of one element between layers, unless an observation says otherwise: 16-bit floats."""


def weight_bytes(model: Model, streams: float = 1) -> Interval | None:
    """Bytes of weights that one forward pass of `streams` tokens reads.

    As stated per token, else active parameters x bits / 8, else from the size of the file. With
    experts, several streams read the union of theirs (uniform routing, a bound); an interval where
    the experts' share is not known.
    """
    each = _bytes_per_token(model)
    if each is None or streams <= 1 or model.experts is None:
        return each
    wider = expert_union(model.experts, streams) / model.experts.used
    if model.experts.bytes_share is None:
        return Interval(each.low, each.high * wider)
    in_experts = Interval.of(model.experts.bytes_share)
    return each * (1 - in_experts) + each * in_experts * wider


def _bytes_per_token(model: Model) -> Interval | None:
    if model.bytes_per_token is not None:
        return Interval.of(model.bytes_per_token)
    active = active_parameters(model)
    if active is not None and model.bits_per_weight is not None:
        return Interval.of(active * model.bits_per_weight / 8)
    return _from_the_file(model, active)


def read_from_the_file(model: Model) -> bool:
    """Whether the bytes per token are those of the weight file, for want of anything better."""
    stated = model.bytes_per_token is not None
    return not stated and model.bits_per_weight is None and model.size is not None


def _from_the_file(model: Model, active: float | None) -> Interval | None:
    """The file's size x active / all parameters; of a dense model the whole file."""
    if model.size is None or model.bits_per_weight is not None:
        return None
    whole, total = Interval.of(model.size), model.parameters.total if model.parameters else None
    if active is not None and total:
        return whole * (active / total)
    return whole if model.experts is None and model.architecture in (None, "dense") else None


def active_parameters(model: Model) -> float | None:
    """Parameters that one token uses; all of them where nothing says that only some are active."""
    if model.parameters is None:
        return None
    if model.parameters.active is not None:
        return model.parameters.active
    return model.parameters.total if model.experts is None else None


def expert_union(experts: Experts, streams: float) -> float:
    """Distinct experts per layer that `streams` tokens use together, with uniform routing.

    E (1 - (1 - k/E)^t): the expected number of distinct draws.
    """
    return float(experts.count * (1 - (1 - experts.used / experts.count) ** streams))


def kv_bytes(model: Model, context: float) -> Interval | None:
    """Bytes of KV cache that one token's attention reads at `context` tokens; as stated, else from
    geometry: attention layers x KV heads x head size x 2 (keys, values) x bytes x context."""
    if model.kv_size is not None:
        return Interval.of(model.kv_size)
    return kv_from_geometry(model, context)


def kv_from_geometry(model: Model, context: float) -> Interval | None:
    """The same, from the geometry alone."""
    layers = model.attention_layers or model.layers
    size, heads, each = model.head_size, model.kv_heads, model.kv_bytes_per_element
    if layers is None or heads is None or size is None or each is None:
        return None
    return Interval.of(layers * heads * size * 2 * each * context)


def prefill_flop(model: Model, tokens: float) -> tuple[float, float | None] | None:
    """FLOP of a prefill of `tokens`: (linear part 2 P n, causal attention 2 n^2 L H d or None).

    Attention: 4 n^2 L H d for scores and values, half of it under the causal mask.
    """
    active = active_parameters(model)
    if active is None:
        return None
    layers = model.attention_layers or model.layers
    if layers is None or model.heads is None or model.head_size is None:
        return 2 * active * tokens, None
    return 2 * active * tokens, 2 * tokens**2 * layers * model.heads * model.head_size
