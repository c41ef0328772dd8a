"""A model's geometry from its metadata, per layer where it differs by layer.

Keys and their defaults: `src/llama-arch.cpp` and `src/llama-hparams.cpp` of llama.cpp, build 11434.
"""

from __future__ import annotations

import re

from benchspec.gguf.header import GgufUnreadable, Header, Scalar

LAYERS_LIMIT = 4096
_ARCHITECTURE = re.compile(r"[A-Za-z0-9._-]{1,64}")

# Sliding-window period where the file has no pattern, hard-coded in `src/models/*.cpp`: of `n` layers
# the last is full.
_SWA_PERIODS = {
    "gemma2": 2,
    "gpt-oss": 2,
    "gemma3": 6,
    "gemma3n": 5,
    "cohere2": 4,
    "exaone4": 4,
    "afmoe": 4,
    "plamo3": 8,
}
_SWA_WINDOWS = {"gemma2": 4096}
_KV_FROM_START = {"gemma3n": 20}  # later layers use the caches of these


class Hyperparameters:
    """Typed access to `<architecture>.<key>`; whole numbers, None where a key is absent."""

    def __init__(self, header: Header) -> None:
        self.metadata = header.metadata
        architecture = header.metadata.get("general.architecture")
        if not isinstance(architecture, str) or not _ARCHITECTURE.fullmatch(architecture):
            raise GgufUnreadable("The model does not name its architecture.")
        self.architecture = architecture
        layers = self.number("block_count")
        if layers is None or not 0 < layers <= LAYERS_LIMIT:
            raise GgufUnreadable(f"The model of architecture {architecture!r} has no layer count.")
        self.all_layers = layers
        self.mtp_layers = min(self.number("nextn_predict_layers") or 0, layers - 1)
        self.layers = layers - self.mtp_layers

    def _value(self, key: str) -> Scalar | tuple[Scalar, ...] | None:
        return self.metadata.get(f"{self.architecture}.{key}")

    def number(self, key: str) -> int | None:
        """A whole number that holds for the model (the largest, where it differs by layer)."""
        value = self._value(key)
        if isinstance(value, tuple):
            numbers = [v for v in value if isinstance(v, int)]
            return max(numbers, default=None)
        return value if isinstance(value, int) else None

    def at(self, key: str, layer: int) -> int | None:
        """A whole number of one layer, from a scalar or a per-layer array."""
        value = self._value(key)
        if isinstance(value, tuple):
            value = value[layer] if layer < len(value) else None
        return int(value) if isinstance(value, int) else None

    # --- attention -------------------------------------------------------------------------------

    def heads_kv(self, layer: int) -> int:
        """Key and value heads of a layer; 0 = it has no attention."""
        stated = self.at("attention.head_count_kv", layer)
        return stated if stated is not None else self.at("attention.head_count", layer) or 0

    def head_length(self, which: str, layer: int) -> int:
        """Elements of one `key` or `value` head."""
        if self.is_sliding(layer):
            sliding = self.number(f"attention.{which}_length_swa")
            if sliding is not None:
                return sliding
        stated = self.number(f"attention.{which}_length")
        if stated is not None:
            return stated
        heads = self.at("attention.head_count", layer) or 1
        return (self.number("embedding_length") or 0) // heads

    @property
    def latent_length(self) -> int | None:
        """Elements cached per token by multi-head latent attention; None for other attention."""
        if self.number("attention.key_length_mla") is None:
            return None
        if self.number("attention.value_length_mla") is None:
            return None
        rank = self.number("attention.kv_lora_rank")
        if rank is None:
            return self.number("attention.key_length")
        return rank + (self.number("rope.dimension_count") or 0)

    @property
    def window(self) -> int | None:
        """Tokens that a sliding-window layer sees; None = no such layers."""
        stated = self.number("attention.sliding_window")
        return (stated if stated is not None else _SWA_WINDOWS.get(self.architecture)) or None

    def is_sliding(self, layer: int) -> bool:
        """Whether a layer sees the window only; True where nobody says (`window_is_unknown`)."""
        if self.window is None or layer >= self.layers:
            return False
        pattern = self._value("attention.sliding_window_pattern")
        if isinstance(pattern, tuple):
            return bool(pattern[layer]) if layer < len(pattern) else False
        period = pattern if isinstance(pattern, int) else _SWA_PERIODS.get(self.architecture)
        if period is None:
            return True
        return period == 0 or layer % period < period - 1

    @property
    def window_is_unknown(self) -> bool:
        """A window without a pattern, of an architecture whose pattern is not known here."""
        return (
            self.window is not None
            and self._value("attention.sliding_window_pattern") is None
            and self.architecture not in _SWA_PERIODS
        )

    def owns_cache(self, layer: int) -> bool:
        """False for late layers that use the cache of an earlier one."""
        shared = self.number("attention.shared_kv_layers") or 0
        own = _KV_FROM_START.get(self.architecture, self.layers - shared)
        return layer < own or layer >= self.layers

    # --- recurrent state -------------------------------------------------------------------------

    def states_recurrence(self, layer: int) -> bool | None:
        """Whether the metadata calls a layer recurrent; None where it does not say."""
        stated = self._value("attention.recurrent_layers")
        if isinstance(stated, tuple) and layer < len(stated):
            return bool(stated[layer])
        interval = self.number("full_attention_interval")
        if interval:
            return (layer + 1) % interval != 0
        return None

    @property
    def state_elements(self) -> int:
        """F32 elements of one recurrent layer's state for one sequence: convolution + recurrence."""
        embedding = self.number("embedding_length") or 0
        wkv = self.number("wkv.head_size")
        if wkv:
            return (self.number("token_shift_count") or 0) * embedding + embedding * wkv
        shortconv = self.number("shortconv.l_cache")
        if shortconv:
            return embedding * (shortconv - 1)
        taps = max((self.number("ssm.conv_kernel") or 0) - 1, 0)
        kda = self.number("kda.head_dim")
        if kda:
            heads = self.number("attention.head_count") or 0
            return 3 * taps * heads * kda + kda * kda * heads
        inner, state = self.number("ssm.inner_size") or 0, self.number("ssm.state_size") or 0
        groups = self.number("ssm.group_count") or 0
        return taps * (inner + 2 * groups * state) + state * inner
