"""What others call a key leads to the key of this language; it is never read as one."""

from __future__ import annotations

import pytest

from benchspec.spec.observed import Step
from benchspec.spec.other_names import counter_for, keys_for, without_statistic
from tests.spec.test_loader import loaded


def advice(step: str) -> str:
    (problem,) = loaded(f"observations: {{steps: [{{concurrency: 4, {step}}}]}}").problems
    return problem.help


@pytest.mark.parametrize(
    ("step", "advised"),
    [
        ("throughput: 4", "did you mean `aggregate_tok_s`?"),
        ("tokens_per_second: 4", "did you mean `aggregate_tok_s` or `stream_tok_s`?"),
        ("tg_tok_s: 4", "did you mean `decode_tok_s`?"),
        ("pp: 4", "did you mean `prefill_tok_s`?"),
        ("failed: 3", "did you mean `errors`?"),
        ("num_prompts: 3", "did you mean `planned_requests`?"),
        ("duration_s: 3", "did you mean `wall_s`?"),
        ("p99_ttft_ms: 3", "did you mean `ttft_ms`? It holds one figure"),
        ("ttft_p99_ms: 3", "did you mean `ttft_ms`? It holds one figure"),
        ("mean_e2e_ms: 3", "did you mean `latency_s`? It holds one figure"),
        ("power_w: 3", "{counter: power,"),
        ("gpu_util: 3", "{counter: utilization,"),
        ("zzz: 3", "docs/spec.md has them all"),
    ],
)
def test_a_name_of_another_tool_leads_to_the_key(step: str, advised: str) -> None:
    assert advised in advice(step)


def test_every_key_that_is_advised_exists() -> None:
    from benchspec.spec import models, observed, observed_figures, other_names

    fields = {
        name
        for module in (observed, observed_figures, models)
        for model in vars(module).values()
        if hasattr(model, "model_fields")
        for name in model.model_fields
    }
    assert set(other_names._CALLED) <= fields
    assert set(other_names._COUNTERS) <= set(observed.COUNTERS)


def test_names_are_looked_up_without_their_statistic() -> None:
    assert without_statistic("p99_ttft_ms") == "ttft_ms"
    assert without_statistic("ttft_ms") is None
    assert keys_for("isl", Step.model_fields) == ["prompt_tokens"]
    assert counter_for("watts") == "power"


def test_a_figure_with_its_spread_is_written_as_its_ends() -> None:
    assert "write its ends: '85..91'" in advice("stream_tok_s: 88 ± 3")
    assert "write its ends: '0.5..1.5 tok/s'" in advice("stream_tok_s: 1 +/- 0.5 tok/s")


def test_a_time_between_tokens_says_which_it_is() -> None:
    assert advice("itl_ms: 44.6") == "say what it is: {p50: 44.6} or {mean: 44.6}"


@pytest.mark.parametrize("figure", ["acceptance: 64.5", "hit_rate: 32.2"])
def test_a_percentage_without_its_sign_is_no_share(figure: str) -> None:
    number = figure.partition(": ")[2]
    assert advice(figure) == f"write '{number} %', if percent is meant"


def test_a_figure_of_a_counted_thing_leaves_its_unit_to_unit() -> None:
    limits = "[{name: power limit, limit: 500 W, used: 246}]"
    (problem,) = loaded(f"observations: {{limits: {limits}}}").problems
    assert "where there is a key `unit`, the unit goes there" in problem.help


def test_an_engine_without_a_kind_has_a_name() -> None:
    (problem,) = loaded("engine: {kind: exllamav2}").problems
    assert "`kind: command`, or openai, and `name: exllamav2`" in problem.help


def test_a_device_has_its_own_words() -> None:
    (problem,) = loaded("hardware: {devices: [{id: g, bandwidth: 936 GB/s}]}").problems
    assert problem.help == "did you mean `memory_bandwidth`?"
