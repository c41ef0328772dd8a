"""Logs of engines that somebody else started: what each of them says of its settings.

The logs in data/attached are composed: the shapes of their lines are those of the versions that they name,
as published in these engines' sources and issue threads; nothing of theirs was recorded here.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchspec.engines.log_settings import ServerLog, pairs
from benchspec.engines.logs import LOGS
from benchspec.knowledge.wrapped import unwrapped
from benchspec.store.records import LogFinding

DATA = Path(__file__).parent / "data" / "attached"
OF_KIND = {
    "vllm": ("vllm-one-card.log", "vllm-two-cards.log"),
    "sglang": ("sglang.log",),
    "ollama": ("ollama.log",),
    "mlx-lm": ("mlx-lm.log",),
    "openai": ("tabby.log",),
}


def lines(name: str) -> list[str]:
    return (DATA / name).read_text().splitlines()


def log_of(kind: str, name: str, asked: Collection[str] = ()) -> ServerLog:
    return LOGS[kind].read(lines(name), asked=asked)


def effects(findings: list[LogFinding]) -> list[tuple[str, str | None]]:
    return [(one.effect, one.setting) for one in findings]


# --- vLLM -----------------------------------------------------------------------------------------


def test_vllm_on_one_card() -> None:
    log = log_of("vllm", "vllm-one-card.log")
    assert log.settings == {
        "max-model-len": 16384,
        "enable-prefix-caching": False,
        "max-num-seqs": 32,
        "dtype": "bfloat16",
        "tensor-parallel-size": 1,
        "pipeline-parallel-size": 1,
        "data-parallel-size": 1,
        "disable-custom-all-reduce": False,
        "enforce-eager": False,
        "kv-cache-dtype": "auto",
        "seed": 0,
        "attention-backend": "FLASH_ATTN",
        "enable-chunked-prefill": True,
    }
    assert log.stated == {"max-model-len", "enable-prefix-caching", "max-num-seqs"}
    expected = {
        "build": "0.32.0",
        "slots": 32,
        "context_per_slot": 16384,
        "replicas": 1,
        "kv_tokens": 32768,
        "kv_mib": 4608,
        "weights_bytes": round(15.27 * 2**30),
        "full_length_requests": 2.0,
        "nccl_version": "2.28.9",
        "attention_backend": "FLASH_ATTN",
    }
    assert {name: log.facts.get(name) for name in expected} == expected


def test_what_vllm_adapts_is_a_warning_until_somebody_asked_otherwise() -> None:
    adapted = [("warning", "async-scheduling"), ("warning", "generation-config")]
    assert effects(log_of("vllm", "vllm-one-card.log").findings) == adapted
    asked = log_of("vllm", "vllm-one-card.log", asked=("async-scheduling",)).findings
    assert effects(asked) == [("fell-back", "async-scheduling"), ("warning", "generation-config")]


def test_vllm_on_two_cards_and_two_ranks() -> None:
    log = log_of("vllm", "vllm-two-cards.log", asked=("max-model-len",))
    assert (log.settings["data-parallel-size"], log.facts["replicas"]) == (2, 2)
    assert log.settings["disable-custom-all-reduce"] is True
    assert log.settings["kv-cache-dtype"] == "fp8"
    assert "kv_mib" not in log.facts, "of one card of two, and not of the model"
    assert effects(log.findings) == [
        ("warning", "disable-custom-all-reduce"),
        ("changed", "max-model-len"),
    ]


def test_a_restart_forgets_what_was_said_before() -> None:
    both = [*lines("vllm-two-cards.log"), *lines("vllm-one-card.log")]
    log = LOGS["vllm"].read(both, asked=())
    assert log.settings["tensor-parallel-size"] == 1
    assert log.facts["kv_tokens"] == 32768
    assert [one.line for one in log.findings] == [15, 23]


def test_preemption_while_it_runs() -> None:
    text = "WARNING 01-01 12:00:05 scheduler.py:1483] Sequence group 7 is preempted by RECOMPUTE"
    quiet = "INFO 01-01 12:00:05 [loggers.py:257] Engine 000: Running: 16 reqs, Waiting: 40 reqs"
    (finding,) = LOGS["vllm"].trouble([quiet, text, quiet], asked=(), first=101)
    assert (finding.effect, finding.line) == ("warning", 102)


# --- SGLang ---------------------------------------------------------------------------------------


def test_sglang() -> None:
    log = log_of("sglang", "sglang.log", asked=("max-running-requests",))
    assert log.settings["max-running-requests"] == 48, "what it runs with, not what it was given"
    assert log.settings["context-length"] == 40960
    assert log.settings["disable-radix-cache"] is True
    assert log.settings["attention-backend"] == "fa3"
    assert log.settings["speculative-algorithm"] == "EAGLE"
    expected = {"slots": 48, "context_per_slot": 40960, "kv_tokens": 120000, "kv_mib": 16384}
    assert {name: log.facts.get(name) for name in expected} == expected
    assert effects(log.findings) == [
        ("warning", "disable-overlap-schedule"),
        ("changed", "max-running-requests"),
    ]


def test_sglang_retracts_while_it_runs() -> None:
    text = "[2026-10-21 11:09:00 TP0] KV cache pool is full. Retract requests. #retracted_reqs: 2"
    assert effects(LOGS["sglang"].trouble([text], asked=())) == [
        ("warning", "max-running-requests")
    ]


# --- Ollama, mlx-lm, others -----------------------------------------------------------------------


def test_ollama_through_journald() -> None:
    log = log_of("ollama", "ollama.log", asked=("num-parallel",))
    assert log.settings == {
        "num-parallel": 1,
        "num-ctx": 8192,
        "num-gpu": 20,
        "kv-cache-type": "f16",
    }
    assert log.facts["build"] == "0.33.0"
    assert effects(log.findings) == [
        ("refused", "num-parallel"),
        ("warning", None),
        ("warning", "truncate"),
    ]
    assert "blob data" in log.findings[1].text


def test_the_last_model_that_ollama_loaded_counts() -> None:
    again = [line.replace("-c 8192 -np 1", "-c 65536 -np 4") for line in lines("ollama.log")]
    log = LOGS["ollama"].read([*lines("ollama.log"), *again[2:4]], asked=())
    assert (log.settings["num-parallel"], log.settings["num-ctx"]) == (4, 16384)


def test_mlx_lm() -> None:
    log = log_of("mlx-lm", "mlx-lm.log")
    assert (log.settings, effects(log.findings)) == ({}, [("warning", "draft-model")])


def test_of_an_unknown_engine_warnings_and_errors_are_kept_as_they_are() -> None:
    found = log_of("openai", "tabby.log").findings
    assert [(one.effect, one.line) for one in found] == [
        ("warning", 2),
        ("error", 3),
        ("warning", 4),
        ("warning", 5),
    ]
    assert found[1].text == "Draft model is disabled because a model name wasn't provided."


# --- all of them ----------------------------------------------------------------------------------

ALL = [(kind, name) for kind, names in OF_KIND.items() for name in names]


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_no_key_and_no_path_is_taken_over(kind: str, name: str) -> None:
    log = log_of(kind, name)
    kept = json.dumps([log.facts, log.settings, [one.model_dump() for one in log.findings]])
    for private in ("sk-not-for-anyone", "/srv/models", "/home/ada"):
        assert private not in kept


@pytest.mark.parametrize(("kind", "name"), ALL)
@pytest.mark.parametrize(
    "wrap",
    [
        lambda line: f"Oct 21 12:00:00 box serve[13]: {line}",
        lambda line: f"2026-10-21T12:00:00.123456789Z {line}",
        lambda line: f"engine-1  | {line}",
        lambda line: json.dumps({"log": line + "\n", "stream": "stderr", "time": "2026"}),
    ],
    ids=["journald", "docker -t", "compose", "docker json"],
)
def test_what_keeps_a_log_does_not_matter(kind: str, name: str, wrap: object) -> None:
    plain = (
        [line.partition("]: ")[2] or line for line in lines(name)]
        if kind == "ollama"
        else (lines(name))
    )
    assert callable(wrap)
    wrapped = LOGS[kind].read([wrap(line) for line in plain], asked=())
    assert wrapped == LOGS[kind].read(plain, asked=())


@pytest.mark.parametrize("kind", ["vllm", "sglang"])
def test_another_form_is_said_to_be_one(kind: str) -> None:
    name = OF_KIND[kind][0]
    other = [
        line.replace("non-default args: {", "non-default arguments: <")
        .replace("KV cache size:", "KV cache size is")
        .replace("max_total_num_tokens=", "max_total_num_tokens: ")
        for line in lines(name)
    ]
    log = LOGS[kind].read(other, asked=())
    drifted = [one.text for one in log.findings if "not in the form that is known" in one.text]
    assert len(drifted) == (2 if kind == "vllm" else 1)


@pytest.mark.parametrize("kind", ["vllm", "sglang"])
def test_a_log_of_another_program_is_none_of_these(kind: str) -> None:
    (finding,) = LOGS[kind].read(["hello"] * 30, asked=()).findings
    assert "it does not print its" in finding.text


@given(st.lists(st.text(max_size=80), max_size=20), st.sampled_from(sorted(LOGS)))
def test_no_text_breaks_it(texts: list[str], kind: str) -> None:
    log = LOGS[kind].read(texts, asked=("max-num-seqs",))
    assert all(one.text.isprintable() for one in log.findings)


def test_pairs_of_nested_and_hostile_text() -> None:
    text = "{'a': 1, 'b': {'c': 2, 'd': [3]}, 'e': 'x y', 'f': None, 'g': '/tmp/x', 'h': True}"
    assert dict(pairs(text)) == {"a": 1, "h": True}
    assert dict(pairs("a=torch.float16, b=C(d=1, e=(2, 3)), f=auto, g=-1)")) == {
        "a": "float16",
        "f": "auto",
        "g": -1,
    }
    assert dict(pairs("(" * 5000)) == {}


def test_a_tab_that_syslog_wrote_as_a_number_is_a_tab_again_and_only_there() -> None:
    kept = "Jan 01 12:00:00 host ollama[13]: a#011b"
    assert unwrapped(kept) == "a\tb"
    assert unwrapped("the colour #0110ff") == "the colour #0110ff"
    assert unwrapped('{"log":"#011\\n"}') == "#011\n"
