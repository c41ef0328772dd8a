"""llama.cpp: the table covers the program's own help, and its command line is read as it reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchspec.knowledge import engines, llamacpp
from benchspec.knowledge.model import AFFECTS, Reading

FIXTURES = Path(__file__).parent / "fixtures"


def help_rows() -> list[list[str]]:
    lines = (FIXTURES / "llama-server-options.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines[2:]]


def read(*argv: str) -> Reading:
    return llamacpp.parse_args("llama-server", argv)


def values(*argv: str) -> dict[str, object]:
    return {name: use.value for name, use in read(*argv).settings.items()}


def complaints(reading: Reading) -> list[str]:
    return [problem.kind for problem in reading.problems]


def test_every_option_of_the_help_is_known_by_every_spelling() -> None:
    rows = help_rows()
    assert len(rows) == 256
    removed = {name for entry in llamacpp.REMOVED for name in entry.names}
    for names, value, env, _ in rows:
        spelled = names.split()
        found = {engines.engine("llama.cpp").find(name) for name in spelled}  # type: ignore[union-attr]
        if found == {None}:
            assert set(spelled) <= removed, names
            continue
        (setting,) = found
        assert setting is not None, names
        assert setting.env == (env or None), names
        assert setting.takes_value == bool(value), names
        assert set(spelled) == set(setting.flags + setting.negatives), names


def test_what_a_setting_affects_is_from_the_closed_vocabulary() -> None:
    for setting in llamacpp.KNOWLEDGE.settings.values():
        assert setting.affects and set(setting.affects) <= set(AFFECTS), setting.name
        assert set(setting.conflicts) <= set(llamacpp.KNOWLEDGE.settings), setting.name
        assert setting.known, setting.name


@pytest.mark.parametrize("spelled", ["np", "parallel", "-np", "--parallel", "LLAMA_ARG_N_PARALLEL"])
def test_slots_have_one_name(spelled: str) -> None:
    assert engines.canonical("llama.cpp", spelled) == "parallel"


def test_a_negative_spelling_keeps_its_sense() -> None:
    assert engines.canonical("llama.cpp", "nkvo") == "no-kv-offload"
    assert engines.canonical("llama.cpp", "n_gpu_layers") == "n-gpu-layers"
    assert engines.canonical("llama.cpp", "--frobnicate") == "frobnicate"


@pytest.mark.parametrize(
    ("raw", "value"), [("32k", 32), ("8192tokens", 8192), ("0.75", 0), (" 12", 12), ("-1x", -1)]
)
def test_integers_stop_at_the_first_foreign_character(raw: str, value: int) -> None:
    reading = read("-c", raw)
    assert reading.settings["ctx-size"].value == value
    assert reading.settings["ctx-size"].raw == raw
    assert complaints(reading) == ([] if raw == " 12" else ["value-truncated"])


def test_a_truncated_context_says_what_it_really_becomes() -> None:
    (problem,) = read("-c", "32k").problems
    assert problem.text == (
        "-c 32k is read as 32: llama.cpp ignores all that follows the digits, "
        "then pads it to 256 tokens"
    )


@pytest.mark.parametrize("raw", ["", "lots", "k32", "99999999999", "1" * 5000])
def test_a_value_that_is_no_integer_stops_the_server(raw: str) -> None:
    reading = read("-c", raw)
    assert complaints(reading) == ["value-invalid"]
    assert reading.settings == {}


def test_zero_slots_are_refused_and_negative_is_auto() -> None:
    assert complaints(read("-np", "0")) == ["value-invalid"]
    assert values("-np", "-1") == {"parallel": -1}


def test_a_flag_with_equals_is_refused() -> None:
    reading = read("--ctx-size=4096")
    assert complaints(reading) == ["equals-form"]
    assert reading.settings == {}
    assert "`--ctx-size 4096`" in reading.problems[0].text


def test_underscores_are_dashes_in_long_names_only() -> None:
    assert values("--ctx_size", "4096") == {"ctx-size": 4096}
    assert complaints(read("-no_kvu")) == ["unknown-flag"]


def test_one_dash_names_never_cluster() -> None:
    assert values("-ngl", "99", "-nkvo", "-np", "2") == {
        "n-gpu-layers": 99,
        "kv-offload": False,
        "parallel": 2,
    }
    assert complaints(read("-ngl99")) == ["unknown-flag"]


def test_a_value_may_begin_with_a_dash() -> None:
    assert values("-ngl", "-1", "--seed", "-1", "-n", "-2") == {
        "n-gpu-layers": "auto",
        "seed": -1,
        "n-predict": -2,
    }


def test_the_last_of_two_wins_and_is_reported() -> None:
    reading = read("-c", "4096", "--ctx-size", "8192")
    assert reading.settings["ctx-size"].value == 8192
    assert complaints(reading) == ["duplicate-flag"]


def test_speculation_types_accumulate() -> None:
    reading = read("--spec-type", "ngram-mod", "--spec-type", "draft-mtp")
    assert reading.settings["spec-type"].value == "ngram-mod,draft-mtp"
    assert complaints(reading) == []
    assert complaints(read("--spec-type", "magic")) == ["value-invalid"]


def test_none_among_speculation_types_cancels_that_list() -> None:
    assert values("--spec-type", "draft-mtp,none") == {"spec-type": "none"}


@pytest.mark.parametrize(
    ("raw", "value"), [("1", "on"), ("enabled", "on"), ("0", "off"), ("-1", "auto")]
)
def test_boolean_words(raw: str, value: str) -> None:
    assert values("-fa", raw) == {"flash-attn": value}


def test_words_are_case_sensitive_and_fit_has_no_auto() -> None:
    assert complaints(read("-fa", "On")) == ["value-invalid"]
    assert complaints(read("-fit", "auto")) == ["value-invalid"]


def test_an_old_bare_flash_attn_needs_a_value_now() -> None:
    reading = read("-fa", "-ngl", "99")
    assert complaints(reading) == ["value-missing"]
    assert {name: use.value for name, use in reading.settings.items()} == {
        "flash-attn": "on",
        "n-gpu-layers": 99,
    }


def test_a_removed_flag_names_its_successor_and_is_understood() -> None:
    reading = read("--draft-max", "16", "--no-mmap")
    assert complaints(reading) == ["removed-flag", "removed-flag"]
    assert reading.settings["spec-draft-n-max"].value == 16
    assert reading.settings["load-mode"].value == "none"
    assert "--spec-draft-n-max" in reading.problems[0].text


def test_an_unknown_flag_names_the_nearest_and_swallows_its_value() -> None:
    reading = read("--paralel", "4", "-c", "512")
    assert complaints(reading) == ["unknown-flag"]
    assert "--parallel" in reading.problems[0].text
    assert set(reading.settings) == {"ctx-size"}


def test_a_preset_flag_sets_many_and_later_flags_win() -> None:
    reading = read("--gpt-oss-20b-default", "-np", "8")
    assert reading.settings["ctx-size"].value == 262144
    assert reading.settings["parallel"].value == 8
    assert "preset-flag" in complaints(reading)


def test_two_values_are_one_setting() -> None:
    assert values("--control-vector-layer-range", "2", "30", "-np", "1") == {
        "control-vector-layer-range": "2 30",
        "parallel": 1,
    }


@pytest.mark.parametrize("text", ["0", "", "anything"])
def test_a_no_variable_means_off_whatever_its_value_and_beats_the_other(text: str) -> None:
    env = {"LLAMA_ARG_NO_KV_OFFLOAD": text, "LLAMA_ARG_KV_OFFLOAD": "1"}
    assert llamacpp.parse_env(env).settings["kv-offload"].value is False


def test_variables_are_read_as_the_server_reads_them() -> None:
    reading = llamacpp.parse_env(
        {
            "LLAMA_ARG_N_PARALLEL": "4",
            "LLAMA_ARG_CACHE_TYPE_K": "Q8_0",
            "LLAMA_ARG_SWA_FULL": "yes",
            "LLAMA_ARG_MMAP": "0",
            "LLAMA_ARG_DRAFT_MAX": "8",
            "GGML_CUDA_ALLREDUCE": "internal",
            "PATH": "/bin",
        }
    )
    assert {name: use.value for name, use in reading.settings.items()} == {
        "parallel": 4,
        "GGML_CUDA_ALLREDUCE": "internal",
    }
    assert sorted(complaints(reading)) == [
        "env-ignored",
        "env-ignored",
        "removed-flag",
        "value-invalid",
    ]


def test_the_command_line_beats_the_environment() -> None:
    reading = engines.resolve(
        "llama.cpp",
        flags={},
        command="LLAMA_ARG_CTX_SIZE=32768 llama-server -c 8192",
        env={"LLAMA_ARG_N_PARALLEL": "2"},
    )
    assert reading.settings["ctx-size"].value == 8192
    assert reading.settings["ctx-size"].origin == "command"
    assert reading.settings["parallel"].origin == "env"
    assert complaints(reading) == ["flag-and-env"]


def test_only_what_was_stated_is_effective() -> None:
    assert engines.effective("llama.cpp", flags={}, command=None, env={}) == {}


def test_flags_of_a_spec_are_read_as_the_engine_reads_them() -> None:
    reading = engines.resolve("llama.cpp", flags={"np": 4, "c": "32k", "fit": "off"})
    assert {name: use.value for name, use in reading.settings.items()} == {
        "parallel": 4,
        "ctx-size": 32,
        "fit": "off",
    }
    assert reading.settings["parallel"].origin == "flag"
    assert complaints(reading) == ["value-truncated"]


def test_flags_become_an_argument_list() -> None:
    flags = {
        "np": 4,
        "ctx_size": 8192,
        "fit": "off",
        "kv-offload": False,
        "no-cont-batching": True,
        "swa-full": True,
        "lora": ["a.gguf", "b.gguf"],
        "temp": None,
        "chat-template-kwargs": {"enable_thinking": False},
        "z": 1,
        "brand-new": "x",
    }
    assert engines.to_argv("llama.cpp", flags) == [
        *("-np", "4", "--ctx-size", "8192", "--fit", "off", "--no-kv-offload"),
        *("--no-cont-batching", "--swa-full", "--lora", "a.gguf", "--lora", "b.gguf"),
        *("--chat-template-kwargs", '{"enable_thinking": false}', "-z", "1", "--brand-new", "x"),
    ]


@pytest.mark.parametrize(
    "flags",
    [
        {"swa-full": False},
        {"fit": True},
        {"fit": False},
        {"new": False},
        {"OMP_NUM_THREADS": 4},
        {"cont-batching": "off"},
    ],
)
def test_a_flag_without_a_spelling_is_refused(flags: dict[str, object]) -> None:
    with pytest.raises(engines.FlagError) as caught:
        engines.to_argv("llama.cpp", flags)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("ctx_size", "parallel", "unified", "fit", "expected"),
    [
        (8192, 4, False, True, 2048),  # -c 8192 -np 4: a quarter each
        (8192, -1, False, True, 8192),  # unset slots: four, one pool, each may use it all
        (8192, 4, True, True, 8192),  # -kvu
        (1024, 3, False, True, 512),  # 341 padded up: 1536 in all, more than asked
        (32, 1, False, True, 256),  # -c 32k is 32, padded
        (0, 4, False, True, 16384),  # unset, fit on: a training length for each slot
        (0, 4, False, False, 4096),  # unset, fit off: one training length divided
        (0, -1, False, False, 16384),  # unset, auto
        (100_000, 1, False, True, 16384),  # above the training length: capped per slot
    ],
)
def test_tokens_per_slot_of_a_model_trained_on_16384(
    ctx_size: int, parallel: int, unified: bool, fit: bool, expected: int
) -> None:
    assert llamacpp.slot_context(ctx_size, parallel, unified, 16384, fit) == expected


def test_tokens_per_slot_without_the_training_length() -> None:
    assert llamacpp.slot_context(8192, 4, False, None) == 2048
    assert llamacpp.slot_context(0, 4, False, None) is None
    assert llamacpp.slot_context(0, 4, True, None, per_slot=2048) == 2048
