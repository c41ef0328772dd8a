"""Any server with OpenAI's API that already runs: vLLM, SGLang, Ollama, mlx-lm, or another.

Attach only. What such a server tells of itself differs, so each question is asked politely: a 404
means that it does not say. /health is left alone, since SGLang generates a token to answer it.
"""

from __future__ import annotations

import re
import time

from benchspec.engines.base import Endpoint, Found, Launch
from benchspec.engines.control_plane import Answer, ControlPlane, prometheus_values, token_ids
from benchspec.engines.endpoint import base_url, endpoint_of
from benchspec.engines.llama_cpp_found import Scalar, text, whole
from benchspec.errors import EngineFailure, UsageError
from benchspec.store.records import SettingRecord

MODELS_LIMIT = 200

# The canonical setting that limits concurrency, by engine.
_SLOTS_SETTING = {
    "vllm": "max-num-seqs",
    "sglang": "max-running-requests",
    "ollama": "OLLAMA_NUM_PARALLEL",
    "mlx-lm": "decode-concurrency",
}

# Where a server counts its requests and tokens, under the names that llama.cpp has.
_COUNTERS = {
    "llamacpp:requests_processing": "requests_processing",
    "llamacpp:requests_deferred": "requests_deferred",
    "vllm:num_requests_running": "requests_processing",
    "vllm:num_requests_waiting": "requests_deferred",
    "vllm:num_preemptions_total": "preemptions_total",
    "vllm:kv_cache_usage_perc": "kv_cache_usage",
    "vllm:prompt_tokens_total": "prompt_tokens_total",
    "vllm:generation_tokens_total": "tokens_predicted_total",
    "vllm:spec_decode_num_draft_tokens_total": "spec_decode_num_draft_tokens_total",
    "vllm:spec_decode_num_accepted_tokens_total": "spec_decode_num_accepted_tokens_total",
    "sglang:num_running_reqs": "requests_processing",
    "sglang:num_queue_reqs": "requests_deferred",
    "sglang:token_usage": "kv_cache_usage",
    "sglang:prompt_tokens_total": "prompt_tokens_total",
    "sglang:generation_tokens_total": "tokens_predicted_total",
}

# Labels of vLLM's gauge `vllm:cache_config_info` (vllm/v1/metrics/loggers.py) -> canonical setting.
_VLLM_CACHE = {
    "enable_prefix_caching": "enable-prefix-caching",
    "cache_dtype": "kv-cache-dtype",
    "block_size": "block-size",
    "gpu_memory_utilization": "gpu-memory-utilization",
}


