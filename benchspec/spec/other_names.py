"""What other tools and reports call the keys of `observations`, devices and models: for messages,
never read as keys."""

from __future__ import annotations

import re
from collections.abc import Collection

_CALLED: dict[str, str] = {
    "aggregate_tok_s": "throughput output_throughput total_throughput tokens_per_second tps tok_s "
    "tokens_s token_throughput aggregate total_tok_s output_tok_s",
    "stream_tok_s": "tokens_per_second tps tok_s tokens_s speed per_request_tok_s per_user_tok_s",
    "decode_tok_s": "tg tg_tok_s tg_tps gen_tok_s generation_tok_s generation_tps eval_tok_s "
    "eval_rate decode_rate decode_tps",
    "prefill_tok_s": "pp pp_tok_s pp_tps prompt_tok_s prompt_tps prompt_eval_tok_s prefill_rate "
    "prefill_tps input_tok_s prompt_throughput",
    "tokens_total": "output_tokens completion_tokens generated_tokens total_tokens tokens",
    "tokens_per_request": "output_tokens completion_tokens generated_tokens output_len osl tokens",
    "tokens_asked": "max_tokens max_new_tokens output_len osl requested_tokens",
    "prompt_tokens": "input_tokens input_len isl prompt_len prompt_length",
    "planned_requests": "num_prompts num_requests n_requests requests_total total_requests "
    "completed successful_requests sent requests_sent",
    "errors": "failed failed_requests failures success_rate error_rate timeouts",
    "concurrency": "batch batch_size users clients max_concurrency in_flight streams parallel "
    "n_parallel num_users",
    "wall_s": "duration duration_s elapsed elapsed_s total_s total_time time_s benchmark_duration "
    "benchmark_duration_s wall_time wall_time_s",
    "latency_s": "e2e e2e_s e2e_ms e2el e2el_ms e2e_latency_ms latency latency_ms "
    "request_latency_s",
    "ttft_ms": "ttft ttft_s first_token first_token_ms time_to_first_token",
    "tpot_ms": "tpot tpot_s ms_per_token per_token_ms ms_tok",
    "itl_ms": "itl itl_s inter_token_latency_ms",
    "requests_per_s": "req_s rps qps request_throughput requests_s",
    "running_max": "running running_requests active active_slots",
    "waiting_max": "waiting waiting_requests queued pending queue_depth",
    "acceptance": "acceptance_rate accept_rate accepted draft_acceptance",
    "tokens_per_round": "acceptance_length accept_length mean_acceptance_length tokens_per_step "
    "tokens_per_pass",
    "drafts": "k num_speculative_tokens draft_tokens n_draft draft_max block_size",
    "round_ms": "step_ms pass_ms forward_ms",
    "context_tokens": "context ctx depth n_ctx context_length ctx_len n_depth",
    "hit_rate": "cache_hit_rate prefix_cache_hit_rate hit_pct hits",
    "kv_tokens": "kv_cache_tokens kv_cache_size cache_tokens",
    "kv_bytes": "kv_cache_bytes kv_cache_gib kv_size",
    "slots": "n_slots parallel max_num_seqs max_running_requests n_parallel",
    "replicas": "n_replicas instances data_parallel",
    "scaled": "scaling speedup multi_gpu",
    "sends": "prefix_cache repeated_prompts",
    "caching": "prefix_cache cache",
    "limits": "power_limits caps",
    "figures": "identities claims stated",
    "parts": "components terms",
    "ratio": "speedup times factor",
    "percent_more": "gain_percent percent_faster improvement",
    "maximum": "max highest peak",
    "minimum": "min lowest",
    "mean": "average avg",
    "sd": "std stdev stddev",
    "memory": "vram memory_size mem gpu_memory",
    "memory_bandwidth": "bandwidth bw mem_bandwidth",
    "compute": "tflops flops peak peak_tflops peak_compute",
    "parameters": "params n_params active_params",
    "bits_per_weight": "bpw quant quantization bits",
    "size": "size_gb size_gib file_size model_size weights",
    "context_per_slot": "n_ctx num_ctx ctx_size context",
    "bytes_per_token": "bytes payload bytes_per_crossing message_size",
    "crossings": "hops all_reduces count",
}
"""Key -> what others call it. A key is advised only where it stands in the map at hand."""

_COUNTERS: dict[str, str] = {
    "utilization": "gpu_util gpu_utilization gpu_usage util utilization util_pct",
    "power": "power power_w watts power_draw",
    "temperature": "temperature temp temp_c",
    "clocks_sm": "clock clocks clock_mhz sm_clock gpu_clock",
    "memory_used": "vram vram_used memory_used gpu_memory",
    "pcie_rx": "pcie pcie_rx pcie_bandwidth pcie_mb_s",
}

_STATISTIC = re.compile(r"_?(?:p\d{1,2}|mean|median|avg|average|max)_?")


def keys_for(name: str, known: Collection[str]) -> list[str]:
    """The keys among `known` that `name` (lower case, underscores) may stand for, at most two."""
    return [key for key, names in _CALLED.items() if key in known and name in names.split()][:2]


def without_statistic(name: str) -> str | None:
    """`ttft_ms` of `p99_ttft_ms`, `mean_ttft_ms` or `ttft_p99_ms`; None where no statistic is named."""
    rest = _STATISTIC.sub("_", name, count=1).strip("_")
    return rest if rest and rest != name else None


def counter_for(name: str) -> str | None:
    """The counter of `observations.series` that `name` stands for, or None."""
    return next((counter for counter, names in _COUNTERS.items() if name in names.split()), None)
