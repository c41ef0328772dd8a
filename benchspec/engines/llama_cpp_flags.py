"""llama-server's flags for the embedded llama.cpp: spelling -> attribute of xllamacpp's parameters.

The embedded server has no command line of its own. This table gives it llama-server's, for the flags
whose meaning carries over unchanged (names and environment variables: `common/arg.cpp` of llama.cpp,
build 11434; attributes: `CommonParams` of xllamacpp 2026.10). A flag that is not here is refused:
a benchmark must not run with a setting silently dropped.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

Reader = Callable[[str], object]
Attributes = dict[str, object]


class FlagRefused(Exception):
    """A sentence that names the flag and says why the embedded server cannot take it."""


@dataclass(frozen=True)
class Value:
    """A flag with one value; `sampling_bit` tells the server that the GGUF must not override it."""

    names: str
    attribute: str
    read: Reader
    env: str | None = None
    sampling_bit: int = 0


@dataclass(frozen=True)
class Switch:
    """A flag without a value: spellings that turn it on and off, the attribute's value when on."""

    on: str
    off: str
    attribute: str
    env: str | None = None
    when_on: bool = True


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise FlagRefused(f"{text!r} is not a whole number") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise FlagRefused(f"{text!r} is not a number") from None


def _one_of(choices: Mapping[str, object]) -> Reader:
    def read(text: str) -> object:
        if text not in choices:
            raise FlagRefused(f"{text!r} is not one of {', '.join(choices)}")
        return choices[text]

    return read


def _loopback(text: str) -> list[str]:
    if text not in ("127.0.0.1", "::1", "localhost"):
        raise FlagRefused(f"{text!r} is not this machine's loopback address")
    return [text]


def _layers(text: str) -> int:
    return {"auto": -1, "all": -2}.get(text) or _integer(text)


def _slots(text: str) -> int:
    slots = _integer(text)
    if slots == 0:
        raise FlagRefused("no slot can serve no request")
    return slots


def _threads(text: str) -> int:
    threads = _integer(text)
    return threads if threads > 0 else os.cpu_count() or 1


def _fit_target(text: str) -> list[int]:
    """MiB per device (one value holds for all) to bytes; llama.cpp knows at most 16 devices."""
    per_device = [_integer(part) << 20 for part in text.split(",")]
    return per_device * 16 if len(per_device) == 1 else per_device


def _tensor_split(text: str) -> list[float]:
    """Shares per device; the attribute wants all 128, and one that is absent gets nothing."""
    shares = [_number(part) for part in text.replace("/", ",").split(",")]
    return (shares + [0.0] * 128)[:128]


def _speculation(text: str) -> list[object]:
    return [_one_of(_SPECULATION)(part) for part in text.split(",")]


def _numbers(text: str) -> list[float]:
    return [_number(part) for part in text.split(",")]


_ON_OFF = {"on": True, "enabled": True, "true": True, "1": True}
_ON_OFF |= {"off": False, "disabled": False, "false": False, "0": False}
_AUTO_ON_OFF = {word: int(value) for word, value in _ON_OFF.items()} | {"auto": -1, "-1": -1}
# Numbers of the enumerations: ggml/include/ggml.h, include/llama.h, common/common.h.
_KV_TYPES = {"f32": 0, "f16": 1, "q4_0": 2, "q4_1": 3, "q5_0": 6, "q5_1": 7, "q8_0": 8}
_KV_TYPES |= {"iq4_nl": 20, "bf16": 30}
_SPLIT_MODES = {"none": 0, "layer": 1, "row": 2, "tensor": 3}
_LOAD_MODES = {"auto": -1, "none": 0, "mmap": 1, "mlock": 2, "mmap+mlock": 3, "dio": 4}
_LAZY_MODES = {"off": 0, "auto": 1, "on": 2}
_NUMA = {"distribute": 1, "isolate": 2, "numactl": 3}
_ROPE_SCALING = {"none": 0, "linear": 1, "yarn": 2}
_REASONING_FORMATS = {"none": 0, "auto": 1, "deepseek-legacy": 2, "deepseek": 3}
_SPECULATION: dict[str, object] = {"none": 0, "draft-simple": 1, "draft-eagle3": 2}
_SPECULATION |= {"draft-mtp": 3, "draft-dflash": 4, "draft-dspark": 5, "ngram-simple": 6}
_SPECULATION |= {"ngram-map-k": 7, "ngram-map-k4v": 8, "ngram-mod": 9, "ngram-cache": 10}
# Bits of common_params_sampling_config.
_TOP_K, _TOP_P, _MIN_P, _TEMPERATURE, _REPEAT_PENALTY = 2, 4, 8, 64, 256

