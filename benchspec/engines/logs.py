"""The table of the logs that are known, by the kind of engine that writes them."""

from __future__ import annotations

from collections.abc import Mapping

from benchspec.engines import mlx_lm_log, ollama_log, other_log, sglang_log, vllm_log
from benchspec.engines.log_settings import EngineLog

LOGS: Mapping[str, EngineLog] = {
    module.LOG.kind: module.LOG
    for module in (vllm_log, sglang_log, ollama_log, mlx_lm_log, other_log)
}
