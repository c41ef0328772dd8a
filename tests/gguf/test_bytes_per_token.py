"""Bytes read per round, against sums made independently from the `gguf` package's tensor list."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchspec.errors import UsageError
from benchspec.gguf.bytes_per_token import Reads, Round, expected_distinct, reads
from benchspec.gguf.header import GgufUnreadable, read_model
from benchspec.gguf.summary import summarise
from tests.gguf.conftest import Shapes, Write, gguf, raw_header, string_value

ATTENTION: Shapes = {
    "attn_q.weight": (64, 64),
    "attn_k.weight": (64, 32),
    "attn_v.weight": (64, 32),
}
DENSE: Shapes = ATTENTION | {"ffn_down.weight": (96, 64), "ffn_norm.weight": (64,)}
BASE: dict[str, object] = {"block_count": 2, "embedding_length": 64, "attention.head_count": 2,
        "attention.head_count_kv": 1, "context_length": 4096}  # fmt: skip
ROOT: Shapes = {"token_embd.weight": (64, 320), "output_norm.weight": (64,)}
OUTPUT: Shapes = {"output.weight": (64, 320)}


def blocks(*layers: Shapes) -> Shapes:
    """Tensor shapes by full name, for block 0, 1, ..."""
    return {
        f"blk.{i}.{name}": shape for i, layer in enumerate(layers) for name, shape in layer.items()
    }


def sizes(path: Path) -> dict[str, int]:
    """Bytes by tensor name, as the gguf package reads them."""
    return {tensor.name: int(tensor.n_bytes) for tensor in gguf.GGUFReader(path).tensors}


def use(found: Reads, name: str) -> tuple[str, float]:
    tensor = next(tensor for tensor in found.tensors if tensor.name == name)
    return tensor.use, tensor.read_bytes


# --- weights --------------------------------------------------------------------------------------


@pytest.mark.engine
@pytest.mark.slow
def test_the_demo_model_reads_all_its_bytes_and_one_row(smollm: Path) -> None:
    independent = sum(sizes(smollm).values()) + 576 // 32 * 34
    found = reads(read_model(smollm))
    assert found.weight_bytes == pytest.approx(independent, rel=1e-3)
    assert found.weight_bytes == 96_577_380


def test_a_model_with_its_own_output_reads_one_row_of_its_embeddings(write: Write) -> None:
    path = write("llama", BASE, ROOT | OUTPUT | blocks(DENSE, DENSE))
    stored = sizes(path)
    found = reads(read_model(path))
    expected = sum(stored.values()) - stored["token_embd.weight"] + 68
    assert found.weight_bytes == expected
    assert use(found, "token_embd.weight") == ("lookup", 68)
    assert use(found, "output.weight") == ("output", stored["output.weight"])
    assert found.stored_bytes == sum(stored.values())


def test_tied_embeddings_are_read_whole_for_the_output(write: Write) -> None:
    path = write("llama", BASE, ROOT | blocks(DENSE, DENSE))
    assert reads(read_model(path)).weight_bytes == sum(sizes(path).values()) + 68


def test_other_lookup_tables_are_read_by_row(write: Write) -> None:
    tables: Shapes = {"per_layer_token_embd.weight": (32, 320), "position_embd.weight": (64, 512)}
    path = write("gemma3n", BASE, ROOT | OUTPUT | tables | blocks(DENSE, DENSE))
    found = reads(read_model(path), Round(tokens=3))
    assert use(found, "per_layer_token_embd.weight") == ("lookup", 3 * 34)
    assert use(found, "position_embd.weight") == ("lookup", 3 * 68)


MOE: Shapes = ATTENTION | {
    "ffn_gate_inp.weight": (64, 8),
    "ffn_gate_exps.weight": (64, 96, 8),
    "ffn_up_exps.weight": (64, 96, 8),
    "ffn_down_exps.weight": (96, 64, 8),
    "ffn_up_shexp.weight": (64, 96),
    "exp_probs_b.bias": (8,),
}
MOE_BASE = BASE | {"expert_count": 8, "expert_used_count": 2}


def moe_bytes(path: Path, share: float) -> float:
    """Independent: experts by share, one embedding row per token left out, the rest whole."""
    return sum(
        size * (share if re.search(r"_exps\.", name) else 1)
        for name, size in sizes(path).items()
        if name != "token_embd.weight"
    )


def test_of_the_experts_only_the_used_ones_are_read(write: Write) -> None:
    path = write("qwen3moe", MOE_BASE, ROOT | OUTPUT | blocks(MOE, MOE))
    found = reads(read_model(path))
    assert found.weight_bytes == pytest.approx(moe_bytes(path, 2 / 8) + 68, rel=1e-9)
    assert use(found, "blk.0.ffn_up_exps.weight")[0] == "experts"
    assert use(found, "blk.0.ffn_up_shexp.weight")[0] == "shared experts"
    assert use(found, "blk.0.ffn_gate_inp.weight")[0] == "router"


def test_a_batch_reads_the_union_of_its_experts(write: Write) -> None:
    path = write("qwen3moe", MOE_BASE, ROOT | OUTPUT | blocks(MOE, MOE))
    found = reads(read_model(path), Round(tokens=4, streams=4))
    union = 1 - (1 - 2 / 8) ** 4
    assert found.weight_bytes == pytest.approx(moe_bytes(path, union) + 4 * 68, rel=1e-9)


def test_the_experts_used_may_differ_by_layer(write: Write) -> None:
    path = write("x", MOE_BASE | {"expert_used_count": [1, 4]}, ROOT | OUTPUT | blocks(MOE, MOE))
    found = reads(read_model(path))
    stored = sizes(path)
    assert [use(found, f"blk.{i}.ffn_up_exps.weight")[1] for i in (0, 1)] == [
        stored["blk.0.ffn_up_exps.weight"] / 8,
        stored["blk.1.ffn_up_exps.weight"] / 2,
    ]


@pytest.mark.parametrize(("tokens", "distinct"), [(1, 8), (2, 15.78), (4, 30.69)])
def test_distinct_experts_of_288_with_8_used(tokens: int, distinct: float) -> None:
    assert expected_distinct(288, 8, tokens) == pytest.approx(distinct, abs=0.01)


@given(st.integers(1, 512), st.integers(1, 512), st.integers(1, 64))
def test_distinct_experts_stay_between_used_and_all(experts: int, used: int, tokens: int) -> None:
    used = min(used, experts)
    distinct = expected_distinct(experts, used, tokens)
    assert used * (1 - 1e-9) <= distinct <= experts * (1 + 1e-9)


MTP: Shapes = DENSE | {"nextn.eh_proj.weight": (128, 64), "nextn.embed_tokens.weight": (64, 320)}
HEAD: Shapes = {"nextn.shared_head_head.weight": (64, 320)}
MTP_BASE = BASE | {"block_count": 3, "nextn_predict_layers": 1}


def test_draft_layers_are_not_read_unless_they_draft(write: Write) -> None:
    path = write("glm4moe", MTP_BASE, ROOT | OUTPUT | blocks(DENSE, DENSE, MTP | HEAD))
    stored = sizes(path)
    main = sum(
        size
        for name, size in stored.items()
        if not name.startswith("blk.2.") and name != "token_embd.weight"
    )
    header = read_model(path)
    assert reads(header).weight_bytes == main + 68
    table = "blk.2.nextn.embed_tokens.weight"
    draft = sum(
        size for name, size in stored.items() if name.startswith("blk.2.") and name != table
    )
    found = reads(header, Round(tokens=4, mtp_drafts=3))
    assert found.weight_bytes == main + 4 * 68 + 3 * (draft + 68)
    assert summarise(header).layers == 2


def test_a_draft_layer_without_a_head_reads_the_main_output_again(write: Write) -> None:
    path = write("glm4moe", MTP_BASE, ROOT | OUTPUT | blocks(DENSE, DENSE, MTP))
    stored = sizes(path)
    found = reads(read_model(path), Round(tokens=3, mtp_drafts=2))
    assert use(found, "output.weight")[1] == 3 * stored["output.weight"]


def test_a_split_model_reads_what_the_whole_one_does(write: Write) -> None:
    whole = reads(read_model(write("llama", BASE, ROOT | OUTPUT | blocks(DENSE, DENSE))))
    parts = [ROOT | OUTPUT, blocks(DENSE, DENSE)]
    count = sum(len(part) for part in parts)
    for number, part in reversed(list(enumerate(parts))):
        split = {"split.no": number, "split.count": 2, "split.tensors.count": count}
        first = write("llama", BASE | split, part, name=f"m-{number + 1:05}-of-00002.gguf")
    assert reads(read_model(first), Round(context=9)).weight_bytes == whole.weight_bytes


# --- caches ---------------------------------------------------------------------------------------


@pytest.mark.engine
def test_the_demo_models_cache_is_what_its_server_says(smollm: Path) -> None:
    """The log of a start: `size = 180.00 MiB (8192 cells, 30 layers)`, K and V f16."""
    found = reads(read_model(smollm), Round(context=8192))
    assert found.cache_read_bytes == 180 * 1024 * 1024
    assert found.cache_written_bytes == 180 * 1024 * 1024 / 8192
    quantised = Round(context=2048, kv_type_k="q8_0", kv_type_v="q8_0")
    assert reads(read_model(smollm), quantised).cache_read_bytes / 2**20 == pytest.approx(
        23.91, abs=0.01
    )


def caches(
    write: Write, arch: str, metadata: dict[str, object], *layers: Shapes, **round_: object
) -> Reads:
    path = write(arch, BASE | {"block_count": len(layers)} | metadata, ROOT | blocks(*layers))
    return reads(read_model(path), Round(**{"context": 1000} | round_))  # type: ignore[arg-type]


def test_grouped_heads_cache_their_own_keys_and_values_only(write: Write) -> None:
    found = caches(write, "llama", {}, DENSE, DENSE, streams=3, tokens=3)
    per_token = 2 * (32 + 32) * 2  # layers, elements of one head's key and value, f16
    assert found.cache_read_bytes == per_token * 1000 * 3
    assert found.cache_written_bytes == per_token * 3


def test_key_and_value_lengths_and_types_may_differ(write: Write) -> None:
    lengths: dict[str, object] = {"attention.key_length": 96, "attention.value_length": 64}
    found = caches(write, "llama", lengths, DENSE, kv_type_k="q8_0", kv_type_v="q4_0")
    assert found.cache_read_bytes == 1000 * (96 // 32 * 34 + 64 // 32 * 18)


def test_latent_attention_caches_one_vector_and_no_values(write: Write) -> None:
    mla: dict[str, object] = {
        "attention.key_length_mla": 48, "attention.value_length_mla": 32,
        "attention.kv_lora_rank": 512, "rope.dimension_count": 64,
    }  # fmt: skip
    layer: Shapes = {"attn_kv_a_mqa.weight": (64, 576), "attn_k_b.weight": (64, 64)}
    found = caches(write, "deepseek2", mla, layer, layer)
    assert found.cache_read_bytes == 2 * 1000 * 576 * 2
    assert {cache.use for cache in found.caches} == {"latent attention"}


def test_a_sliding_window_bounds_what_its_layers_read(write: Write) -> None:
    found = caches(write, "gpt-oss", {"attention.sliding_window": 128}, DENSE, DENSE, DENSE, DENSE)
    assert [(cache.use, cache.visible) for cache in found.caches] == [
        ("sliding window", 128),
        ("attention", 1000),
    ] * 2
    short = caches(write, "gpt-oss", {"attention.sliding_window": 128}, DENSE, context=100)
    assert short.caches[0].visible == 100


def test_the_files_own_pattern_outranks_the_architectures(write: Write) -> None:
    window: dict[str, object] = {"attention.sliding_window": 128}
    by_layer = window | {"attention.sliding_window_pattern": [False, True, True]}
    found = caches(write, "gemma3", by_layer, DENSE, DENSE, DENSE)
    assert [cache.visible for cache in found.caches] == [1000, 128, 128]
    by_period = window | {"attention.sliding_window_pattern": 3}
    found = caches(write, "gemma3", by_period, DENSE, DENSE, DENSE)
    assert [cache.visible for cache in found.caches] == [128, 128, 1000]


def test_a_pattern_that_nobody_knows_gives_a_lower_bound_and_says_so(write: Write) -> None:
    found = caches(write, "newarch", {"attention.sliding_window": 128}, DENSE, DENSE)
    assert [cache.visible for cache in found.caches] == [128, 128]
    assert "lower bound" in found.notes[0]


def test_layers_that_use_an_earlier_cache_own_none(write: Write) -> None:
    found = caches(write, "gemma4", {"attention.shared_kv_layers": 1}, DENSE, DENSE, DENSE)
    assert [cache.layer for cache in found.caches] == [0, 1]


def test_a_hybrid_has_states_in_some_layers_and_keys_in_others(write: Write) -> None:
    ssm = {"ssm.conv_kernel": 4, "ssm.inner_size": 128, "ssm.state_size": 16, "ssm.group_count": 1}
    hybrid: dict[str, object] = {"full_attention_interval": 2, **ssm}
    mamba: Shapes = {
        "attn_qkv.weight": (64, 96),
        "ssm_conv1d.weight": (4, 160),
        "ssm_out.weight": (128, 64),
    }
    found = caches(write, "qwen3next", hybrid, mamba, DENSE, streams=2)
    state = (3 * (128 + 2 * 16) + 16 * 128) * 4 * 2
    assert [(c.layer, c.use, c.read_bytes) for c in found.caches] == [
        (0, "recurrent state", state),
        (1, "attention", 2 * 1000 * 128),
    ]
    assert found.caches[0].written_bytes == state


@pytest.mark.parametrize(
    ("arch", "metadata", "tensor", "elements"),
    [
        ("rwkv7", {"wkv.head_size": 32, "token_shift_count": 2}, "time_mix_w1.weight", 64 * 34),
        ("lfm2", {"shortconv.l_cache": 3}, "shortconv.conv.weight", 64 * 2),
        ("kimi-linear", {"kda.head_dim": 32, "ssm.conv_kernel": 4}, "ssm_a.weight",
         3 * 3 * 2 * 32 + 32 * 32 * 2),
        ("mamba", {"ssm.conv_kernel": 4, "ssm.inner_size": 128, "ssm.state_size": 16},
         "ssm_a.weight", 3 * 128 + 16 * 128),
    ],
)  # fmt: skip
def test_the_state_of_a_recurrent_layer(
    write: Write, arch: str, metadata: dict[str, object], tensor: str, elements: int
) -> None:
    found = caches(write, arch, metadata, {tensor: (32, 1)})
    assert [(c.use, c.read_bytes, c.visible) for c in found.caches] == [
        ("recurrent state", elements * 4, 0)
    ]


def test_layers_without_key_heads_have_no_cache(write: Write) -> None:
    found = caches(write, "granitehybrid", {"attention.head_count_kv": [0, 1]}, DENSE, DENSE)
    assert [cache.layer for cache in found.caches] == [1]


def test_draft_layers_read_their_cache_once_per_draft(write: Write) -> None:
    path = write("glm4moe", MTP_BASE, ROOT | OUTPUT | blocks(DENSE, DENSE, MTP))
    header = read_model(path)
    per_token = 64 * 2
    assert reads(header, Round(context=1000)).cache_read_bytes == 2 * 1000 * per_token
    drafting = reads(header, Round(context=1000, tokens=4, mtp_drafts=3))
    assert drafting.cache_read_bytes == (2 + 3) * 1000 * per_token


# --- what is outside ------------------------------------------------------------------------------


def test_a_vision_projector_is_refused(write: Write) -> None:
    with pytest.raises(UsageError, match="not known for 'clip' models"):
        reads(read_model(write("clip", {"block_count": 1}, {"v.blk.0.x": (32, 1)})))


def test_an_unknown_cache_type_is_refused(write: Write) -> None:
    with pytest.raises(UsageError, match="'q9_9' is not known"):
        caches(write, "llama", {}, DENSE, kv_type_k="q9_9")


def test_a_model_without_layers_is_refused(write: Write) -> None:
    with pytest.raises(GgufUnreadable, match="no layer count"):
        reads(read_model(write("llama", {"block_count": 0}, {"x": (32, 1)})))


@pytest.mark.parametrize("architecture", ["", "a b", "x" * 65, "a\n"])
def test_a_model_whose_architecture_is_no_name_is_refused(
    architecture: str, tmp_path: Path
) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(raw_header({"general.architecture": string_value(architecture)}))
    with pytest.raises(GgufUnreadable, match="does not name its architecture"):
        reads(read_model(path))


# --- in a few numbers -----------------------------------------------------------------------------


@pytest.mark.engine
def test_the_demo_model_in_a_few_numbers(smollm: Path) -> None:
    summary = summarise(read_model(smollm))
    assert (summary.layers, summary.hidden_size, summary.context_length) == (30, 576, 8192)
    assert summary.parameters_total == summary.parameters_active == 134_515_008
    assert summary.bits_per_weight == pytest.approx(5.74, abs=0.01)


def test_active_parameters_leave_out_the_experts_not_used(write: Write) -> None:
    summary = summarise(read_model(write("qwen3moe", MOE_BASE, ROOT | OUTPUT | blocks(MOE, MOE))))
    experts = 2 * (3 * 64 * 96 * 8)
    assert summary.parameters_active == summary.parameters_total - experts * 6 // 8
    assert (summary.experts, summary.experts_used) == (8, 2)
