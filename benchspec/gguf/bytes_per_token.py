"""What an engine must read from memory to decode, tensor by tensor and layer by layer. Pure.

Decoding is bound by memory bandwidth: these bytes divided by the bandwidth are the least time of a
round. Rules: llama.cpp build 11434, `src/llama-model.cpp` (which tensors are used how),
`src/llama-kv-cache.cpp` and `src/llama-memory-recurrent.cpp` (what is cached).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from benchspec.errors import UsageError
from benchspec.gguf.header import Header, Tensor
from benchspec.gguf.hyperparameters import Hyperparameters
from benchspec.gguf.quantisation import BY_NAME, TensorType, row_bytes

F32_BYTES = 4


@dataclass(frozen=True)
class Round:
    """One pass of the model. `tokens` are decoded in it (streams x (drafts + 1)); `context` tokens
    are visible to each of `streams`; `mtp_drafts` passes of the model's own draft layers go before.
    """

    tokens: int = 1
    streams: int = 1
    context: int = 0
    kv_type_k: str = "f16"
    kv_type_v: str = "f16"
    mtp_drafts: int = 0


@dataclass(frozen=True)
class TensorRead:
    """One tensor: bytes stored, bytes read in the round, and why (`use`)."""

    name: str
    use: str
    type_name: str
    stored_bytes: int
    read_bytes: float


@dataclass(frozen=True)
class CacheRead:
    """One layer's cache over all streams. `visible` tokens are read; a recurrent state has none."""

    layer: int
    use: str
    visible: int
    read_bytes: int
    written_bytes: int


@dataclass(frozen=True)
class Reads:
    """The table, and what it does not know (`notes`)."""

    tensors: tuple[TensorRead, ...]
    caches: tuple[CacheRead, ...]
    notes: tuple[str, ...]

    @property
    def stored_bytes(self) -> int:
        """All tensors of the model."""
        return sum(tensor.stored_bytes for tensor in self.tensors)

    @property
    def weight_bytes(self) -> float:
        """Weights read in the round."""
        return sum(tensor.read_bytes for tensor in self.tensors)

    @property
    def cache_read_bytes(self) -> int:
        """Keys, values and recurrent states read in the round."""
        return sum(cache.read_bytes for cache in self.caches)

    @property
    def cache_written_bytes(self) -> int:
        """Keys, values and recurrent states written in the round."""
        return sum(cache.written_bytes for cache in self.caches)

    @property
    def read_bytes(self) -> float:
        """Everything read in the round: the numerator of a bandwidth ceiling."""
        return self.weight_bytes + self.cache_read_bytes


def reads(header: Header, round_: Round | None = None) -> Reads:
    """What one round reads and writes.

    Raises UsageError for a KV type that is not known or a model outside this scheme (a vision
    projector, an encoder-decoder), GgufUnreadable for one without the needed metadata.
    """
    asked = round_ or Round()
    model = Hyperparameters(header)
    if model.architecture == "clip" or any(t.name.startswith("enc.") for t in header.tensors):
        raise UsageError(f"Bytes per token are not known for {model.architecture!r} models.")
    classify = _Classifier(header, model, asked)
    notes = []
    if model.window_is_unknown:
        notes.append(
            f"{model.architecture}: which layers see only {model.window} tokens is not in the file; "
            "all are counted as if they did, so the bytes of the cache are a lower bound."
        )
    return Reads(
        tensors=tuple(classify.read(tensor) for tensor in header.tensors),
        caches=tuple(_caches(header, model, asked)),
        notes=tuple(notes),
    )


def expected_distinct(experts: int, used: int, tokens: int) -> float:
    """Distinct experts that `tokens` tokens use together, each `used` of `experts`.

    E (1 - (1 - k/E)^B): routing taken as uniform and independent, hence an upper bound on reuse.
    """
    return experts * (1.0 - (1.0 - used / experts) ** tokens)


# --- tensors --------------------------------------------------------------------------------------

_BLOCK = re.compile(r"blk\.(\d+)\.(.+)")
_EXPERTS = re.compile(r"ffn_(?:gate|up|down|gate_up)_(?:exps|chexps)\.")
_SHARED_EXPERTS = re.compile(r"ffn_\w+_shexp\.")
_ROUTER = re.compile(r"ffn_gate_inp|exp_probs_b")
_ATTENTION = re.compile(r"attn_|indexer")
_RECURRENT = re.compile(r"ssm_|time_mix_|shortconv\.")
_LOOKUPS = ("per_layer_token_embd.weight", "position_embd.weight", "token_types.weight")
_DRAFT_ROOTS = ("nextn.", "dflash.", "eagle3.")