VALUES = (
    Value("-m --model", "model.path", str, "LLAMA_ARG_MODEL"),
    Value("-a --alias", "model_alias", lambda text: set(text.split(",")), "LLAMA_ARG_ALIAS"),
    Value("--host", "hostnames", _loopback, "LLAMA_ARG_HOST"),
    Value("--port", "port", _integer, "LLAMA_ARG_PORT"),
    Value("-np --parallel", "n_parallel", _slots, "LLAMA_ARG_N_PARALLEL"),
    Value("-c --ctx-size", "n_ctx", _integer, "LLAMA_ARG_CTX_SIZE"),
    Value(
        "--kv-unified-per-slot", "kv_unified_per_slot", _integer, "LLAMA_ARG_KV_UNIFIED_PER_SLOT"
    ),
    Value("-n --predict --n-predict", "n_predict", _integer, "LLAMA_ARG_N_PREDICT"),
    Value("--keep", "n_keep", _integer),
    Value("-b --batch-size", "n_batch", _integer, "LLAMA_ARG_BATCH"),
    Value("-ub --ubatch-size", "n_ubatch", _integer, "LLAMA_ARG_UBATCH"),
    Value("-ctk --cache-type-k", "cache_type_k", _one_of(_KV_TYPES), "LLAMA_ARG_CACHE_TYPE_K"),
    Value("-ctv --cache-type-v", "cache_type_v", _one_of(_KV_TYPES), "LLAMA_ARG_CACHE_TYPE_V"),
    Value("-fa --flash-attn", "flash_attn_type", _one_of(_AUTO_ON_OFF), "LLAMA_ARG_FLASH_ATTN"),
    Value("--cache-reuse", "n_cache_reuse", _integer, "LLAMA_ARG_CACHE_REUSE"),
    Value("-cram --cache-ram", "cache_ram_mib", _integer, "LLAMA_ARG_CACHE_RAM"),
    Value("-sps --slot-prompt-similarity", "slot_prompt_similarity", _number),
    Value(
        "-ctxcp --ctx-checkpoints --swa-checkpoints",
        "n_ctx_checkpoints",
        _integer,
        "LLAMA_ARG_CTX_CHECKPOINTS",
    ),
    Value(
        "-cms --checkpoint-min-step",
        "checkpoint_min_step",
        _integer,
        "LLAMA_ARG_CHECKPOINT_MIN_SPACING_NT",
    ),
    Value("-fit --fit", "fit_params", _one_of(_ON_OFF), "LLAMA_ARG_FIT"),
    Value("-fitt --fit-target", "fit_params_target", _fit_target, "LLAMA_ARG_FIT_TARGET"),
    Value("-fitc --fit-ctx", "fit_params_min_ctx", _integer, "LLAMA_ARG_FIT_CTX"),
    Value("-ngl --gpu-layers --n-gpu-layers", "n_gpu_layers", _layers, "LLAMA_ARG_N_GPU_LAYERS"),
    Value("-sm --split-mode", "split_mode", _one_of(_SPLIT_MODES), "LLAMA_ARG_SPLIT_MODE"),
    Value("-ts --tensor-split", "tensor_split", _tensor_split, "LLAMA_ARG_TENSOR_SPLIT"),
    Value("-mg --main-gpu", "main_gpu", _integer, "LLAMA_ARG_MAIN_GPU"),
    Value("-ot --override-tensor", "tensor_buft_overrides", str, "LLAMA_ARG_OVERRIDE_TENSOR"),
    Value("-lm --load-mode", "load_mode", _one_of(_LOAD_MODES), "LLAMA_ARG_LOAD_MODE"),
    Value("-lzm --lazy-mode", "lazy_mode", _one_of(_LAZY_MODES), "LLAMA_ARG_LAZY_MODE"),
    Value("-t --threads", "cpuparams.n_threads", _threads, "LLAMA_ARG_THREADS"),
    Value("-tb --threads-batch", "cpuparams_batch.n_threads", _threads),
    Value("--prio", "cpuparams.priority", _integer),
    Value("--prio-batch", "cpuparams_batch.priority", _integer),
    Value("--poll", "cpuparams.poll", _integer),
    Value("--poll-batch", "cpuparams_batch.poll", _integer),
    Value("--numa", "numa", _one_of(_NUMA), "LLAMA_ARG_NUMA"),
    Value("--threads-http", "n_threads_http", _integer, "LLAMA_ARG_THREADS_HTTP"),
    Value(
        "--rope-scaling",
        "rope_scaling_type",
        _one_of(_ROPE_SCALING),
        "LLAMA_ARG_ROPE_SCALING_TYPE",
    ),
    Value("--rope-freq-base", "rope_freq_base", _number, "LLAMA_ARG_ROPE_FREQ_BASE"),
    Value("--rope-freq-scale", "rope_freq_scale", _number, "LLAMA_ARG_ROPE_FREQ_SCALE"),
    Value("--yarn-orig-ctx", "yarn_orig_ctx", _integer, "LLAMA_ARG_YARN_ORIG_CTX"),
    Value("--spec-type", "speculative.types", _speculation, "LLAMA_ARG_SPEC_TYPE"),
    Value(
        "-md --spec-draft-model --model-draft",
        "speculative.draft.mparams.path",
        str,
        "LLAMA_ARG_SPEC_DRAFT_MODEL",
    ),
    Value(
        "--spec-draft-n-max", "speculative.draft.n_max", _integer, "LLAMA_ARG_SPEC_DRAFT_N_MAX"
    ),
    Value(
        "--spec-draft-n-min", "speculative.draft.n_min", _integer, "LLAMA_ARG_SPEC_DRAFT_N_MIN"
    ),
    Value(
        "--spec-draft-p-min --draft-p-min",
        "speculative.draft.p_min",
        _number,
        "LLAMA_ARG_SPEC_DRAFT_P_MIN",
    ),
    Value(
        "-ngld --spec-draft-ngl --gpu-layers-draft --n-gpu-layers-draft",
        "speculative.draft.n_gpu_layers",
        _layers,
        "LLAMA_ARG_N_GPU_LAYERS_DRAFT",
    ),
    Value("--spec-ngram-mod-n-match", "speculative.ngram_mod.n_match", _integer),
    Value("--spec-ngram-mod-n-min", "speculative.ngram_mod.n_min", _integer),
    Value("--spec-ngram-mod-n-max", "speculative.ngram_mod.n_max", _integer),
    Value("--spec-ngram-simple-size-n", "speculative.ngram_simple.size_n", _integer),
    Value("--spec-ngram-simple-size-m", "speculative.ngram_simple.size_m", _integer),
    Value("--spec-ngram-simple-min-hits", "speculative.ngram_simple.min_hits", _integer),
    Value("--spec-synth-len", "speculative.synth_len", _number, "LLAMA_ARG_SPEC_SYNTH_LEN"),
    Value("--spec-synth-rates", "speculative.synth_rates", _numbers, "LLAMA_ARG_SPEC_SYNTH_RATES"),
    Value("-s --seed", "sampling.seed", lambda text: _integer(text) & 0xFFFFFFFF),
    Value(
        "--temp --temperature", "sampling.temp", _number, "LLAMA_ARG_TEMPERATURE", _TEMPERATURE
    ),
    Value("--top-k", "sampling.top_k", _integer, "LLAMA_ARG_TOP_K", _TOP_K),
    Value("--top-p", "sampling.top_p", _number, "LLAMA_ARG_TOP_P", _TOP_P),
    Value("--min-p", "sampling.min_p", _number, "LLAMA_ARG_MIN_P", _MIN_P),
    Value(
        "--repeat-penalty",
        "sampling.penalty_repeat",
        _number,
        "LLAMA_ARG_REPEAT_PENALTY",
        _REPEAT_PENALTY,
    ),
    Value("--chat-template", "chat_template", str, "LLAMA_ARG_CHAT_TEMPLATE"),
    Value(
        "--reasoning-format", "reasoning_format", _one_of(_REASONING_FORMATS), "LLAMA_ARG_THINK"
    ),
    Value("-to --timeout", "timeout_read", _integer, "LLAMA_ARG_TIMEOUT"),
    Value(
        "--sse-ping-interval", "sse_ping_interval", _integer, "LLAMA_ARG_SSE_PING_INTERVAL"
    ),
    Value(
        "-lv --verbosity --log-verbosity", "verbosity", _integer, "LLAMA_ARG_LOG_VERBOSITY"
    ),
)  # fmt: skip

