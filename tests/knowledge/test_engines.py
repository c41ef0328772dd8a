"""The table of engines: every kind answers every question, and only the asked one is loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchspec.knowledge import engines
from benchspec.knowledge.model import AFFECTS, EngineKnowledge

WITH_SETTINGS = [kind for kind in engines.kinds() if kind not in ("openai", "command")]


def known(kind: str) -> EngineKnowledge:
    found = engines.engine(kind)
    assert found is not None
    return found


def test_the_kinds_of_the_spec_language_are_known() -> None:
    assert set(engines.kinds()) >= {
        *("llama.cpp", "vllm", "sglang", "ollama", "mlx-lm", "lm-studio", "openai", "command"),
        *("tabbyapi", "tgi", "tensorrt-llm", "lmdeploy", "koboldcpp", "llama-swap"),
    }
    assert engines.engine("abacus") is None


@pytest.mark.parametrize("kind", ["openai", "command", "abacus"])
def test_a_kind_without_settings_judges_nothing(kind: str) -> None:
    assert engines.canonical(kind, "--anything") == "anything"
    assert engines.effective(kind, flags={"x": 1}, command="server -x 1", env={"A": "1"}) == {}
    assert engines.to_argv(kind, {"x": 1, "long": "two", "on": True}) == [
        *("-x", "1", "--long", "two", "--on")
    ]


@pytest.mark.parametrize("kind", WITH_SETTINGS)
def test_a_table_is_sound(kind: str) -> None:
    settings = known(kind).settings
    spelled = [f for each in settings.values() for f in (*each.flags, *each.negatives)]
    assert len(spelled) == len(set(spelled))
    variables = [each.env for each in settings.values() if each.env]
    assert len(variables) == len(set(variables))
    for name, each in settings.items():
        assert each.name == name
        assert set(each.affects) <= set(AFFECTS), name
        assert each.affects or not each.known, name
        assert set(each.conflicts) <= set(settings), name
        assert not each.negatives or each.kind == "bool", name
        assert not each.choices or each.kind in ("choice", "word", "joined", "sweep"), name


@pytest.mark.parametrize("kind", WITH_SETTINGS)
def test_every_spelling_leads_to_its_setting(kind: str) -> None:
    for name, each in known(kind).settings.items():
        for flag in each.flags:
            assert engines.canonical(kind, flag) == name
        for flag in each.negatives:
            assert engines.canonical(kind, flag) == each.negatives[0].lstrip("-")


@pytest.mark.parametrize("kind", WITH_SETTINGS)
def test_what_is_written_for_a_flag_reads_back_as_that_setting(kind: str) -> None:
    examples = {"int": 7, "float": 0.5, "size": 7, "layers": 7, "json": {"a": 1}, "list": ["a"]}
    examples["many"] = ["a", "b"]
    for name, each in known(kind).settings.items():
        if not each.flags or each.kind in ("exit", "preset", "pair"):
            continue
        value: object = each.choices[-1] if each.choices else examples.get(each.kind, "text")
        if not each.takes_value:
            value = True
        reading = engines.resolve(kind, flags={name: value})
        assert reading.settings[name].value == value, name
        if each.negatable:
            off = engines.resolve(kind, flags={name: False})
            assert off.settings[name].value is False, name


def test_a_problem_says_whether_the_engine_stops() -> None:
    stopping = engines.parse_command("llama.cpp", "llama-server --paralel 4").problems[0]
    starting = engines.parse_command("llama.cpp", "llama-server -c 32k").problems[0]
    assert (stopping.stops, starting.stops) == (True, False)


def test_how_much_is_not_known_can_be_counted() -> None:
    unknown = {
        kind: sum(not each.known for each in known(kind).settings.values())
        for kind in WITH_SETTINGS
    }
    assert unknown["llama.cpp"] == 0
    assert {kind for kind, count in unknown.items() if count} == {"vllm", "sglang", "lmdeploy"}


@pytest.mark.parametrize(
    ("kind", "slots"),
    [
        ("llama.cpp", 4),
        ("ollama", 1),
        ("mlx-lm", 32),
        ("lm-studio", 4),
        ("koboldcpp", 1),
        ("vllm", None),
    ],
)
def test_slots_when_nothing_is_said(kind: str, slots: int | None) -> None:
    assert known(kind).default_slots == slots


def test_asking_for_one_engine_loads_no_other() -> None:
    script = (
        "import sys; from benchspec.knowledge import engines;"
        "engines.resolve('llama.cpp', flags={'np': 4}, env={});"
        "print(*sorted(m for m in sys.modules if m.startswith('benchspec.knowledge.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = {name.rpartition(".")[2] for name in done.stdout.split()}
    assert "llamacpp" in loaded
    assert not loaded & {"vllm", "sglang", "ollama", "accelerators", "shell", "llamacpp_bench"}