class _Classifier:
    """How each tensor of one model is used in one round."""

    def __init__(self, header: Header, model: Hyperparameters, asked: Round) -> None:
        names = {tensor.name for tensor in header.tensors}
        self.model = model
        self.asked = asked
        self.tied = "output.weight" not in names
        heads = sum(1 for name in names if name.endswith("nextn.shared_head_head.weight"))
        self.draft_uses_head = asked.mtp_drafts > 0 and model.mtp_layers > 0 and heads == 0

    def read(self, tensor: Tensor) -> TensorRead:
        use, read_bytes = self._use(tensor)
        return TensorRead(tensor.name, use, tensor.kind.name, tensor.stored_bytes, read_bytes)

    def _use(self, tensor: Tensor) -> tuple[str, float]:
        whole = float(tensor.stored_bytes)
        block = _BLOCK.fullmatch(tensor.name)
        if block is not None:
            return self._use_in_block(tensor, int(block[1]), block[2])
        if tensor.name == "token_embd.weight":
            rows = float(tensor.row_bytes * self.asked.tokens)
            if self.tied:
                return "lookup, and output (tied)", rows + whole * self._output_passes()
            return "lookup", rows
        if tensor.name in _LOOKUPS:
            return "lookup", float(tensor.row_bytes * self.asked.tokens)
        if tensor.name.startswith(_DRAFT_ROOTS):
            return "draft model only", 0.0
        if tensor.name == "output.weight":
            return "output", whole * self._output_passes()
        return "once", whole

    def _output_passes(self) -> int:
        """The output matrix is read once for the round, and for each draft without a head of its own."""
        return 1 + (self.asked.mtp_drafts if self.draft_uses_head else 0)

    def _use_in_block(self, tensor: Tensor, layer: int, rest: str) -> tuple[str, float]:
        if layer >= self.model.layers or rest.startswith("nextn."):
            if rest == "nextn.embed_tokens.weight":
                return "draft lookup", float(tensor.row_bytes * self.asked.mtp_drafts)
            one_draft = tensor.stored_bytes * self._share_of_experts(tensor, layer, rest, tokens=1)
            return "draft layer", one_draft * self.asked.mtp_drafts
        share = self._share_of_experts(tensor, layer, rest, tokens=self.asked.tokens)
        return _purpose(rest), tensor.stored_bytes * share

    def _share_of_experts(self, tensor: Tensor, layer: int, rest: str, *, tokens: int) -> float:
        """1 for what is read whole; the distinct experts' share of an expert tensor."""
        if _EXPERTS.match(rest) is None:
            return 1.0
        experts = self.model.at("expert_count", layer) or tensor.shape[-1]
        used = self.model.at("expert_used_count", layer)
        if used is None or used >= experts:
            return 1.0
        return expected_distinct(experts, used, tokens) / experts


def _purpose(rest: str) -> str:
    for use, pattern in (
        ("experts", _EXPERTS),
        ("shared experts", _SHARED_EXPERTS),
        ("router", _ROUTER),
        ("attention", _ATTENTION),
        ("recurrence", _RECURRENT),
    ):
        if pattern.match(rest):
            return use
    return "once"


# --- caches ---------------------------------------------------------------------------------------


def _caches(header: Header, model: Hyperparameters, asked: Round) -> list[CacheRead]:
    k, v = _kv_type(asked.kv_type_k), _kv_type(asked.kv_type_v)
    recurrent, attending = _layer_kinds(header, model)
    found = []
    for layer in range(model.all_layers):
        if layer in recurrent and layer < model.layers:
            found.append(_state(model, layer, asked))
        if layer in attending and model.owns_cache(layer):
            cache = _attention(model, layer, asked, k, v)
            if cache is not None:
                found.append(cache)
    return found


def _kv_type(name: str) -> TensorType:
    if name.lower() not in BY_NAME:
        raise UsageError(f"The KV cache type {name!r} is not known.")
    return BY_NAME[name.lower()]


def _layer_kinds(header: Header, model: Hyperparameters) -> tuple[set[int], set[int]]:
    """Layers with a recurrent state, and layers with attention, by metadata and else by tensors."""
    recurrent: set[int] = set()
    attending: set[int] = set()
    for tensor in header.tensors:
        block = _BLOCK.fullmatch(tensor.name)
        if block is None:
            continue
        layer, rest = int(block[1]), block[2]
        stated = model.states_recurrence(layer)
        if _RECURRENT.match(rest) and stated is not False:
            recurrent.add(layer)
        if re.match(r"attn_(?:k|qkv|kv)", rest) and stated is not True:
            attending.add(layer)
    return recurrent, attending


def _state(model: Hyperparameters, layer: int, asked: Round) -> CacheRead:
    size = model.state_elements * F32_BYTES * asked.streams
    return CacheRead(layer, "recurrent state", 0, read_bytes=size, written_bytes=size)


def _attention(
    model: Hyperparameters, layer: int, asked: Round, k: TensorType, v: TensorType
) -> CacheRead | None:
    per_token, use = _cached_per_token(model, layer, k, v)
    if per_token == 0:
        return None
    visible = asked.context
    if model.is_sliding(layer):
        use, visible = "sliding window", min(visible, model.window or visible)
    passes = 1
    written = asked.tokens
    if layer >= model.layers:
        use, passes, written = "draft layer", asked.mtp_drafts, asked.mtp_drafts * asked.streams
    return CacheRead(
        layer,
        use,
        visible,
        read_bytes=per_token * visible * asked.streams * passes,
        written_bytes=per_token * written,
    )


def _cached_per_token(
    model: Hyperparameters, layer: int, k: TensorType, v: TensorType
) -> tuple[int, str]:
    """Bytes per token of one layer: keys and values of every head, or one latent vector (no V)."""
    heads = model.heads_kv(layer)
    if heads and model.latent_length is not None:
        return row_bytes(k, model.latent_length), "latent attention"
    keys = row_bytes(k, heads * model.head_length("key", layer))
    values = row_bytes(v, heads * model.head_length("value", layer))
    return keys + values, "attention"