SWITCHES = (
    Switch("-kvu --kv-unified", "-no-kvu --no-kv-unified", "kv_unified", "LLAMA_ARG_KV_UNIFIED"),
    Switch(
        "-kvo --kv-offload",
        "-nkvo --no-kv-offload",
        "no_kv_offload",
        "LLAMA_ARG_KV_OFFLOAD",
        when_on=False,
    ),
    Switch(
        "-cb --cont-batching",
        "-nocb --no-cont-batching",
        "cont_batching",
        "LLAMA_ARG_CONT_BATCHING",
    ),
    Switch("--cache-prompt", "--no-cache-prompt", "cache_prompt", "LLAMA_ARG_CACHE_PROMPT"),
    Switch(
        "--cache-idle-slots",
        "--no-cache-idle-slots",
        "cache_idle_slots",
        "LLAMA_ARG_CACHE_IDLE_SLOTS",
    ),
    Switch("--context-shift", "--no-context-shift", "ctx_shift", "LLAMA_ARG_CONTEXT_SHIFT"),
    Switch("--swa-full", "", "swa_full", "LLAMA_ARG_SWA_FULL"),
    Switch("--warmup", "--no-warmup", "warmup"),
    Switch("--op-offload", "--no-op-offload", "no_op_offload", when_on=False),
    Switch("--repack", "-nr --no-repack", "no_extra_bufts", "LLAMA_ARG_REPACK", when_on=False),
    Switch("--no-host", "", "no_host", "LLAMA_ARG_NO_HOST"),
    Switch("--perf", "--no-perf", "no_perf", "LLAMA_ARG_PERF", when_on=False),
    Switch("--check-tensors", "", "check_tensors"),
    Switch("--metrics", "", "endpoint_metrics", "LLAMA_ARG_ENDPOINT_METRICS"),
    Switch("--slots", "--no-slots", "endpoint_slots", "LLAMA_ARG_ENDPOINT_SLOTS"),
    Switch("--props", "", "endpoint_props", "LLAMA_ARG_ENDPOINT_PROPS"),
    Switch("--jinja", "--no-jinja", "use_jinja", "LLAMA_ARG_JINJA"),
    Switch("--ignore-eos", "", "sampling.ignore_eos"),
    Switch("--ui --webui", "--no-ui --no-webui", "ui", "LLAMA_ARG_UI"),
)

