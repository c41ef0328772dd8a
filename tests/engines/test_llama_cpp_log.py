"""llama-server's log: real logs of the embedded server, and lines after llama.cpp's formats."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchspec.engines import llama_cpp_log
from benchspec.engines.llama_cpp_log import FORM, failure_reason
from benchspec.engines.log_reading import (
    FINDING_LIMIT,
    LINE_LIMIT,
    REPEAT_LIMIT,
    LogReading,
    numbered,
)

DATA = Path(__file__).parent / "data"


def read_log(log: Iterable[str], *, first: int = 1, **options: Any) -> LogReading:
    return llama_cpp_log.read_log(numbered(log, FORM, first=first), **options)


def lines(name: str) -> list[str]:
    return (DATA / name).read_text().splitlines()


def findings(*log: str, asked: tuple[str, ...] = ()) -> list[tuple[str, str | None]]:
    return [(f.effect, f.setting) for f in read_log(log, asked=asked).findings]


# --- facts ----------------------------------------------------------------------------------------


def test_a_start_with_unset_slots() -> None:
    facts = read_log(lines("start-unset-slots.log")).facts
    expected = {
        "verbosity": 4,
        "threads": 1,
        "threads_batch": 1,
        "n_parallel_asked": "auto",
        "n_slots": 4,
        "n_ctx": 8192,
        "n_ctx_slot": 8192,
        "kv_unified": True,
        "n_batch": 2048,
        "n_ubatch": 512,
        "flash_attention": "enabled",
        "cache_type_k": "f16",
        "cache_type_v": "f16",
        "kv_mib": 180.0,
        "kv_cells": 8192,
        "kv_layers": 30,
        "fit": "unchanged",
        "warmup": True,
        "load_mode": "mmap",
        "file_type": "Q4_1",
        "file_size": "92.10 MiB",
        "bits_per_weight": 5.74,
        "parameters": "134.52 M",
        "architecture": "llama",
        "layers": 30,
        "experts": 0,
        "graph_splits": 1,
        "pipeline_copies": 1,
        "prompt_cache": "8192 MiB",
        "weight_buffers": ["CPU_Mapped model buffer size = 92.10 MiB"],
        "kv_buffers": ["CPU KV buffer size = 180.00 MiB"],
    }
    assert {name: facts.get(name) for name in expected} == expected


def test_a_quiet_log_has_no_facts_rather_than_wrong_ones() -> None:
    log = ["0.00.716.044 I srv    load_model: initializing, n_slots = 2, n_ctx_slot = 64,"
           " kv_unified = 'false'"]  # fmt: skip
    assert read_log(log).facts == {"n_slots": 2, "n_ctx_slot": 64, "kv_unified": False}


GPU_LINES = [
    "0.00.001.000 I using device CUDA0 (NVIDIA A100) (0000:01:00.0) - 39000 MiB free",
    "0.00.001.000 I load_tensors: offloaded 20/33 layers to GPU",
    "0.00.001.000 I load_tensors:        CUDA0 model buffer size =  3577.56 MiB",
    "0.00.001.000 I load_tensors:   CPU_Mapped model buffer size =    70.31 MiB",
    "0.00.001.000 I llama_kv_cache: size =  512.00 MiB (  4096 cells,  32 layers,  1/1 seqs), "
    "K (q8_0):  272.00 MiB, V (f16):  240.00 MiB",
    "0.00.001.000 I sched_reserve: graph (pp bs=512, tg bs=1): nodes = 1030 / 1030, splits = 2 / 1",
    "0.00.001.000 I sched_reserve: reserve took 5.64 ms, sched copies = 4",
]


def test_a_start_on_a_gpu() -> None:
    facts = read_log(GPU_LINES).facts
    assert (facts["offloaded_layers"], facts["offloadable_layers"]) == (20, 33)
    assert facts["devices"] == ["CUDA0 (NVIDIA A100) (0000:01:00.0)"]
    assert facts["weight_buffers"] == [
        "CUDA0 model buffer size = 3577.56 MiB",
        "CPU_Mapped model buffer size = 70.31 MiB",
    ]
    assert (facts["cache_type_k"], facts["cache_type_v"]) == ("q8_0", "f16")
    assert (facts["graph_splits"], facts["pipeline_copies"]) == (2, 4)


def test_the_target_model_counts_not_the_draft_model_loaded_after_it() -> None:
    log = ["I llama_context: n_ctx         = 8192", "I llama_context: n_ctx         = 512"]
    assert read_log(log).facts["n_ctx"] == 8192


def test_a_model_cannot_speak_for_the_server() -> None:
    spoof = "initializing, n_slots = 64, n_ctx_slot = 1, kv_unified = 'true'"
    log = [
        f"0.00.206.217 I llama_model_loader: - kv   2:     general.name str  = {spoof}",
        f"0.00.206.218 I print_info: general.name          = {spoof}",
        *lines("start-unset-slots.log"),
        f"0.01.000.000 I srv  log: {spoof}",
    ]
    assert read_log(log).facts["n_slots"] == 4


FIT = "0.00.005.764 I cmn  common_init_: fitting params to device memory ..."


@pytest.mark.parametrize(
    ("after", "fit"),
    [
        (["will leave 9 >= 1 MiB of system memory, no changes needed", "successfully fit params"],
         "unchanged"),
        (["context size reduced from 131072 to 8192", "successfully fit params to free device"],
         "changed"),
        (["W common_fit_params: failed to fit params to free device memory: n_gpu_layers already"
          " set by user to 99, abort"], "failed"),
    ],
)  # fmt: skip
def test_what_fit_did(after: list[str], fit: str) -> None:
    log = ["I verbosity = 4 (adjust with", FIT, *after]
    reading = read_log(log)
    assert reading.facts["fit"] == fit
    assert ("fit" in {f.setting for f in reading.findings}) is (fit != "unchanged")


def test_fit_that_did_not_run_was_off() -> None:
    assert read_log(["verbosity = 4 (adjust with"]).facts["fit"] == "off"


# --- findings -------------------------------------------------------------------------------------


def test_an_ordinary_start_has_nothing_to_report() -> None:
    assert findings(*lines("start-unset-slots.log")) == []


def test_a_context_that_does_not_divide() -> None:
    reading = read_log(lines("start-three-slots.log"))
    assert [(f.effect, f.setting) for f in reading.findings] == [("changed", "ctx-size")]
    assert "rounding down to 8448" in reading.findings[0].text
    assert reading.findings[0].line == 134


# One line per row of llama.cpp's refusals, rendered from its format strings.
@pytest.mark.parametrize(
    ("line", "effect", "setting"),
    [
        ("W resolve_fused_ops: Flash Attention not supported, set to disabled", "fell-back",
         "flash-attn"),
        ("I llama_init_from_model: enabling flash_attn since it is required for quantized V cache",
         "changed", "flash-attn"),
        ("E llama_init_from_model: SPLIT_MODE_TENSOR requires flash_attn to be enabled", "refused",
         "split-mode"),
        ("E load: device CUDA0 does not support split buffers", "refused", "split-mode"),
        ("W n_ctx_seq (100096) > n_ctx_train (8192) -- possible training context overflow",
         "changed", "ctx-size"),
        ("W srv  load_model: the slot context (9000) exceeds the training context of the model "
         "(8192) - capping", "changed", "ctx-size"),
        ("W sched_reserve: compute buffer allocation failed, retrying without pipeline parallelism",
         "fell-back", "split-mode"),
        ("W srv  init: cache_reuse is not supported by this context, it will be disabled",
         "ignored", "cache-reuse"),
        ("W srv  load_model: swa_full is not supported by this model, it will be disabled",
         "ignored", "swa-full"),
        ("W srv  init: --cache-idle-slots requires --cache-ram, disabling", "ignored",
         "cache-idle-slots"),
        ("E srv  load_model: failed to initialize speculative decoding context", "fell-back",
         "spec-type"),
        ("W ggml_cuda: NCCL not compiled in", "fell-back", "GGML_CUDA_ALLREDUCE"),
        ("W no FlashAttention vector kernel compiled for K/V types q8_0-f16, converting",
         "fell-back", "cache-type-k"),
        ("warning: no usable GPU found, --gpu-layers option will be ignored", "ignored",
         "n-gpu-layers"),
        ("W model has unused tensor blk.61.nextn.eh_proj.weight (size = 9 bytes) -- ignoring",
         "ignored", "spec-type"),
        ("error: invalid argument: --mlock", "refused", None),
        ("DEPRECATED: argument '-c' specified multiple times, use comma", "warning", None),
        ("warn: LLAMA_ARG_CTX_SIZE environment variable is set, but will be overwritten by command "
         "line argument -c", "warning", None),
        ("I common_params: using config file: /etc/llama.cpp/config.ini", "changed", None),
        ("W srv  update_slots: failed to find free space in the KV cache, retrying", "warning",
         "ctx-size"),
        ("W something nobody has seen before", "warning", None),
        ("E something nobody has seen before", "error", None),
    ],
)  # fmt: skip
def test_a_line_that_matters(line: str, effect: str, setting: str | None) -> None:
    assert findings(line) == [(effect, setting)]
    assert findings(f"\x1b[33m0.00.001.000 {line}\x1b[0m") == [(effect, setting)]


def test_no_speculation_is_a_finding_only_if_it_was_asked_for() -> None:
    line = "I spec common_specu: no implementations specified for speculative decoding"
    assert findings(line) == []
    assert findings(line, asked=("spec-draft-model",)) == [("ignored", "spec-type")]


def test_lines_that_are_always_there_are_no_findings() -> None:
    assert findings("W srv  init: security: no API key is set and CORS allows all origins") == []


def test_a_lost_prefix_cache_is_found_while_it_runs() -> None:
    log = [
        *lines("start-unset-slots.log"),
        "0.01.000.000 I slot x: forcing full prompt re-processing",
    ]
    assert findings(*log) == [("warning", "cache-prompt")]


def test_trouble_that_repeats_is_kept_a_few_times_only() -> None:
    log = [f"W slot {i}: failed to find a memory slot for batch of size {i}" for i in range(1000)]
    assert len(findings(*log)) == REPEAT_LIMIT
    assert len(findings(*(f"E trouble {'x' * i}" for i in range(1000)))) == FINDING_LIMIT


@given(st.lists(st.text(max_size=300), max_size=30))
def test_no_text_breaks_the_reading(log: list[str]) -> None:
    reading = read_log([f"E {line}" for line in log])
    assert all(len(f.text) <= LINE_LIMIT and f.text.isprintable() for f in reading.findings)
    failure_reason(log)


def test_a_huge_line_is_cut() -> None:
    assert len(read_log(["E " + "x" * 10_000_000]).findings[0].text) <= LINE_LIMIT


# --- the reason of a failed start -----------------------------------------------------------------

BAD_MAGIC = """
0.00.005.693 E gguf_init_from_reader: invalid magic characters: 'notg', expected 'GGUF'
0.00.005.883 E llama_model_load: error loading model: llama_model_loader: failed to load model
0.00.005.934 E common_fit_params: encountered an error while trying to fit params
0.00.005.975 E srv    load_model: failed to load model, 'bad.gguf'
0.00.006.432 E srv          init: exiting due to model loading error
error: Failed to init server, please check the input params.
"""
OUT_OF_MEMORY = """
0.00.001.000 E ggml_cuda: allocating 81234.00 MiB on device 0: cudaMalloc failed: out of memory
0.00.001.000 E alloc_tensor_range: failed to allocate CUDA0 buffer of size 85179
0.00.001.000 E llama_model_load: error loading model: unable to allocate CUDA0 buffer
"""
PORT = """
0.00.007.322 E srv         start: couldn't bind HTTP server socket, hostname: 127.0.0.1, port: 8080
0.00.007.500 E srv          init: exiting due to HTTP server error
"""


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (BAD_MAGIC, "gguf_init_from_reader: invalid magic characters: 'notg', expected 'GGUF'"),
        (OUT_OF_MEMORY,
         "ggml_cuda: allocating 81234.00 MiB on device 0: cudaMalloc failed: out of memory"),
        (PORT, "srv         start: couldn't bind HTTP server socket, hostname: 127.0.0.1, port: 8080"),
        ("error: invalid argument: --mlock\n", "error: invalid argument: --mlock"),
        ("E first cause\nE exiting due to model loading error\n", "first cause"),
        ("only a word\n\n", "only a word"),
        ("", None),
    ],
)  # fmt: skip
def test_the_reason_of_a_failed_start(log: str, reason: str | None) -> None:
    assert failure_reason(log.splitlines()) == reason


def test_a_context_that_overflows_while_running_is_a_change_of_the_context_size() -> None:
    release = "0.10.000.000 I slot      release: id  0 | task 1 | stop processing: n_tokens = 2048"
    log = [f"{release}, truncated = 0", f"{release}, truncated = 1"]
    reading = read_log(log, running=True, first=7)
    ((effect, setting, line),) = [(f.effect, f.setting, f.line) for f in reading.findings]
    assert (effect, setting, line) == ("changed", "ctx-size", 8)
