"""What SGLang's log says: its arguments as resolved, its pool of tokens, and what it fell back to.

Pure. The patterns follow the format strings of SGLang 0.5.23 (`srt/server_args.py`,
`srt/arg_groups/`, `srt/managers/scheduler.py`, `srt/mem_cache/`). Most of its lines have no level.
"""

from __future__ import annotations

import re

from benchspec.engines.log_drift import Marks, mark
from benchspec.engines.log_reading import LogForm, compiled, pattern
from benchspec.engines.log_settings import EngineLog, Renamed

_FACTS = compiled(
    r"server_args=ServerArgs\((?P<settings>.*)",
    r"max_total_num_tokens=(?P<kv_tokens>\d+), chunked_prefill_size=(?P<chunked_prefill_size>-?\d+)",
    r"max_running_requests=(?P<max_running_requests>\d+), context_len=(?P<context_len>\d+)",
    r"K size: (?P<k_gib_per_device>[\d.]+) GB, V size: (?P<v_gib_per_device>[\d.]+) GB",
    r"Load weight end\..* mem usage=(?P<weights_gib_per_device>[\d.]+) GB",
    r"is using nccl==(?P<nccl_version>[\d.]+)",
)

_FINDINGS = (
    pattern("changed", "max-running-requests", r"Max running requests is reset to \d+ for"),
    pattern("changed", "max-running-requests", r"max_running_requests was reduced from"),
    pattern("changed", "max-running-requests", r"max_running_requests is capped to \d+"),
    pattern("changed", "max-running-requests", r"Post-capture KV sizing: max_running_requests"),
    pattern("fell-back", "cuda-graph-max-bs-decode", r"decode CUDA graph max_bs=\d+ < max_running"),
    pattern("fell-back", "enable-mixed-chunk", r"(?i:mixed chunked prefill (?:is|are) disabled)"),
    pattern("changed", "context-length", r"KV pool holds \d+ tokens, fewer than --context-length"),
    pattern(
        "fell-back",
        "cuda-graph-backend-decode",
        r"(?i:cuda graph is disabled)|[Dd]isabling (?:breakable )?prefill CUDA graph",
    ),
    pattern(
        "fell-back",
        "disable-overlap-schedule",
        r"(?i:overlap schedule(?:r)? is disabled)"
        r"|Pipeline parallelism is incompatible with overlap schedule",
    ),
    pattern(
        "fell-back",
        "disable-radix-cache",
        r"(?i:radix cache (?:is|and chunked prefill are) disabled|disabling radix cache)",
    ),
    pattern("changed", "chunked-prefill-size", r"chunked prefill size is adjusted from \d+ to \d+"),
    pattern("changed", "chunked-prefill-size", r"Automatically turn off --chunked-prefill-size"),
    pattern(
        "fell-back",
        "attention-backend",
        r"(?i:attention[_ ]backend.*(?:overrid|fall(?:ing)? back|will fallback))",
    ),
    pattern("fell-back", None, r"Falling back to '?[\w-]+'?"),
    pattern(
        "changed",
        "speculative-num-draft-tokens",
        r"speculative_(?:num_draft_tokens is (?:adjusted|set)|adaptive disabled)",
    ),
    pattern("changed", "max-new-tokens", r"Truncating max_new_tokens"),
    pattern("warning", "max-running-requests", r"Retract requests|#retracted_reqs: [1-9]"),
)

FORM = LogForm(
    known="SGLang 0.5.23",
    level=re.compile(
        r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[ ,.][\w ]+)?\] "
        r"(?:(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL) [\w./-]+:\d+: )?"
    ),
    facts=_FACTS,
    findings=_FINDINGS,
    restarted=re.compile(r"server_args=ServerArgs\("),
    started=re.compile(r"The server is fired up and ready to roll"),
    while_running=re.compile(r"etract|Truncating"),
    harmless=re.compile(r"is deprecated and will be removed"),
    line_limit=20_000,
)

MARKS = Marks(
    (
        mark("arguments", r"\bserver_args\b", r"server_args=ServerArgs\("),
        mark(
            "pool of tokens",
            r"\bmax_total_num_tokens\b(?!=None)",
            r"max_total_num_tokens=\d+, chunked_prefill_size=",
        ),
        mark(
            "requests at once",
            r"\bmax_running_requests=\d+, context",
            r"max_running_requests=\d+, context_len=\d+",
        ),
    )
)

LOG = EngineLog(
    kind="sglang",
    form=FORM,
    marks=MARKS,
    renamed=(
        Renamed("max_running_requests", "max-running-requests"),
        Renamed("context_len", "context-length"),
        Renamed("chunked_prefill_size", "chunked-prefill-size"),
    ),
    slots="max-running-requests",
    context="context-length",
    replicas="data-parallel-size",
    devices=("tensor-parallel-size", "pipeline-parallel-size"),
)