_BY_NAME: dict[str, tuple[Value | Switch, bool]] = {
    **{name: (flag, True) for flag in VALUES for name in flag.names.split()},
    **{name: (switch, True) for switch in SWITCHES for name in switch.on.split()},
    **{name: (switch, False) for switch in SWITCHES for name in switch.off.split()},
}
_BY_ENV: dict[str, Value | Switch] = {
    flag.env: flag for flag in (*VALUES, *SWITCHES) if flag.env is not None
}
_CHOSEN_SAMPLING = "sampling.user_sampling_config"
Given = tuple[str, Value | Switch, str | bool]


def attributes(argv: Sequence[str], env: Mapping[str, str]) -> Attributes:
    """Attributes of xllamacpp's `CommonParams` (dotted path -> value) for llama-server's flags.

    Environment variables are read as llama-server reads them, and the command line wins. Slots that
    nobody set become -1 (auto: four slots and unified KV), as in llama-server; the embedded default
    of one slot would measure something else. Batch threads follow `--threads` unless set.

    Raises FlagRefused with the flag's name for anything that this table does not carry over.
    """
    found: Attributes = {"n_parallel": -1}
    for spelled, flag, given in [*_from_environment(env), *_from_command_line(argv)]:
        _assign(found, spelled, flag, given)
    for leaf in ("n_threads", "priority", "poll"):
        if f"cpuparams.{leaf}" in found:
            found.setdefault(f"cpuparams_batch.{leaf}", found[f"cpuparams.{leaf}"])
    return found


def _from_command_line(argv: Sequence[str]) -> Iterator[Given]:
    words = iter(argv)
    for word in words:
        flag, turned_on = _BY_NAME.get(_normalised(word), (None, True))
        if flag is None:
            raise FlagRefused(f"{word}: the embedded llama.cpp does not take this flag.")
        if isinstance(flag, Switch):
            yield word, flag, turned_on
            continue
        value = next(words, None)
        if value is None:
            raise FlagRefused(f"{word}: its value is missing.")
        yield word, flag, value


def _normalised(word: str) -> str:
    """llama-server takes `_` for `-` in long names."""
    return word.replace("_", "-") if word.startswith("--") else word


def _from_environment(env: Mapping[str, str]) -> Iterator[Given]:
    for name, value in env.items():
        if not name.startswith("LLAMA_ARG_") and name != "LLAMA_API_KEY":
            continue
        negative = name.replace("LLAMA_ARG_NO_", "LLAMA_ARG_", 1)
        switch = _BY_ENV.get(negative)
        if negative != name and isinstance(switch, Switch):
            yield name, switch, False  # any value, even 0, means "no"
        elif name in _BY_ENV:
            yield name, _BY_ENV[name], value
        else:
            raise FlagRefused(f"{name}: the embedded llama.cpp does not take this variable.")


def _assign(found: Attributes, spelled: str, flag: Value | Switch, given: str | bool) -> None:
    try:
        value = flag.read(str(given)) if isinstance(flag, Value) else _switched(flag, given)
    except FlagRefused as refused:
        raise FlagRefused(f"{spelled}: {refused}.") from None
    found[flag.attribute] = value
    if isinstance(flag, Value) and flag.sampling_bit:
        bits = found.get(_CHOSEN_SAMPLING, 0)
        assert isinstance(bits, int)
        found[_CHOSEN_SAMPLING] = bits | flag.sampling_bit


def _switched(switch: Switch, given: str | bool) -> bool:
    on = given if isinstance(given, bool) else bool(_one_of(_ON_OFF)(given))
    return on is switch.when_on
