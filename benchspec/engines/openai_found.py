"""From an OpenAI-compatible server's answers to the settings it really runs with. Pure.

Everything here is somebody else's JSON or metrics: types are checked, unknown shapes say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from benchspec.engines.llama_cpp_found import Live, Scalar, text, whole
from benchspec.engines.log_reading import typed
from benchspec.knowledge import engines as knowledge

MODELS_LIMIT = 200

# Labels of vLLM's gauge `vllm:cache_config_info` (vllm/v1/metrics/loggers.py) -> canonical setting.
_VLLM_CACHE = {
    "enable_prefix_caching": "enable-prefix-caching",
    "cache_dtype": "kv-cache-dtype",
    "block_size": "block-size",
    "gpu_memory_utilization": "gpu-memory-utilization",
}

# Where vLLM in development mode keeps what it runs with (/server_info?config_format=json).
_VLLM_CONFIGS = ("scheduler_config", "cache_config", "model_config", "parallel_config")
_VLLM_NAMES = {"cache_dtype": "kv-cache-dtype"}

# Of the longest request that a server takes, in /v1/models.
_LONGEST = {"vllm": "max-model-len", "sglang": "context-length"}


def model_ids(models: object) -> list[str] | None:
    """Served names of a /v1/models answer; None when it is not one."""
    if not isinstance(models, list):
        return None
    names = [text(model.get("id")) for model in models[:MODELS_LIMIT] if isinstance(model, dict)]
    return [name for name in names if name]


def live_settings(kind: str, models: object, info: Mapping[str, object], metrics: str) -> Live:
    """What the server answered, each with where; what it says of itself most directly wins."""
    told = {
        "/server_info": _server_info_settings(kind, info),
        "/v1/models": _longest_request(kind, models),
        "/metrics": _cache_settings(metrics),
    }
    return {
        setting: (value, where) for where, found in told.items() for setting, value in found.items()
    }


def _longest_request(kind: str, models: object) -> dict[str, Scalar]:
    """The setting that bounds a request's tokens, where all served models agree on it."""
    listed = models[:MODELS_LIMIT] if isinstance(models, list) else []
    lengths = {whole(model.get("max_model_len")) for model in listed if isinstance(model, dict)}
    length = lengths.pop() if len(lengths) == 1 else None
    return {_LONGEST[kind]: length} if kind in _LONGEST and length else {}


def server_info_slots(info: Mapping[str, object]) -> int | None:
    """Requests served at once by one rank, of vLLM in development mode or of SGLang, whose ranks may
    differ: the fewest."""
    config = info.get("vllm_config")
    scheduler = config.get("scheduler_config") if isinstance(config, dict) else None
    if isinstance(scheduler, dict):
        return whole(scheduler.get("max_num_seqs"))
    states = info.get("internal_states")
    if not isinstance(states, list):
        return None
    key = "effective_max_running_requests_per_dp"
    counts = [whole(state.get(key)) for state in states if isinstance(state, dict)]
    known = [count for count in counts if count is not None]
    return min(known, default=None)


def _server_info_settings(kind: str, info: Mapping[str, object]) -> dict[str, Scalar]:
    """Canonical settings in /server_info: SGLang's arguments as resolved, or vLLM's configuration."""
    known = knowledge.engine(kind)
    found: dict[str, Scalar] = {}
    for name, value in _arguments(info):
        setting = _VLLM_NAMES.get(name) or knowledge.canonical(kind, name)
        if known and setting in known.settings and isinstance(value, Scalar):
            found.setdefault(setting, (text(value, 60) or "") if isinstance(value, str) else value)
    return found


def _arguments(info: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    config = info.get("vllm_config")
    if not isinstance(config, dict):
        yield from info.items()
        return
    for part in _VLLM_CONFIGS:
        stated = config.get(part)
        if isinstance(stated, dict):
            yield from stated.items()


def _cache_settings(metrics: str) -> dict[str, Scalar]:
    """Canonical settings in the labels of vLLM's /metrics."""
    labels = _labels(metrics, "vllm:cache_config_info")
    return {
        setting: typed(labels[label]) for label, setting in _VLLM_CACHE.items() if label in labels
    }


def cache_facts(metrics: str) -> dict[str, object]:
    """`kv_tokens`: the tokens that vLLM's KV cache holds, where its /metrics say so."""
    tokens = typed(_labels(metrics, "vllm:cache_config_info").get("kv_cache_size_tokens", ""))
    return {"kv_tokens": tokens} if type(tokens) is int and tokens > 0 else {}


def _labels(metrics: str, name: str) -> dict[str, str]:
    """Labels of the first sample of `name` in the Prometheus text format."""
    for line in metrics.splitlines():
        if line.startswith(name + "{"):
            return dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', line))
    return {}
