"""Attached OpenAI-compatible servers: what they say of themselves, and what they do not."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler

import pytest

from benchspec.engines import engine_for
from benchspec.engines.base import Found, Launch
from benchspec.errors import EngineFailure
from tests.engines.conftest import Respond, answer

Serve = Callable[[Respond], str]
Pages = Mapping[str, object]

MODELS = {"data": [{"id": "smollm", "object": "model"}]}

# After vllm/v1/metrics/loggers.py (0.32.0).
VLLM_METRICS = """# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="smollm"} 3.0
vllm:num_requests_waiting{engine="0",model_name="smollm"} 5.0
vllm:num_preemptions_total{engine="0",model_name="smollm"} 0.0
vllm:cache_config_info{block_size="16",cache_dtype="auto",enable_prefix_caching="True",\
gpu_memory_utilization="0.92",num_gpu_blocks="None"} 1.0
"""


@pytest.fixture
def attached(serve: Serve) -> Callable[..., Launch]:
    """`attached(kind, pages)`: a launch on a server with these pages; others are 404."""

    def build(kind: str, pages: Pages, **fields: object) -> Launch:
        def respond(request: BaseHTTPRequestHandler) -> None:
            page = pages.get(request.path)
            body = page if isinstance(page, str) else json.dumps(page)
            answer(request, 404 if page is None else 200, body.encode())

        launch = Launch(kind, None, [], {}, None, None, attach=serve(respond))
        return replace(launch, **fields)  # type: ignore[arg-type]

    return build


def read_back(launch: Launch) -> Found:
    with engine_for(launch) as engine:
        return engine.read_back()


def test_a_bare_server_gives_its_model_and_the_declared_slots(
    attached: Callable[..., Launch],
) -> None:
    found = read_back(attached("openai", {"/v1/models": MODELS}, slots=6))
    assert (found.model, found.build, found.findings) == ("smollm", None, [])
    assert found.facts == {"slots": 6, "slots_source": "declared"}
    (slots,) = found.settings
    assert (slots.name, slots.asked, slots.found) == ("slots", 6, None)


def test_slots_that_nobody_knows_are_not_guessed(attached: Callable[..., Launch]) -> None:
    assert read_back(attached("openai", {"/v1/models": MODELS})).facts == {}


@pytest.mark.parametrize(
    ("kind", "page", "body", "source"),
    [
        ("openai", "/props", {"total_slots": 4}, "/props"),
        ("openai", "/slots", [{}, {}, {}, {}], "/slots"),
        ("vllm", "/server_info?config_format=json",
         {"vllm_config": {"scheduler_config": {"max_num_seqs": 4}}}, "/server_info"),
        ("sglang", "/server_info?config_format=json",
         {"internal_states": [{"effective_max_running_requests_per_dp": 4}] * 2}, "/server_info"),
    ],
)  # fmt: skip
def test_slots_are_read_where_the_server_tells(
    attached: Callable[..., Launch], kind: str, page: str, body: object, source: str
) -> None:
    found = read_back(attached(kind, {"/v1/models": MODELS, page: body}, slots=99))
    assert found.facts == {"slots": 4, "slots_source": source}
    (slots,) = (one for one in found.settings if one.found is not None)
    assert (slots.asked, slots.found) == (99, 4), "declared against live: the judge reads `changed`"
    assert (found.settings[0].found, found.settings[0].found_source) == (4, source)


def test_vllm_tells_its_cache_settings_and_its_queue(attached: Callable[..., Launch]) -> None:
    asked = {"max-num-seqs": 8, "enable-prefix-caching": False, "seed": 1}
    pages = {"/v1/models": MODELS, "/metrics": VLLM_METRICS, "/version": {"version": "0.32.0"}}
    with engine_for(attached("vllm", pages, asked=asked)) as engine:
        found = engine.read_back()
        counters = engine.counters()
    assert found.build == "0.32.0"
    assert {r.name: (r.asked, r.found) for r in found.settings} == {
        "max-num-seqs": (8, None),
        "enable-prefix-caching": (False, True),
        "seed": (1, None),
        "kv-cache-dtype": (None, "auto"),
    }
    assert counters == {
        "requests_processing": 3.0,
        "requests_deferred": 5.0,
        "preemptions_total": 0.0,
    }


@pytest.mark.parametrize("prefix", ["vllm", "sglang"])
def test_tokens_are_counted_under_one_name(attached: Callable[..., Launch], prefix: str) -> None:
    metrics = f"{prefix}:prompt_tokens_total 10\n{prefix}:generation_tokens_total 20\n"
    with engine_for(attached(prefix, {"/v1/models": MODELS, "/metrics": metrics})) as engine:
        assert engine.counters() == {"prompt_tokens_total": 10.0, "tokens_predicted_total": 20.0}


def test_of_several_models_the_named_one_is_asked_for(attached: Callable[..., Launch]) -> None:
    pages = {"/v1/models": {"data": [{"id": "a"}, {"id": "b"}]}}
    assert read_back(attached("ollama", pages, model_name="b")).model == "b"
    with pytest.raises(EngineFailure, match=r"serves 2 models \(a, b\)"):
        read_back(attached("ollama", pages, model_name="c"))


@pytest.mark.parametrize("body", ["<html>", "[]", '{"data": {}}', "{}"])
def test_what_is_no_openai_server_is_said_to_be_none(
    attached: Callable[..., Launch], body: str
) -> None:
    with pytest.raises(EngineFailure, match="/v1/models answered 200"):
        read_back(attached("openai", {"/v1/models": body}))


def test_health_is_never_asked_for_since_sglang_generates_to_answer_it(serve: Serve) -> None:
    asked: list[str] = []

    def respond(request: BaseHTTPRequestHandler) -> None:
        asked.append(request.path)
        answer(request, 200, json.dumps(MODELS).encode())

    read_back(Launch("sglang", None, [], {}, None, None, attach=serve(respond)))
    assert asked and not [path for path in asked if "health" in path]


def test_a_hostile_model_name_is_cut_and_cleaned(attached: Callable[..., Launch]) -> None:
    pages = {"/v1/models": {"data": [{"id": "a\x1b[31m\n" + "x" * 9000}]}}
    model = read_back(attached("openai", pages)).model
    assert model is not None and model.isprintable() and len(model) <= 500
