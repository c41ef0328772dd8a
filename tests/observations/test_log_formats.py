"""Logs of engines and clients as observations: every format against lines in its published shape."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from benchspec.observations.importers.logs.formats import FORMATS, MOST_PARTS, read_log
from benchspec.observations.importers.logs.found import (
    LARGEST,
    Found,
    duration_s,
    number,
    whole,
)
from benchspec.spec.observed import ENGINE_AVERAGES, Observed

DATA = Path(__file__).parent / "data" / "log-formats.yaml"
FORMS = {form["id"]: form["lines"] for form in yaml.safe_load(DATA.read_text("utf-8"))}
READ = ("LF05", "LF06", "LF09", "LF10", "LF11", "LF12", "LF13")


def read(lines: Iterable[str]) -> Found:
    return read_log(list(lines), "some.log")[0]


def only_step(lines: Iterable[str]) -> dict[str, Any]:
    (step,) = read(lines).steps
    return step


def as_spec(found: Found) -> Observed:
    """What was found, as a spec takes it; raises where it does not."""
    arms = {"main": found.arm} if found.arm else {}
    return Observed.model_validate({"arms": arms, "steps": found.steps, "series": found.series})


# --- the published shapes --------------------------------------------------------------------------


@pytest.mark.parametrize("form", READ)
def test_every_published_shape_is_read_and_is_what_a_spec_takes(form: str) -> None:
    found = read(FORMS[form])
    assert as_spec(found).steps
    assert all(part["source"].startswith("some.log: ") for part in (*found.steps, *found.series))


@pytest.mark.parametrize("form", READ)
def test_no_shape_is_taken_for_another(form: str) -> None:
    expected = {
        "LF05": ["llama.cpp timings"],
        "LF06": ["llama-server timings"],
        "LF09": ["vLLM throughput"],
        "LF10": ["SGLang batches"],
        "LF11": ["Ollama requests"],
        "LF12": ["tabbyAPI metrics"],
        "LF13": ["serving benchmark", "llama-bench table", "mlx_lm timings"],
    }
    assert read_log(FORMS[form], "x")[1] == expected[form]


@pytest.mark.parametrize("form", ["LF01", "LF02", "LF03"])
def test_a_log_of_counters_is_none_of_them(form: str) -> None:
    assert form not in FORMS
    assert not read(["# gpu   pwr gtemp", "    0    70    50", "0, 97 %, 287.41 W, N/A"])


# --- llama.cpp --------------------------------------------------------------------------------------


def test_both_generations_of_the_command_line_give_their_rates() -> None:
    step = only_step(FORMS["LF05"])
    assert step["decode_tok_s"] == "50.0..100.0"
    assert [request["self_reported_tok_s"] for request in step["requests"]] == [100, 50]


def test_a_comma_is_a_decimal_sign_and_inf_is_no_rate() -> None:
    lines = [
        "llama_perf_context_print: prompt eval time =      80,50 ms /    12 tokens (    6,71 ms per"
        " token,   149,07 tokens per second)",
        "llama_perf_context_print:        eval time =       0,00 ms /     1 runs   (    0,00 ms per"
        " token,      inf tokens per second)",
    ]
    step = only_step(lines)
    assert step["requests"] == [{"server_prefill_ms": 80.5}]
    assert step["prefill_tok_s"] == 149.07
    assert "decode_tok_s" not in step


def test_runs_are_no_tokens_and_sampling_is_no_decoding() -> None:
    found = read(FORMS["LF05"])
    assert all("tokens" not in request for request in found.steps[0]["requests"])
    assert "`runs`, which are passes and not tokens" in found.left_out[0]


def test_four_generations_of_llama_server() -> None:
    requests = only_step(FORMS["LF06"])["requests"]
    assert [r.get("tokens") for r in requests] == [250, 800, 400, 100]
    assert [r.get("self_reported_tok_s") for r in requests] == [None, 250, 50, 20]
    assert requests[2]["server_prefill_ms"] == 200
    drafts = [(r.get("accepted_tokens"), r.get("draft_tokens")) for r in requests]
    assert drafts == [(None, None), (None, None), (60, 100), (60, 120)]


def test_a_recorded_log_of_llama_server() -> None:
    log = Path(__file__).parent.parent / "engines" / "data" / "start-three-slots.log"
    step = only_step(log.read_text("utf-8").splitlines())
    wanted = {"tokens": 4, "self_reported_tok_s": 70.69, "server_prefill_ms": 24.77}
    assert step["requests"] == [wanted]
    assert step["prefill_tok_s"] == 80.73


HEADER = "slot print_timing: id  {} | task {} | "
BLOCK = [
    "prompt eval time =     {0}.00 ms /   100 tokens (    2.00 ms per token,   500.00 tokens per second)",
    "       eval time =    8000.00 ms /   {0} tokens (   20.00 ms per token,    50.00 tokens per second)",
    "      total time =    8200.00 ms /   500 tokens",
]


def block(slot: int, task: int, n: int) -> list[str]:
    return [HEADER.format(slot, task), *(line.format(n) for line in BLOCK)]


def test_blocks_one_after_the_other_are_two_requests_whatever_stands_between() -> None:
    lines = [*block(0, 7, 11), "srv  update_slots: all slots are idle", *block(1, 8, 22)]
    assert [r["tokens"] for r in only_step(lines)["requests"]] == [11, 22]


def test_blocks_of_two_slots_that_mix_are_left_out() -> None:
    one, two = block(0, 7, 11), block(1, 8, 22)
    mixed = [one[0], two[0], one[1], two[1], *one[2:], *two[2:]]
    found = read([*mixed, *block(0, 9, 33)])
    assert [r["tokens"] for r in found.steps[0]["requests"]] == [33]
    assert "2 requests whose lines lie between another slot's" in found.left_out


def test_a_block_that_lost_lines_costs_no_later_one() -> None:
    lines = [HEADER.format(0, 1), "[100B blob data]", *block(0, 2, 22)]
    assert [r["tokens"] for r in only_step(lines)["requests"]] == [22]
    assert "1 lines that journald did not keep (blob data)" in read(lines).left_out
    far = [HEADER.format(0, 1), *["other"] * 30, *block(1, 2, 22)]
    assert [r["tokens"] for r in only_step(far)["requests"]] == [22]


def test_the_servers_of_a_router_keep_their_lines_apart() -> None:
    one, two = block(0, 7, 11), block(0, 7, 22)
    lines = [f"[{pid}] {line}" for pair in zip(one, two, strict=True)
             for pid, line in zip((4100, 4200), pair, strict=True)]  # fmt: skip
    assert [r["tokens"] for r in only_step(lines)["requests"]] == [11, 22]


def test_a_request_that_goes_on_is_none_that_ended() -> None:
    found = read([FORMS["LF06"][-1]])
    assert not found.steps
    assert "not finished" in found.left_out[0]


# --- vLLM and SGLang --------------------------------------------------------------------------------

V1 = (
    "(APIServer pid=1) INFO 01-01 12:00:{:02} [loggers.py:257] Engine 000: Avg prompt throughput: 10.0"
    " tokens/s, Avg generation throughput: {}.0 tokens/s, Running: 16 reqs, Waiting: {} reqs,"
    " GPU KV cache usage: 95.0%, Prefix cache hit rate: 32.2%"
)


def test_throughputs_of_vllm_are_series_over_their_interval() -> None:
    found = read(V1.format(s, 100 + s, s) for s in (5, 15, 25))
    series = {one["counter"]: one for one in found.series}
    rate = series["generation_throughput"]
    assert (rate["values"], rate["times_s"]) == ([105, 115, 125], [0, 10, 20])
    assert (rate["interval_s"], rate["window_s"], rate["statistic"]) == (10, 10, "mean")
    assert "averages over the log interval" in rate["source"]
    assert rate["source"].endswith("engine 000")
    step = found.steps[0]
    assert (step["running_max"], step["waiting_max"], step["hit_rate"]) == (16, 25, "32.2 %")


def test_what_each_engine_has_for_itself_is_not_that_of_all() -> None:
    lines = [V1.format(5, 1, 1), V1.format(5, 1, 1).replace("000:", "001:")]
    found = read(lines)
    assert not found.steps
    assert len({one["source"] for one in found.series}) == 2
    ranks = [FORMS["LF10"][0], FORMS["LF10"][0].replace("TP0", "DP1 TP0")]
    assert "running_max" not in only_step(ranks)


def test_one_line_says_no_interval_and_a_new_year_no_times() -> None:
    assert "interval_s" not in read([V1.format(5, 1, 1)]).series[0]
    turned = read([V1.format(5, 1, 1).replace("01-01", "12-31"), V1.format(5, 1, 1)])
    assert "times_s" not in turned.series[0]


def test_waiting_was_called_pending() -> None:
    found = read(FORMS["LF09"][:1])
    assert {one["counter"]: one["values"] for one in found.series}["requests_waiting"] == [0]
    assert {"Swapped", "CPU KV cache usage"} <= set(found.left_out)


def test_every_series_is_one_that_the_spec_language_names() -> None:
    for form in ("LF09", "LF10"):
        for one in read(FORMS[form]).series:
            assert one["unit"] in ENGINE_AVERAGES[one["counter"]]


def test_speculation_as_a_fraction_and_in_percent() -> None:
    old, new = FORMS["LF09"][2], FORMS["LF09"][3]
    kept = ("acceptance", "drafts", "tokens_per_round")
    assert [only_step([old])[name] for name in kept] == [0.6, 4, 3.2]
    assert [only_step([new])[name] for name in kept] == [0.5, 3, 2.5]


def test_speculation_of_several_intervals_is_summed() -> None:
    other = FORMS["LF09"][3].replace("Accepted: 150", "Accepted: 0").replace("2.50", "1.00")
    step = only_step([FORMS["LF09"][3], other])
    assert (step["acceptance"], step["tokens_per_round"]) == (0.25, 1.75)


def test_a_hit_rate_beside_a_preemption_is_left_out() -> None:
    found = read([V1.format(5, 1, 1), FORMS["LF09"][4]])
    assert "hit_rate" not in found.steps[0]
    assert any("preemptions" in what for what in found.left_out)


def test_the_size_of_the_cache_has_thousands_and_is_of_one_engine() -> None:
    line = FORMS["LF09"][5]
    assert read([line]).arm == {"kv_tokens": 80000}
    assert read([line, line.replace("80,000", "70,000")]).arm == {}


def test_sglang_between_progress_bars() -> None:
    bar = "Loading safetensors: 40%|████      | 2/5 [00:01<00:02]"
    found = read([bar + FORMS["LF10"][0], FORMS["LF10"][1]])
    step = found.steps[0]
    assert (step["running_max"], step["waiting_max"]) == (40, 30)
    assert (step["acceptance"], step["tokens_per_round"]) == (0.6, 2.8)
    assert step["hit_rate"] == pytest.approx(1024 / 9216)
    rate = next(one for one in found.series if one["counter"] == "generation_throughput")
    assert rate["values"] == [2000]


def test_sglang_on_a_hybrid_and_another_accelerator() -> None:
    line = FORMS["LF10"][0].replace("#token", "#full token").replace("cuda graph", "npu graph")
    found = read([line])
    assert found.steps[0]["running_max"] == 40
    assert {"#full token", "npu graph"} <= set(found.left_out)


# --- Ollama and tabbyAPI ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("850.5µs", 0.0008505), ("850.5μs", 0.0008505), ("250.000ms", 0.25), ("5.5s", 5.5),
     ("2m10.500000000s", 130.5), ("1h2m3s", 3723), ("300ns", 3e-7),
     ("5", None), ("", None), ("-5s", None), ("5.s", None), ("s", None), ("1d", None)],
)  # fmt: skip
def test_durations_as_go_prints_them(text: str, seconds: float | None) -> None:
    assert duration_s(text) == (None if seconds is None else pytest.approx(seconds))


def test_a_gin_line_is_written_at_the_end() -> None:
    gin = '[GIN] 2026/01/01 - 12:00:{} | {} | {} |  127.0.0.1 | {}  "{}"'
    found = read(
        [
            gin.format(30, 200, "10s", "POST", "/api/chat"),
            gin.format(31, 500, "1m1s", "POST", "/v1/chat/completions"),
            gin.format(32, 200, "21.2µs", "GET", "/api/tags"),
        ]
    )
    (step,) = found.steps
    assert step["requests"] == [
        {"start_s": 0, "end_s": 61, "ok": False, "error": "HTTP 500"},
        {"start_s": 50, "end_s": 60},
    ]
    assert step["provenance"] == "derived"
    assert any("other addresses" in what for what in found.left_out)


def test_verbose_lines_are_a_request_each_and_cached_prompts_are_not_counted() -> None:
    once = ["total duration:       2m10.5s", "load duration:        850.5µs",
            "prompt eval count:    2 token(s)", "prompt eval duration: 250.000ms",
            "prompt eval rate:     8.00 tokens/s", "eval count:           300 token(s)",
            "eval duration:        10s", "eval rate:            30.00 tokens/s"]  # fmt: skip
    step = only_step(once * 2)
    wanted = {"tokens": 300, "self_reported_tok_s": 30, "server_prefill_ms": 250}
    assert step["requests"] == [wanted] * 2
    assert step["latency_s"] == 130.5


def test_a_prompt_that_ollama_cut_is_a_line_of_its_arm() -> None:
    (said,) = read(FORMS["LF11"]).arm["log"]
    assert (said["effect"], said["setting"], said["line"]) == ("changed", "num_ctx", 2)
    assert "3000 tokens cut to the limit of 2048" in said["text"]


@pytest.mark.parametrize("width", [40, 60, 79, 400])
def test_a_metrics_line_of_tabbyapi_wrapped_anywhere(width: int) -> None:
    (line,) = FORMS["LF12"]
    pieces: list[str] = [""]
    for word in line.split():
        if len(pieces[-1]) + len(word) > width:
            pieces.append("          ")
        pieces[-1] += word + " "
    step = only_step([*pieces, "2026-01-01 12:00:01.000 INFO:     another line"])
    assert step["requests"] == [
        {"tokens": 150, "prompt_tokens": 12000, "cached_tokens": 4000, "self_reported_tok_s": 30,
         "accepted_tokens": 3, "draft_tokens": 4, "start_s": 0, "end_s": 15}
    ]  # fmt: skip
    assert step["prefill_tok_s"] == 800


def test_half_of_a_broken_figure_is_no_figure() -> None:
    (line,) = FORMS["LF12"]
    for place in range(line.index("150") + 1, len(line)):
        for request in only_step([line[:place], line[place:]])["requests"]:
            assert request.get("tokens", 150) == 150
            assert request.get("prompt_tokens", 12000) == 12000
            assert request.get("cached_tokens", 4000) == 4000
            assert request.get("self_reported_tok_s", 30) == 30
            assert (request.get("accepted_tokens", 3), request.get("draft_tokens", 4)) == (3, 4)


# --- clients ----------------------------------------------------------------------------------------

SERVING = """\
============ Serving Benchmark Result ============
Backend:                                 sglang
Traffic request rate:                    inf
Max request concurrency:                 32
Successful requests:                     100
Failed requests:                         2
Benchmark duration (s):                  50.00
Total input tokens:                      50000
Total generated tokens:                  20000
Total generated tokens (retokenized):    19990
Request throughput (req/s):              2.00
Output token throughput (tok/s):         400.00
Concurrency:                             31.60
Accept length:                           2.50
----------------End-to-End Latency----------------
Mean E2E Latency (ms):                   15800.00
---------------Time to First Token----------------
Mean TTFT (ms):                          800.00
-----Time per Output Token (excl. 1st token)------
Mean TPOT (ms):                          20.00
---------------Inter-Token Latency----------------
Mean ITL (ms):                           21.00
P99 ITL (ms):                            60.00
==================================================
"""


def test_a_block_of_a_serving_benchmark() -> None:
    step = only_step(SERVING.splitlines())
    source = step.pop("source")
    assert source == "some.log: result block of a serving benchmark, its means"
    assert step == {
        "concurrency": 32, "planned_requests": 102, "errors": 2, "wall_s": 50, "prompt_tokens": 500,
        "tokens_total": 20000, "tokens_recounted": 19990, "requests_per_s": 2,
        "aggregate_tok_s": 400, "latency_s": 15.8, "ttft_ms": 800, "tpot_ms": 20,
        "itl_ms": {"mean": 21, "p99": 60}, "tokens_per_round": 2.5,
    }  # fmt: skip
    assert "Concurrency" in read(SERVING.splitlines()).left_out


def test_a_rate_is_an_open_loop_and_not_set_is_no_limit() -> None:
    text = SERVING.replace(" inf", " 10.0").replace("                 32", "    not set")
    step = only_step(text.splitlines())
    assert (step["mode"], step["rate"]) == ("open", 10)
    assert "concurrency" not in step


def test_speculation_in_a_block_of_vllm() -> None:
    text = SERVING.replace("Accept length: ", "Acceptance length:")
    text = text.replace("Concurrency: ", "Acceptance rate (%):")
    step = only_step(text.splitlines())
    assert (step["tokens_per_round"], step["acceptance"]) == (2.5, "31.6 %")


def test_rows_of_llama_bench_with_their_settings() -> None:
    table = """\
