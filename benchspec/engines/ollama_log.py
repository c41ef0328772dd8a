"""What Ollama's log says: how it starts the llama-server that does its work, and what that one says.

Pure. The patterns follow Ollama v0.33 (`server/sched.go`, `llm/`), whose child's lines stand in the
same log. Nothing is known before a model is loaded, which the first request does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from benchspec.engines import llama_cpp_log
from benchspec.engines.llama_cpp_found import Scalar
from benchspec.engines.log_drift import Marks, mark
from benchspec.engines.log_reading import LogForm, compiled, pattern
from benchspec.engines.log_settings import EngineLog, Renamed

_STARTS = r"starting llama[- ]server.*?\s"

_FACTS = compiled(
    r"Listening on \S+ \(version (?P<build>[\w.-]+)\)",
    _STARTS + r"(?:-np|--parallel) (?P<parallel>\d+)",
    _STARTS + r"(?:-c|--ctx-size) (?P<context_of_all>\d+)",
    r"vram-based default context.*default_num_ctx=(?P<default_num_ctx>\d+)",
)

_FINDINGS = (
    pattern("refused", "num-parallel", r"architecture does not currently support parallel"),
    pattern("changed", "num-ctx", r"requested context size too large for model"),
    pattern("changed", "num-ctx", r"llama-server load failed; reducing automatic context"),
    pattern("warning", None, r"evicting all other models and retrying once"),
    pattern("warning", "truncate", r"truncating input prompt"),
    pattern("warning", "num-gpu", r"predicted usage exceeds VRAM|runtime OOM detected"),
    pattern("refused", "num-gpu", r"model is too large for system memory"),
    pattern("warning", None, r"MLX model exceeds the recommended working set"),
    pattern("warning", "max-queue", r"maximum pending requests exceeded"),
)

# The child's settings are named as llama-server names them; asked for are Ollama's.
_CHILDS = tuple(replace(one, setting=None) for one in llama_cpp_log.FORM.findings)

FORM = LogForm(
    known="Ollama v0.33",
    level=re.compile(
        r"(?:\blevel=|^(?:\d+\.\d{2}\.\d{3}\.\d{3} )?)"
        r"(?P<level>(?<=level=)(?:DEBUG|INFO|WARN|ERROR)|(?<!level=)[IWED](?= ))(?: source=\S+)? "
    ),
    facts=(*_FACTS, *llama_cpp_log.FORM.facts),
    last_counts=True,
    findings=(*_FINDINGS, *_CHILDS),
    restarted=re.compile(r"Listening on \S+ \(version "),
    quotes=llama_cpp_log.FORM.quotes,
    harmless=llama_cpp_log.FORM.harmless,
)


def _of_one(facts: Mapping[str, object]) -> dict[str, Scalar]:
    """The context of one request: llama-server is given that of all together."""
    context, requests = facts.get("context_of_all"), facts.get("parallel")
    if not isinstance(context, int) or not isinstance(requests, int) or requests < 1:
        return {}
    return {"context_of_one": context // requests}


LOG = EngineLog(
    kind="ollama",
    form=FORM,
    marks=Marks((mark("server", r"\bversion \d", r"Listening on \S+ \(version [\w.-]+\)"),)),
    renamed=(
        Renamed("parallel", "num-parallel"),
        Renamed("n_ctx_slot", "num-ctx"),
        Renamed("context_of_one", "num-ctx"),
        Renamed("cache_type_k", "kv-cache-type"),
        Renamed("offloaded_layers", "num-gpu"),
        Renamed("n_batch", "num-batch"),
    ),
    slots="num-parallel",
    context="num-ctx",
    derived=_of_one,
)
