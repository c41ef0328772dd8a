"""Settings asked against settings found."""

from __future__ import annotations

import pytest

from benchspec.engines.llama_cpp_found import (
    Scalar,
    live_settings,
    model_name,
    setting_records,
    speculates,
)

PROPS = {
    "total_slots": 4,
    "default_generation_settings": {
        "n_ctx": 2048,
        "params": {"temperature": 0.800000011920929, "seed": 4294967295, "min_p": float("nan")},
    },
}


def found(name: str, asked: Scalar | None, facts: dict[str, object]) -> Scalar | None:
    records = setting_records({name: asked}, live_settings({}, None, facts))
    return next(record.found for record in records if record.name == name)


def test_the_live_server_outranks_its_log() -> None:
    live = live_settings(PROPS, None, {"n_slots": 1, "n_ctx": 8192, "n_ctx_slot": 64})
    assert live["parallel"] == (4, "/props")
    assert live["ctx-size-per-slot"] == (2048, "/props")
    assert live["ctx-size"] == (8192, "log")


def test_floats_come_back_as_they_were_asked() -> None:
    live = live_settings(PROPS, None, {})
    assert live["temp"] == (0.8, "/props")
    assert "min-p" not in live


def test_slots_and_context_are_recorded_even_if_nobody_asked_and_nobody_knows() -> None:
    records = setting_records({}, {})
    assert [(r.name, r.asked, r.found) for r in records] == [
        ("parallel", None, None),
        ("ctx-size", None, None),
        ("ctx-size-per-slot", None, None),
        ("kv-unified", None, None),
    ]


@pytest.mark.parametrize(
    ("name", "asked", "facts", "expected"),
    [
        ("n-gpu-layers", 99, {"offloaded_layers": 33, "offloadable_layers": 33}, 99),
        ("n-gpu-layers", "all", {"offloaded_layers": 33, "offloadable_layers": 33}, "all"),
        ("n-gpu-layers", 99, {"offloaded_layers": 20, "offloadable_layers": 33}, 20),
        ("n-gpu-layers", 99, {"n_ctx": 512}, 0),
        ("n-gpu-layers", 99, {}, None),
        ("flash-attn", "on", {"flash_attention": "disabled"}, "off"),
        ("flash-attn", True, {"flash_attention": "enabled"}, True),
        ("fit", "off", {"fit": "off"}, "off"),
        ("fit", "on", {"fit": "failed"}, "on"),
        ("cache-ram", 8192, {"prompt_cache": "8192 MiB"}, 8192),
        ("cache-ram", -1, {"prompt_cache": "no limit"}, -1),
        ("cache-ram", 0, {"prompt_cache": "disabled"}, 0),
        ("rpc", "host:1", {}, None),
    ],
)
def test_a_setting_is_spelled_as_the_spec_spells_it(
    name: str, asked: Scalar, facts: dict[str, object], expected: Scalar | None
) -> None:
    assert found(name, asked, facts) == expected


def test_speculation_is_off_when_no_slot_speculates() -> None:
    assert speculates([{"speculative": False}, {"speculative": True}]) is True
    assert speculates([{"id": 0}, "x"]) is speculates(None) is None
    off = live_settings({}, [{"speculative": False}], {})
    assert off["spec-type"] == ("none", "/slots")


def test_a_models_folder_is_not_its_name() -> None:
    path = "/home/me/models/m.gguf"
    assert model_name({"model_path": path, "model_alias": path}) == "m.gguf"
    assert model_name({"model_path": path, "model_alias": "mine"}) == "mine"
    assert model_name({"model_path": 7}) is None


def test_what_decides_the_speed_is_listed_where_it_can_be_read() -> None:
    facts = {"n_ctx": 512, "flash_attention": "enabled", "cache_type_k": "f16", "meta_devices": 2}
    live = live_settings({}, None, {**facts, "internal_allreduce_gpus": 2})
    found = {one.name: (one.asked, one.found) for one in setting_records({}, live)}
    assert found["flash-attn"] == (None, "on")
    assert found["cache-type-k"] == (None, "f16")
    assert found["n-gpu-layers"] == (None, 0)
    assert found["split-mode"] == (None, "tensor")
    assert found["GGML_CUDA_ALLREDUCE"] == (None, "internal")
    assert "cache-type-v" not in found