ggml_cuda_init: found 1 CUDA devices:
| model | size | backend | ngl | fa | test | t/s |
| ----- | ---: | ------- | --: | -: | ---: | --: |
| 30B Q4_K - Medium | 17.00 GiB | CUDA | 99 | 1 | pp512 | 2000.00 ± 5.00 |
| 30B Q4_K - Medium | 17.00 GiB | CUDA | 99 | 1 | tg128 @ d8192 | 40.00 ± 0.10 |
| 30B Q4_K - Medium | 17.00 GiB | CUDA | 99 | 0 | tg128 | 50.00 ± 0.00 |
| 30B Q4_K - Medium | 17.00 GiB | CUDA | 99 | 0 | pp512+tg128 | 90.00 ± 0.00 |

build: abc (5470)
"""
    found = read(table.splitlines())
    prompt, deep, flat = found.steps
    assert (prompt["prefill_tok_s"], prompt["prompt_tokens"]) == ("1995..2005", 512)
    assert (deep["decode_tok_s"], deep["context_tokens"]) == ("39.9..40.1", 8192)
    assert (flat["decode_tok_s"], flat["tokens_per_request"]) == (50, 128)
    assert flat["source"].endswith(
        "model 30B Q4_K - Medium, size 17.00 GiB, backend CUDA, ngl 99, fa 0"
    )
    assert any("rows differ" in what for what in found.left_out)
    assert any("pp+tg" in what for what in found.left_out)


def test_rows_of_numbers_are_believed_where_their_quotients_agree() -> None:
    row = "|  2048 |    128 |   8192 |    0.640 |  3200.00 |    0.800 |   160.00 |"
    step = only_step([row])
    assert (step["prefill_tok_s"], step["decode_tok_s"], step["context_tokens"]) == (
        3200,
        160,
        8192,
    )
    assert not read([row.replace("3200", "4200")])
    batched = "| 512 | 128 | 4 | 2560 | 1.000 | 2048.00 | 2.000 | 256.00 | 3.000 | 853.33 |"
    step = only_step([batched])
    assert (step["concurrency"], step["decode_tok_s"], step["wall_s"]) == (4, 64, 3)


def test_mlx_lm_with_and_without_tokens() -> None:
    lines = ["Prompt: 25 tokens, 100.000 tokens-per-sec", "Generation: 100 tokens, 30.000 tokens-per-sec",
             "Peak memory: 10.000 GB", "Generation: 31.000 tokens-per-sec"]  # fmt: skip
    found = read(lines)
    assert found.steps[0]["requests"] == [
        {"prompt_tokens": 25, "tokens": 100, "self_reported_tok_s": 30},
        {"self_reported_tok_s": 31},
    ]
    assert found.left_out == ["peak memory"]


# --- hostile and huge -------------------------------------------------------------------------------


def _no_digits(line: str) -> str:
    return "".join("x" if c.isdigit() else c for c in line)


def _huge_digits(line: str) -> str:
    return "".join("9" * 40 if c.isdigit() else c for c in line)


@pytest.mark.parametrize(
    "spoil",
    [_no_digits, _huge_digits, lambda line: line[: len(line) // 2], lambda line: line[::-1],
     lambda line: line * 50, lambda line: line.replace("0", "-1"), lambda line: "\x00" + line,
     lambda line: line.replace(".", ".."), lambda line: line.replace(" ", " " * 300),
     lambda line: line.replace("2", "٢"), lambda line: line.replace("01-01", "99-99")],
)  # fmt: skip
def test_spoilt_lines_give_what_a_spec_takes_or_nothing(spoil: Callable[[str], str]) -> None:
    every = [spoil(line) for lines in FORMS.values() for line in lines] + [
        spoil(line) for line in SERVING.splitlines()[1:]
    ]
    found = read([*every, SERVING.splitlines()[0], *every])
    as_spec(found)
    json.dumps([found.steps, found.series, found.arm], allow_nan=False).encode("utf-8")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=8), st.data())
def test_parts_of_lines_in_any_order_never_raise(words: list[str], data: st.DataObject) -> None:
    every = [line for lines in FORMS.values() for line in lines] + SERVING.splitlines()
    chosen = data.draw(st.lists(st.sampled_from(every), max_size=12))
    cut = [line[data.draw(st.integers(0, 40)) :] for line in chosen]
    as_spec(read([*chosen, *words, *cut]))


def test_what_is_printed_is_bounded() -> None:
    many = [line for task in range(12_000) for line in block(0, task, 7)]
    engines = [V1.format(5, 1, 1).replace("000:", f"{n}:") for n in range(1000)]
    found = read([*many, *[V1.format(5, 1, 1)] * 12_000, *engines, *SERVING.splitlines() * 1000])
    assert len(found.series) == MOST_PARTS
    assert len(found.steps) == MOST_PARTS
    assert len(found.steps[0]["requests"]) >= 500
    assert f"steps and series after the first {MOST_PARTS} of each" in found.left_out
    assert any(what.startswith("requests and samples after the first") for what in found.left_out)


def test_what_fits_is_not_cut() -> None:
    found = read(line for task in range(1000) for line in block(0, task, 7))
    assert len(found.steps[0]["requests"]) == 1000


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_a_long_line_is_read_in_time_that_grows_with_it(form: Any) -> None:
    """Not timed: a pattern that backtracks without end would never come back."""
    for piece in (
        "| ",
        "slot print_timing: ",
        "1.1 ",
        "draft ",
        "Metrics (ID: ",
        ": ",
        "1m",
        "-",
        "pp",
    ):
        read_log([piece * 2000] * 30, "x")
    assert form.sign


def test_numbers_that_are_none() -> None:
    assert [number(t) for t in ("0,5", "inf", "nan", "1e400", "", None, "1,000.5")] == [
        0.5, None, None, None, None, None, None,
    ]  # fmt: skip
    assert [whole(t) for t in ("80,000", "-1", "1.5", "", None, str(LARGEST))] == [
        80000, None, None, None, None, None,
    ]  # fmt: skip