class OpenAICompatible:
    """A server of someone else's: benchspec asks and measures, and never stops it."""

    endpoint: Endpoint

    def __init__(self, launch: Launch) -> None:
        if launch.attach is None:
            raise UsageError(
                f"benchspec does not start {launch.kind} itself.",
                hint="Start the server, and give its address as engine.attach.",
            )
        self.launch = launch
        self.argv: list[str] = []
        self.endpoint = endpoint_of(
            launch.attach, dialect=launch.dialect, api_key_env=launch.api_key_env
        )
        self._control = ControlPlane(base_url(self.endpoint), headers=dict(self.endpoint.headers))

    def __enter__(self) -> OpenAICompatible:
        try:
            self._wait_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        self._control.close()

    def _wait_ready(self) -> None:
        deadline = time.monotonic() + self.launch.ready_timeout_s
        while True:
            answer = self._control.get("/v1/models")
            if answer is None:
                raise self._failure("nothing answers", "Start the server, or correct the address.")
            if answer.status != 503 or time.monotonic() > deadline:
                break
            time.sleep(0.5)
        if answer.status in (401, 403):
            raise self._failure("it wants an API key", "Name its variable in engine.api_key_env.")
        if answer.status != 200 or _model_ids(answer) is None:
            raise self._failure(
                f"/v1/models answered {answer.status} with: {answer.excerpt()}",
                "Check that this address is an OpenAI-compatible server.",
            )

    def _failure(self, what: str, hint: str) -> EngineFailure:
        return EngineFailure(f"{self.launch.kind} at {self.launch.attach}: {what}.", hint=hint)

    def alive(self, patience_s: float = 0.0) -> bool:
        return True

    def pids(self) -> list[int]:
        return []

    def read_back(self) -> Found:
        live = self._live_settings()
        slots, source = self._slots()
        name = _SLOTS_SETTING.get(self.launch.kind, "slots")
        if slots is not None:
            live[name] = (slots, source)
        asked = {name: self.launch.slots, **self.launch.asked}
        return Found(
            build=self._build(),
            model=self._model(),
            settings=[
                _record(setting, value, live.get(setting)) for setting, value in asked.items()
            ],
            findings=[],
            facts=self._facts(slots, source),
        )

    def _facts(self, slots: int | None, source: str) -> dict[str, object]:
        """`slots` with its source; what the author declares stands in where nothing can be read."""
        if slots is None and self.launch.slots is not None:
            slots, source = self.launch.slots, "declared"
        return {} if slots is None else {"slots": slots, "slots_source": source}

    def _model(self) -> str:
        """The served name to ask for. Raises EngineFailure when several are served and none fits."""
        answer = self._control.find("/v1/models")
        ids = (_model_ids(answer) if answer else None) or []
        if self.launch.model_name in ids:
            return str(self.launch.model_name)
        if len(ids) == 1:
            return ids[0]
        listed = ", ".join(ids[:5]) or "none"
        raise self._failure(
            f"it serves {len(ids)} models ({listed}) and model.name is none of them",
            "Write the served name as model.name.",
        )

    def _build(self) -> str | None:
        for path in ("/version", "/api/version"):
            answer = self._control.find(path)
            version = text((answer.json_object() or {}).get("version")) if answer else None
            if version:
                return version
        answer = self._control.find("/props")
        return text((answer.json_object() or {}).get("build_info")) if answer else None

    def _slots(self) -> tuple[int | None, str]:
        """How many requests the server runs at once, and where it says so."""
        props = self._control.find("/props")
        slots = whole((props.json_object() or {}).get("total_slots")) if props else None
        if slots is not None:
            return slots, "/props"
        listed = self._control.find("/slots")
        states = listed.json_array() if listed else None
        if states:
            return len(states), "/slots"
        info = self._control.find("/server_info?config_format=json")
        return (_server_info_slots(info.json_object() or {}) if info else None), "/server_info"

    def _live_settings(self) -> dict[str, tuple[Scalar, str]]:
        metrics = self._control.find("/metrics")
        labels = _labels(metrics.text(), "vllm:cache_config_info") if metrics else {}
        return {
            setting: (_scalar(labels[label]), "/metrics")
            for label, setting in _VLLM_CACHE.items()
            if label in labels
        }

    def counters(self) -> dict[str, float]:
        """`requests_processing`, `requests_deferred` and a few more, as far as /metrics has them."""
        metrics = self._control.find("/metrics")
        values = prometheus_values(metrics.text()) if metrics else {}
        return {ours: values[theirs] for theirs, ours in _COUNTERS.items() if theirs in values}

    def token_ids(self, text: str) -> list[int] | None:
        """By /tokenize; one body holds the fields of llama.cpp, vLLM and SGLang."""
        body = {"content": text, "prompt": text, "add_special": False, "add_special_tokens": False}
        return token_ids(self._control.post("/tokenize", body))


def _record(name: str, asked: Scalar | None, live: tuple[Scalar, str] | None) -> SettingRecord:
    return SettingRecord(
        name=name,
        asked=asked,
        asked_source="spec" if asked is not None else None,
        found=live[0] if live else None,
        found_source=live[1] if live else None,
    )


def _model_ids(answer: Answer) -> list[str] | None:
    """Served names of a /v1/models answer; None when it is not one."""
    data = (answer.json_object() or {}).get("data")
    if not isinstance(data, list):
        return None
    names = [text(model.get("id")) for model in data[:MODELS_LIMIT] if isinstance(model, dict)]
    return [name for name in names if name]


def _server_info_slots(info: dict[str, object]) -> int | None:
    """vLLM in development mode, or SGLang; see the engines' own /server_info."""
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
    return sum(known) if known else None


def _labels(metrics: str, name: str) -> dict[str, str]:
    """Labels of the first sample of `name` in the Prometheus text format."""
    for line in metrics.splitlines():
        if line.startswith(name + "{"):
            return dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', line))
    return {}


def _scalar(value: str) -> Scalar:
    if value in ("True", "False"):
        return value == "True"
    for number in (int, float):
        try:
            return number(value)
        except ValueError:
            continue
    return value
