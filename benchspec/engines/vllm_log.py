"""What vLLM's log says: the arguments it was given, what it made of them, and what it fell back to.

Pure. The patterns follow the format strings of vLLM 0.32.0 (`entrypoints/`, `config/`,
`v1/core/kv_cache_utils.py`, `v1/worker/`, `distributed/`) and of older ones where they differ.
"""

from __future__ import annotations

import re

from benchspec.engines.log_drift import Marks, mark
from benchspec.engines.log_reading import LogForm, compiled, pattern
from benchspec.engines.log_settings import EngineLog, Renamed

_FACTS = compiled(
    r"vLLM API server version (?P<build>\S+)",
    r"Initializing an? (?:V\d )?LLM engine \(v(?P<build>[^)]+)\) with config: (?P<settings>.*)",
    r"non-default args: (?P<arguments>\{.*\})",
    r"KV cache size: (?P<kv_tokens>[\d,]+) tokens",
    r"Maximum concurrency for (?P<full_length_tokens>[\d,]+) tokens per request: "
    r"(?P<full_length_requests>[\d.]+)x",
    r"Available KV cache memory: (?P<kv_gib_per_device>[\d.]+) GiB",
    r"Model loading took (?P<weights_gib_per_device>[\d.]+) Gi?B",
    r"is using nccl==(?P<nccl_version>[\d.]+)",
    r"Using (?P<attention_backend>[A-Z_]+|Flash Attention|FlashInfer|Triton) (?:attention )?backend",
    r"Graph capturing finished in \d+ secs, took (?P<cuda_graphs_gib>[\d.]+) GiB",
)

_FINDINGS = (
    pattern("changed", "max-model-len", r"Auto-fit max_model_len: reduced from \d+ to \d+"),
    pattern("refused", "max-model-len", r"To serve at least one request with the model's max seq"),
    pattern("refused", "max-model-len", r"Cannot auto-fit max_model_len"),
    pattern("refused", "gpu-memory-utilization", r"No available memory for the cache blocks"),
    pattern("refused", "max-num-seqs", r"max_num_seqs \(\d+\) exceeds available Mamba cache"),
    pattern(
        "changed",
        "enable-chunked-prefill",
        r"[Dd]isabl(?:e|ing) (?:both|chunked prefill)|Chunked prefill is not supported",
    ),
    pattern(
        "changed",
        "enable-prefix-caching",
        r"[Dd]isabl(?:e|ing) prefix caching|Prefix caching is not supported"
        r"|prefix caching to be disabled",
    ),
    pattern("changed", "mamba-cache-mode", r"Mamba cache mode is set to 'none'"),
    pattern(
        "fell-back",
        "async-scheduling",
        r"Async scheduling (?:not supported|is not compatible|will be disabled|is disabled)",
    ),
    pattern(
        "changed",
        "compilation-config",
        r"Overriding cudagraph_mode|setting cudagraph_mode=(?:PIECEWISE|NONE)"
        r"|CUDAGraphMode\.\w+ is not supported",
    ),
    pattern(
        "changed", "max-cudagraph-capture-size", r"Truncating max_cudagraph_capture_size to \d+"
    ),
    pattern(
        "changed",
        "generation-config",
        r"Default (?:vLLM )?sampling parameters have been overridden by",
    ),
    pattern("fell-back", "speculative-config", r"Dynamic speculative decoding is not supported"),
    pattern(
        "changed",
        "max-num-batched-tokens",
        r"max_num_scheduled_tokens is set to \d+ based on the speculative",
    ),
    pattern("fell-back", None, r"Model Runner V2 (?:requires Triton|does not yet support)"),
    pattern("fell-back", None, r"Falling back to (?:the )?V0"),
    pattern("fell-back", "dtype", r"doesn't support \S+ Falling back to"),
    pattern("changed", "dtype", r"Casting torch\.\w+ to torch\.\w+"),
    pattern("changed", "num-gpu-blocks-override", r"Overriding num_gpu_blocks=\d+ with"),
    pattern(
        "fell-back",
        "disable-hybrid-kv-cache-manager",
        r"Hybrid KV cache manager is disabled|Turning off hybrid kv cache manager",
    ),
    pattern("fell-back", "disable-custom-all-reduce", r"Custom allreduce is disabled"),
    pattern("fell-back", "attention-backend", r"Cannot use \w+ (?:attention )?backend"),
    pattern("ignored", None, r"fields were present in the request but ignored: "),
    pattern("changed", "temperature", r"temperature \S+ is less than"),
    pattern("warning", "kv-cache-memory-bytes", r"is preempted by"),
)

FORM = LogForm(
    known="vLLM 0.32.0",
    level=re.compile(
        r"(?:^|\s)(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? "
        r"(?:\[?[\w./-]+:\d+\] )?"
    ),
    facts=_FACTS,
    findings=_FINDINGS,
    restarted=re.compile(r"vLLM API server version|non-default args: "),
    started=re.compile(r"Starting vLLM (?:API )?server|Application startup complete"),
    while_running=re.compile(r"preempt|ignored: |is less than"),
    harmless=re.compile(
        r"Triton is not installed|To silence this warning|pin_memory=False|deprecated"
    ),
    line_limit=20_000,
)

MARKS = Marks(
    (
        mark("arguments", r"non-default arg", r"non-default args: \{"),
        mark(
            "configuration",
            r"Initializing an? (?:V\d )?LLM engine",
            r"LLM engine \(v[^)]+\) with config: .*max_seq_len=\d+",
        ),
        mark("KV cache", r"\w+ KV cache size", r"KV cache size: [\d,]+ tokens"),
    )
)

LOG = EngineLog(
    kind="vllm",
    form=FORM,
    marks=MARKS,
    renamed=(
        Renamed("max_seq_len", "max-model-len"),
        Renamed("chunked_prefill_enabled", "enable-chunked-prefill"),
    ),
    slots="max-num-seqs",
    context="max-model-len",
    replicas="data-parallel-size",
    devices=("tensor-parallel-size", "pipeline-parallel-size"),
)
