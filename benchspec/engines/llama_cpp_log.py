"""What llama-server's log says: facts of the start-up, and requests it refused, changed or dropped.

Pure: lines in, facts and findings out. The patterns follow the format strings of llama.cpp build
11434 (`common/log.cpp`, `common/fit.cpp`, `src/llama-context.cpp`, `tools/server/*`); most facts are
printed at verbosity 4 only.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from benchspec.engines.log_drift import Marks, mark
from benchspec.engines.log_reading import (
    Line,
    LogForm,
    LogReading,
    compiled,
    numbered,
    pattern,
    read,
)
from benchspec.store.records import LogFinding

_LEVEL = re.compile(r"^(?:\d+\.\d{2}\.\d{3}\.\d{3} )?(?P<level>[IWED]) ")

# Facts that occur once; a named group is the fact's name. The first occurrence counts: the target
# model is loaded before a draft model.
_FACTS = compiled(
    r"build (?P<build_number>\d+) \((?P<build_commit>[0-9a-f]+|unknown)\) with",
    r"verbosity = (?P<verbosity>\d+) \(adjust",
    r"n_threads = (?P<threads>\d+)(?: \(n_threads_batch = (?P<threads_batch>\d+)\))? / "
    r"(?P<processors>\d+) \|",
    r"creating a Meta device (?:for tensor parallelism from|with) (?P<meta_devices>\d+) dev",
    r"print_info: arch\s+= (?P<architecture>\S+)",
    r"print_info: n_layer\s+= (?P<layers>\d+)",
    r"print_info: n_expert\s+= (?P<experts>\d+)",
    r"print_info: model params\s+= (?P<parameters>[\d.]+ [TBMK])",
    r"print_info: file type\s+= (?P<file_type>.+)",
    r"print_info: file size\s+= (?P<file_size>[\d.]+ [MG]iB) \((?P<bits_per_weight>[\d.]+)",
    r"n_ctx_train\s+= (?P<n_ctx_train>\d+)",
    r"loading model tensors.*\(load_mode = (?P<load_mode>[^)]+)\)",
    r"offloaded (?P<offloaded_layers>\d+)/(?P<offloadable_layers>\d+) layers to GPU",
    r"llama_context: n_ctx\s+= (?P<n_ctx>\d+)",
    r"llama_context: n_ctx_seq\s+= (?P<n_ctx_seq>\d+)",
    r"llama_context: n_batch\s+= (?P<n_batch>\d+)",
    r"llama_context: n_ubatch\s+= (?P<n_ubatch>\d+)",
    r"llama_context: flash_attn\s+= (?P<flash_attention_asked>\w+)",
    r"Flash Attention (?P<flash_attention>enabled)",
    r"llama_kv_cache: size =\s+(?P<kv_mib>[\d.]+) MiB \(\s*(?P<kv_cells>\d+) cells,"
    r"\s+(?P<kv_layers>\d+) layers,.*K \((?P<cache_type_k>\w+)\).*V \((?P<cache_type_v>\w+)\)",
    r"graph(?: \([^)]*\))?: nodes = \d+(?: / \d+)?, splits = (?P<graph_splits>\d+)",
    r"reserve took [\d.]+ ms, sched copies = (?P<pipeline_copies>\d+)",
    r"initialized AllReduce pipeline: (?P<internal_allreduce_gpus>\d+) GPUs",
    r"n_parallel is set to (?P<n_parallel_asked>auto)",
    r"initializing, n_slots = (?P<n_slots>\d+), n_ctx_slot = (?P<n_ctx_slot>\d+), "
    r"kv_unified = '(?P<kv_unified>true|false)'",
    r"prompt cache is (?:enabled, size limit: )?(?P<prompt_cache>\d+ MiB|no limit|disabled)",
    r"context checkpoints enabled, max = (?P<context_checkpoints>\d+)",
    r"(?P<warmup>warming up the model)",
    r"(?P<fit_ran>fitting params to device memory)",
    r"(?P<fit_succeeded>successfully fit params)",
    r"(?P<fit_unchanged>no changes needed)",
)

# Facts that occur once per device or file, kept as lists of the groups' text.
_LISTS = {
    "config_files": re.compile(r"using config file: (.+)"),
    "devices": re.compile(r"using device (\S+ \(.+\) \([^()]*\)) - \d+ MiB free"),
    "weight_buffers": re.compile(r"load_tensors:\s+(\S+ model buffer size =\s+[\d.]+ MiB)"),
    "kv_buffers": re.compile(r"llama_kv_cache:\s+(\S+ KV buffer size =\s+[\d.]+ MiB)"),
    "state_buffers": re.compile(r"llama_memory_recurrent:\s+(\S+ RS buffer size =\s+[\d.]+ MiB)"),
    "compute_buffers": re.compile(r"sched_reserve:\s+(\S+ compute buffer size =\s+[\d.]+ MiB)"),
}

_SPECULATION = ("spec-type", "spec-draft-model", "spec-default", "spec-draft-hf")


_FINDINGS = (
    pattern("refused", "fit", r"failed to fit params to free device memory"),
    pattern("refused", "fit", r"encountered an error while trying to fit params"),
    pattern("changed", "ctx-size", r"context size reduced from \d+ to \d+"),
    pattern("ignored", "fit", r"did not report memory; --fit will not use it"),
    pattern("ignored", "fit", r"failed to measure the memory of the extra model"),
    pattern("fell-back", "flash-attn", r"Flash Attention not supported, set to disabled"),
    pattern("fell-back", None, r"resolve_fused_ops: .+ not supported, set to disabled"),
    pattern("fell-back", "flash-attn", r"layer \d+ is assigned to device .* but .* is assigned"),
    pattern("changed", "flash-attn", r"flash_attn is not compatible with Grok"),
    pattern("changed", "flash-attn", r"enabling flash_attn since it is required for"),
    pattern("refused", "split-mode", r"SPLIT_MODE_TENSOR (?:requires|not implemented)"),
    pattern("refused", "split-mode", r"does not support split buffers"),
    pattern("fell-back", "split-mode", r"SPLIT_MODE_TENSOR being used for a single device"),
    pattern("refused", "cache-type-v", r"quantized V cache requires flash_attn"),
    pattern("refused", "cache-type-k", r"cache type \S+ with block size \d+ does not divide"),
    pattern("refused", "cache-type-k", r"does not support different K"),
    pattern("fell-back", "cache-type-k", r"no FlashAttention vector kernel compiled for K/V"),
    pattern("refused", "main-gpu", r"invalid value for main_gpu"),
    pattern("changed", "ctx-size", r"n_ctx is not divisible by n_seq_max"),
    pattern("changed", "ctx-size", r"n_ctx_seq \(\d+\) > n_ctx_train"),
    pattern("changed", "ctx-size", r"slot context \(\d+\) exceeds the training context"),
    pattern("ignored", "kv-unified-per-slot", r"--kv-unified-per-slot \(\d+\) exceeds"),
    pattern("fell-back", "split-mode", r"retrying without pipeline parallelism"),
    pattern("changed", "LLAMA_GRAPH_REUSE_DISABLE", r"graph reuse disabled"),
    pattern("ignored", "context-shift", r"ctx_shift is not supported by"),
    pattern("ignored", "cache-reuse", r"cache_reuse is not supported by"),
    pattern("ignored", "cache-reuse", r"cache reuse is not supported - ignoring"),
    pattern("ignored", "context-shift", r"KV cache shifting is not supported"),
    pattern("ignored", "swa-full", r"swa_full is not supported by this model"),
    pattern("changed", "swa-full", r"using full-size SWA cache"),
    pattern("ignored", "cache-idle-slots", r"--cache-idle-slots requires --cache-ram"),
    pattern("fell-back", "spec-type", r"speculative decoding not supported by this context"),
    pattern("fell-back", "spec-type", r"failed to initialize speculative decoding context"),
    pattern("refused", "spec-draft-model", r"draft model .* must match"),
    pattern("changed", "spec-draft-n-max", r"exceeds the trained block size \d+ -- clamping"),
    pattern("ignored", "spec-type", r"no implementations specified for spec", _SPECULATION),
    pattern("warning", "spec-draft-model", r"Drafts may degrade"),
    pattern("warning", "spec-type", r"ngram_mod occupancy .* resetting"),
    pattern("fell-back", "backend-sampling", r"backend sampling not supported with"),
    pattern("fell-back", "backend-sampling", r"cannot be offloaded to the backend"),
    pattern("ignored", "ignore-eos", r"vocab does not have an EOS token"),
    pattern("fell-back", "GGML_CUDA_ALLREDUCE", r"NCCL (?:not compiled in|init failed|disabled)"),
    pattern("fell-back", "GGML_CUDA_ALLREDUCE", r"internal AllReduce init failed"),
    pattern("ignored", "GGML_CUDA_ALLREDUCE", r"unknown GGML_CUDA_ALLREDUCE value"),
    pattern("warning", "load-mode", r"tensor overrides to CPU are used with mmap enabled"),
    pattern("ignored", "spec-type", r"model has unused tensor \S+"),
    pattern("fell-back", "lazy-mode", r"mmap is not available, so tensor"),
    pattern("changed", "batch-size", r"setting n_batch = n_ubatch"),
    pattern("warning", "ctx-size", r"failed to find free space in the KV cache"),
    pattern("warning", "ctx-size", r"failed to find a memory slot for batch"),
    pattern("warning", "kv-unified", r"purging slot \d+"),
    pattern("warning", "context-shift", r"slot context shift"),
    pattern("changed", "ctx-size", r"stop processing: n_\w+ = \d+, truncated = 1\b"),
    pattern("warning", "cache-prompt", r"need to evaluate at least 1 token"),
    pattern("warning", "cache-prompt", r"forcing full prompt re-processing"),
    pattern("ignored", "n-gpu-layers", r"no usable GPU found"),
    pattern("ignored", "n-gpu-layers", r"compiled without support for GPU offload"),
    pattern("refused", None, r"error: invalid argument: \S+"),
    pattern("refused", None, r"the argument has been removed"),
    pattern("warning", None, r"argument '\S+' specified multiple times"),
    pattern("ignored", "defrag-thold", r"--defrag-thold is deprecated"),
    pattern("warning", None, r"environment variable is set, but will be overwritten"),
    pattern("changed", None, r"using config file: "),
)

# Text out of the model file, which must not be taken for the server's own words.
_QUOTES_THE_MODEL = re.compile(r"llama_model_loader: - kv|print_info: general\.name")
_RESTARTED = re.compile(r"\bbuild_info: b\d")
_STARTED = re.compile(r"listening on \S+")

# After the start, a dozen ordinary lines per request; of those only these may matter.
_WHILE_RUNNING = re.compile(
    r"forcing full|need to evaluate|purging slot|context shift|truncated = 1\b"
)

# Always there, or only a consequence of another line.
_HARMLESS = re.compile(
    r"security: no API key is set|default port will be changed|supports preserving reasoning"
    r"|for bugs during this step|n_past was set to \d"
)

# The lines of a failed start that name its cause best, the most telling first; then what merely
# says that it failed.
_CAUSES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^error: (?!Failed to init server)",
        r"invalid magic characters|failed to open GGUF file|not within the file bounds",
        r"out of memory|unable to allocate|failed to allocate",
        r"couldn't bind|address already in use",
        r"error while handling argument|invalid argument|has been removed",
        r"unknown model architecture|LLAMA_SPLIT_MODE_TENSOR needs|split buffers",
    )
)
_CONSEQUENCE = re.compile(
    r"failed to (?:load model|create.?context|fit params)|exiting due to|trying to fit params"
    r"|Failed to init server"
)


FORM = LogForm(
    known="llama.cpp b11434",
    level=_LEVEL,
    facts=_FACTS,
    lists=_LISTS,
    findings=_FINDINGS,
    restarted=_RESTARTED,
    started=_STARTED,
    while_running=_WHILE_RUNNING,
    quotes=_QUOTES_THE_MODEL,
    harmless=_HARMLESS,
)

MARKS = Marks(
    (
        mark("layers", r"\bn_layers?\b", r"print_info: n_layer\s+= \d+"),
        mark("context size", r"llama_context: n_ctx\b(?! is not)", r"llama_context: n_ctx\s+= \d+"),
        mark("flash attention", r"\bflash_attn\b", r"llama_context: flash_attn\s+= \w+"),
        mark(
            "slots",
            r"\bn_slots\b",
            r"n_slots = \d+, n_ctx_slot = \d+, kv_unified = '(?:true|false)'",
        ),
    ),
    verbosity=re.compile(r"verbosity = (\d+) \(adjust"),
    detailed=4,
)


def read_log(
    lines: Iterable[Line], *, asked: Collection[str] = (), running: bool = False
) -> LogReading:
    """As `log_reading.read`. Facts are absent when the line is: at verbosity 3 most are."""
    reading = read(lines, FORM, asked=asked, running=running)
    _conclude(reading.facts, reading.findings)
    return reading


def _conclude(facts: dict[str, object], findings: list[LogFinding]) -> None:
    """Facts that follow from the presence or absence of several lines."""
    if "verbosity" in facts or "n_ctx" in facts:
        facts["fit"] = _fit(facts)
        facts["warmup"] = "warmup" in facts
    if facts.get("fit") == "changed":
        text = "fit changed the parameters to fit the free device memory"
        findings.append(LogFinding(effect="changed", setting="fit", text=text))
    if any(f.setting == "flash-attn" and f.effect == "fell-back" for f in findings):
        facts["flash_attention"] = "disabled"
    elif facts.get("flash_attention_asked") in ("enabled", "disabled"):
        facts.setdefault("flash_attention", facts["flash_attention_asked"])


def _fit(facts: dict[str, object]) -> str:
    if "fit_ran" not in facts:
        return "off"
    if "fit_unchanged" in facts:
        return "unchanged"
    return "changed" if "fit_succeeded" in facts else "failed"


def failure_reason(lines: Iterable[str]) -> str | None:
    """The line that best says why a server did not start; None when the log says nothing."""
    kept = [line for line in numbered(lines, FORM) if line.text.strip()]
    for cause in _CAUSES:
        for line in kept:
            if cause.search(line.text):
                return line.text.strip()
    errors = [line for line in kept if line.level == "E"]
    causes = [line for line in errors if not _CONSEQUENCE.search(line.text)]
    for candidates in (causes, errors, kept):
        if candidates:
            return candidates[-1].text.strip()
    return None
