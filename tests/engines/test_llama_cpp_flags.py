"""llama-server's spellings, carried over to xllamacpp's attributes or refused."""

from __future__ import annotations

import pytest

from benchspec.engines.llama_cpp_flags import SWITCHES, VALUES, FlagRefused, attributes
from benchspec.knowledge.engines import engine


def set_by(*argv: str, **env: str) -> dict[str, object]:
    return attributes(argv, env)


def test_slots_that_nobody_set_are_auto_as_in_llama_server() -> None:
    assert set_by() == {"n_parallel": -1}


@pytest.mark.parametrize(
    ("argv", "attribute", "value"),
    [
        ("-np 4", "n_parallel", 4),
        ("--parallel 4", "n_parallel", 4),
        ("-np 2 -np 3", "n_parallel", 3),
        ("--ctx_size 8192", "n_ctx", 8192),
        ("-ctk q8_0", "cache_type_k", 8),
        ("-fa auto", "flash_attn_type", -1),
        ("-fa off", "flash_attn_type", 0),
        ("-fit off", "fit_params", False),
        ("-fitt 512", "fit_params_target", [512 << 20] * 16),
        ("-fitt 512,256", "fit_params_target", [512 << 20, 256 << 20]),
        ("-ngl all", "n_gpu_layers", -2),
        ("-ngl auto", "n_gpu_layers", -1),
        ("-ngl 0", "n_gpu_layers", 0),
        ("-ts 3,1", "tensor_split", [3.0, 1.0] + [0.0] * 126),
        ("-no-kvu", "kv_unified", False),
        ("-kvu", "kv_unified", True),
        ("-nkvo", "no_kv_offload", True),
        ("--kv-offload", "no_kv_offload", False),
        ("--no-warmup", "warmup", False),
        ("--no-cache-prompt", "cache_prompt", False),
        ("-t 3", "cpuparams_batch.n_threads", 3),
        ("-t 3 -tb 5", "cpuparams_batch.n_threads", 5),
        ("--spec-type ngram-mod,draft-simple", "speculative.types", [9, 1]),
        ("--seed -1", "sampling.seed", 0xFFFFFFFF),
        ("--temp 0 --top-k 1", "sampling.user_sampling_config", 64 | 2),
        ("--host localhost", "hostnames", ["localhost"]),
    ],
)
def test_a_flag_sets_its_attribute(argv: str, attribute: str, value: object) -> None:
    assert set_by(*argv.split())[attribute] == value


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        ("--device CUDA0", "--device: the embedded llama.cpp does not take this flag."),
        ("-np=4", "-np=4: the embedded"),
        ("--mlock", "--mlock: the embedded"),
        ("-c 32k", "-c: '32k' is not a whole number."),
        ("-np 0", "-np: no slot can serve no request."),
        ("-fa", "-fa: its value is missing."),
        ("-fa maybe", "-fa: 'maybe' is not one of on, "),
        ("-sm rows", "-sm: 'rows' is not one of none, layer, row, tensor."),
        ("--host 0.0.0.0", "--host: '0.0.0.0' is not this machine's loopback address."),
        ("model.gguf", "model.gguf: the embedded"),
    ],
)
def test_what_cannot_be_carried_over_is_refused_by_name(argv: str, says: str) -> None:
    with pytest.raises(FlagRefused) as caught:
        attributes(argv.split(), {})
    assert str(caught.value).startswith(says)


def test_the_environment_is_read_as_llama_server_reads_it() -> None:
    assert set_by(LLAMA_ARG_N_PARALLEL="2")["n_parallel"] == 2
    assert set_by("-np", "3", LLAMA_ARG_N_PARALLEL="2")["n_parallel"] == 3
    assert set_by(LLAMA_ARG_KV_UNIFIED="true")["kv_unified"] is True
    assert set_by(LLAMA_ARG_NO_KV_UNIFIED="0")["kv_unified"] is False
    assert set_by(LLAMA_ARG_NO_KV_OFFLOAD="1")["no_kv_offload"] is True
    assert set_by(PATH="/bin", GGML_CUDA_P2P="1") == {"n_parallel": -1}


@pytest.mark.parametrize("name", ["LLAMA_ARG_DEVICE", "LLAMA_ARG_NO_SUCH", "LLAMA_API_KEY"])
def test_a_variable_that_would_be_ignored_is_refused(name: str) -> None:
    with pytest.raises(FlagRefused, match=f"^{name}: "):
        attributes([], {name: "1"})


def test_every_spelling_is_one_of_llama_servers() -> None:
    llama = engine("llama.cpp")
    assert llama is not None
    known = {
        spelling: setting.env
        for setting in llama.settings.values()
        for spelling in (*setting.flags, *setting.negatives)
    }
    ours = {name: flag.env for flag in VALUES for name in flag.names.split()}
    ours |= {
        name: switch.env for switch in SWITCHES for name in f"{switch.on} {switch.off}".split()
    }
    assert {name: env for name, env in ours.items() if known.get(name, "absent") != env} == {}


@pytest.mark.engine
def test_every_attribute_exists_in_xllamacpp() -> None:
    xllamacpp = pytest.importorskip("xllamacpp")
    parameters = xllamacpp.CommonParams()
    for path in {flag.attribute for flag in (*VALUES, *SWITCHES)}:
        owner = parameters
        for name in path.split("."):
            owner = getattr(owner, name)


@pytest.mark.engine
def test_the_numbers_of_the_words_are_xllamacpps() -> None:
    x = pytest.importorskip("xllamacpp")
    pairs = [
        (set_by("-ctk", "bf16")["cache_type_k"], x.ggml_type.GGML_TYPE_BF16),
        (set_by("-ctk", "iq4_nl")["cache_type_k"], x.ggml_type.GGML_TYPE_IQ4_NL),
        (set_by("-ctk", "q5_1")["cache_type_k"], x.ggml_type.GGML_TYPE_Q5_1),
        (set_by("-sm", "tensor")["split_mode"], x.llama_split_mode.LLAMA_SPLIT_MODE_TENSOR),
        (set_by("-lm", "dio")["load_mode"], x.llama_load_mode.LLAMA_LOAD_MODE_DIRECT_IO),
        (set_by("-lzm", "on")["lazy_mode"], x.llama_lazy_mode.LLAMA_LAZY_MODE_ON),
        (set_by("--numa", "numactl")["numa"], x.ggml_numa_strategy.GGML_NUMA_STRATEGY_NUMACTL),
        (set_by("--reasoning-format", "deepseek")["reasoning_format"],
         x.common_reasoning_format.COMMON_REASONING_FORMAT_DEEPSEEK),
        (set_by("--spec-type", "draft-mtp")["speculative.types"],
         [x.common_speculative_type.COMMON_SPECULATIVE_TYPE_DRAFT_MTP]),
        (set_by("--temp", "1")["sampling.user_sampling_config"],
         x.common_params_sampling_config.COMMON_PARAMS_SAMPLING_CONFIG_TEMP),
    ]  # fmt: skip
    assert [ours for ours, _ in pairs] == [
        [int(v) for v in theirs] if isinstance(theirs, list) else int(theirs) for _, theirs in pairs
    ]
