"""Any server with OpenAI's API that already runs: vLLM, SGLang, Ollama, mlx-lm, or another.

Attach only. What such a server tells of itself differs, so each question is asked politely: a 404
means that it does not say. /health is left alone, since SGLang generates a token to answer it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from benchspec.engines.base import Endpoint, Found, Launch
from benchspec.engines.control_plane import Answer, ControlPlane, prometheus_values, token_ids
from benchspec.engines.endpoint import base_url, endpoint_of
from benchspec.engines.llama_cpp_found import Scalar, text, whole
from benchspec.engines.log_file import log_of
from benchspec.engines.log_settings import ServerLog
from benchspec.engines.logs import LOGS
from benchspec.engines.openai_found import (
    cache_facts,
    live_settings,
    model_ids,
    server_info_slots,
)
from benchspec.errors import EngineFailure, UsageError
from benchspec.store.records import LogFinding, SettingRecord

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

# Settings that are listed although nobody asked for them, where they can be read.
_ALWAYS = (
    "max-num-seqs", "max-running-requests", "max-model-len", "context-length", "num-parallel",
    "num-ctx", "kv-cache-dtype", "kv-cache-type", "enable-prefix-caching", "disable-radix-cache",
    "attention-backend", "disable-custom-all-reduce", "tensor-parallel-size", "data-parallel-size",
    "speculative-algorithm", "num-gpu",
)  # fmt: skip


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
        self._reader = LOGS.get(launch.kind, LOGS["openai"])
        self._log = log_of(launch)

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
        if answer.status != 200 or model_ids(_listed(answer)) is None:
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
        served, info, metrics = self._served(), self._server_info(), self._metrics()
        log, gap = self._read_log()
        live = {name: (value, "log") for name, value in log.settings.items()}
        live |= live_settings(self.launch.kind, served, info, metrics)
        slots, source = self._slots(info)
        name = _SLOTS_SETTING.get(self.launch.kind, "slots")
        if slots is not None:
            live[name] = (slots, source)
        asked = {name: self.launch.slots, **self.launch.asked}
        unasked = sorted(live.keys() & (log.stated | set(_ALWAYS)) - asked.keys())
        return Found(
            build=self._build() or text(log.facts.get("build")),
            model=self._model(served),
            settings=[
                _record(setting, asked.get(setting), live.get(setting))
                for setting in [*asked, *unasked]
            ],
            findings=[*gap, *log.findings],
            facts=self._facts(log.facts | cache_facts(metrics) | _replicas(live), slots, source),
        )

    def _read_log(self) -> tuple[ServerLog, list[LogFinding]]:
        """What the log says, and a warning where a part of it was not read."""
        if self._log is None:
            return ServerLog({}, [], {}, frozenset()), []
        part = self._log.whole()
        log = self._reader.read(part.lines, asked=self.launch.asked, first=part.first)
        return log, part.gap()

    def trouble(self) -> list[LogFinding]:
        if self._log is None:
            return []
        part = self._log.news()
        found = self._reader.trouble(part.lines, asked=self.launch.asked, first=part.first)
        return [*part.gap(), *found]

    def _facts(
        self, log: Mapping[str, object], slots: int | None, source: str
    ) -> dict[str, object]:
        """The log's, with `slots` and its source; what the author declares stands in where nothing
        can be read."""
        if slots is None and "slots" in log:
            return {**log, "slots_source": "log"}
        if slots is None and self.launch.slots is not None:
            slots, source = self.launch.slots, "declared"
        return dict(log) if slots is None else {**log, "slots": slots, "slots_source": source}

    def _model(self, served: object) -> str:
        """The served name to ask for. Raises EngineFailure when several are served and none fits."""
        ids = model_ids(served) or []
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

    def _slots(self, info: Mapping[str, object]) -> tuple[int | None, str]:
        """How many requests the server runs at once, and where it says so."""
        props = self._control.find("/props")
        slots = whole((props.json_object() or {}).get("total_slots")) if props else None
        if slots is not None:
            return slots, "/props"
        listed = self._control.find("/slots")
        states = listed.json_array() if listed else None
        if states:
            return len(states), "/slots"
        return server_info_slots(info), "/server_info"

    def _served(self) -> object:
        answer = self._control.find("/v1/models")
        return _listed(answer) if answer else None

    def _server_info(self) -> dict[str, object]:
        if self.launch.kind not in ("vllm", "sglang"):
            return {}
        answer = self._control.find("/server_info?config_format=json")
        return (answer.json_object() or {}) if answer else {}

    def _metrics(self) -> str:
        answer = self._control.find("/metrics")
        return answer.text() if answer else ""

    def counters(self) -> dict[str, float]:
        """`requests_processing`, `requests_deferred` and a few more, as far as /metrics has them."""
        values = prometheus_values(self._metrics())
        return {ours: values[theirs] for theirs, ours in _COUNTERS.items() if theirs in values}

    def token_ids(self, text: str) -> list[int] | None:
        """By /tokenize; one body holds the fields of llama.cpp, vLLM and SGLang."""
        body = {"content": text, "prompt": text, "add_special": False, "add_special_tokens": False}
        return token_ids(self._control.post("/tokenize", body))


def _replicas(live: Mapping[str, tuple[Scalar, str]]) -> dict[str, object]:
    """Ranks with data parallelism, each of which serves requests of its own."""
    ranks = live.get("data-parallel-size", (1, ""))[0]
    return {"replicas": ranks} if type(ranks) is int and ranks > 1 else {}


def _listed(answer: Answer) -> object:
    """The models of a /v1/models answer, unchecked."""
    return (answer.json_object() or {}).get("data")


def _record(name: str, asked: Scalar | None, live: tuple[Scalar, str] | None) -> SettingRecord:
    return SettingRecord(
        name=name,
        asked=asked,
        asked_source="spec" if asked is not None else None,
        found=live[0] if live else None,
        found_source=live[1] if live else None,
    )
