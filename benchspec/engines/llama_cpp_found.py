"""From llama-server's answers and log to the settings it really runs with. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import PurePath

from benchspec.store.records import SettingRecord

Scalar = str | int | float | bool
Facts = Mapping[str, object]
Live = dict[str, tuple[Scalar, str]]  # canonical setting -> (value, where it was read)

# Canonical setting -> the fact of `llama_cpp_log` that shows it.
_FROM_LOG = {
    "ctx-size": "n_ctx",
    "ctx-size-per-slot": "n_ctx_slot",
    "parallel": "n_slots",
    "kv-unified": "kv_unified",
    "batch-size": "n_batch",
    "ubatch-size": "n_ubatch",
    "cache-type-k": "cache_type_k",
    "cache-type-v": "cache_type_v",
    "threads": "threads",
    "threads-batch": "threads_batch",
    "load-mode": "load_mode",
    "ctx-checkpoints": "context_checkpoints",
    "warmup": "warmup",
}

# Canonical setting -> the key in /props default_generation_settings.params.
_FROM_DEFAULTS = {
    "seed": "seed",
    "temp": "temperature",
    "top-k": "top_k",
    "top-p": "top_p",
    "min-p": "min_p",
    "repeat-penalty": "repeat_penalty",
    "n-predict": "n_predict",
    "ignore-eos": "ignore_eos",
    "spec-type": "speculative.types",
}

ALWAYS = ("parallel", "ctx-size", "ctx-size-per-slot", "kv-unified")
"""Settings that are listed whether or not somebody asked for them."""

WHERE_READ = (
    "flash-attn", "cache-type-k", "cache-type-v", "n-gpu-layers", "spec-type", "split-mode",
    "GGML_CUDA_ALLREDUCE",
)  # fmt: skip
"""Settings that are listed beside these where they can be read."""


def whole(value: object) -> int | None:
    """A count from untrusted JSON: an integer from 0 to 2^40, else None."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= 1 << 40 else None


def text(value: object, limit: int = 500) -> str | None:
    """A string from untrusted JSON, cut at `limit` and without control characters; else None."""
    if not isinstance(value, str):
        return None
    return "".join(c for c in value[:limit] if c.isprintable()) or None


def model_name(props: Mapping[str, object]) -> str | None:
    """The alias, or the file's name without its folders (they are the user's own business)."""
    alias, path = text(props.get("model_alias")), text(props.get("model_path"))
    if alias and alias != path:
        return alias
    return PurePath(path).name if path else None


def speculates(slots: list[object] | None) -> bool | None:
    """Whether any slot speculates, from /slots; None when it does not say."""
    flags = [slot.get("speculative") for slot in slots or [] if isinstance(slot, dict)]
    known = [flag for flag in flags if isinstance(flag, bool)]
    return any(known) if known else None


def live_settings(props: Mapping[str, object], slots: list[object] | None, facts: Facts) -> Live:
    """Every setting that can be read, in canonical names."""
    live = {
        name: (value, "log")
        for name, fact in _FROM_LOG.items()
        if isinstance(value := facts.get(fact), Scalar)
    }
    for name, value in _derived_from_log(facts).items():
        live[name] = (value, "log")
    for name, value in _from_props(props).items():
        live[name] = (value, "/props")
    if speculates(slots) is False:
        live["spec-type"] = ("none", "/slots")
    return live


def _derived_from_log(facts: Facts) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {}
    if "fit" in facts:
        found["fit"] = "off" if facts["fit"] == "off" else "on"
    if facts.get("flash_attention") in ("enabled", "disabled"):
        found["flash-attn"] = "on" if facts["flash_attention"] == "enabled" else "off"
    layers = _offloaded(facts)
    if layers is not None:
        found["n-gpu-layers"] = layers
    if "internal_allreduce_gpus" in facts:
        found["GGML_CUDA_ALLREDUCE"] = "internal"
    if "meta_devices" in facts:
        found["split-mode"] = "tensor"
    cache = facts.get("prompt_cache")
    if isinstance(cache, str):
        mib = {"disabled": 0, "no limit": -1}.get(cache)
        found["cache-ram"] = int(cache.split()[0]) if mib is None else mib
    return found


def _offloaded(facts: Facts) -> int | str | None:
    """Layers on the GPU: a count, or `all`. A log of the load without such a line means none."""
    offloaded, total = facts.get("offloaded_layers"), facts.get("offloadable_layers")
    if offloaded is None:
        return 0 if "n_ctx" in facts else None
    assert isinstance(offloaded, int)
    return "all" if offloaded == total else offloaded


def _from_props(props: Mapping[str, object]) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {}
    slots = whole(props.get("total_slots"))
    if slots is not None:
        found["parallel"] = slots
    defaults = props.get("default_generation_settings")
    if not isinstance(defaults, dict):
        return found
    context = whole(defaults.get("n_ctx"))
    if context is not None:
        found["ctx-size-per-slot"] = context
    parameters = defaults.get("params")
    if isinstance(parameters, dict):
        values = {name: _rounded(parameters.get(key)) for name, key in _FROM_DEFAULTS.items()}
        found |= {name: value for name, value in values.items() if value is not None}
    return found


def _rounded(value: object) -> Scalar | None:
    """The server holds 32-bit floats: 0.8 comes back as 0.800000011920929."""
    if isinstance(value, float):
        return round(value, 6) if math.isfinite(value) else None
    if isinstance(value, str):
        return text(value)
    return value if isinstance(value, bool | int) else None


def setting_records(
    asked: Mapping[str, Scalar | None], live: Mapping[str, tuple[Scalar, str]]
) -> list[SettingRecord]:
    """One record per asked setting, and always slots and context; unreadable ones have no `found`.
    Then what decides the speed, where it can be read."""
    names = dict.fromkeys([*ALWAYS, *asked, *(name for name in WHERE_READ if name in live)])
    return [
        SettingRecord(
            name=name,
            asked=asked.get(name),
            asked_source="spec" if asked.get(name) is not None else None,
            found=_as_asked(name, asked.get(name), *live[name]) if name in live else None,
            found_source=live[name][1] if name in live else None,
        )
        for name in names
    ]


def _as_asked(name: str, asked: Scalar | None, found: Scalar, _source: str) -> Scalar:
    """Spell a value as the spec does where both mean the same, so that they compare equal."""
    if name == "n-gpu-layers" and found == "all" and isinstance(asked, int) and asked > 0:
        return asked
    if isinstance(asked, bool) and found in ("on", "off"):
        return found == "on"
    return found
