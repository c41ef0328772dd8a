"""Ways to send requests, from the spec to the observations: no timing is judged here, only what is
true on a busy machine, too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchspec.load.arrivals import schedule_ns
from benchspec.load.calibration import known_server
from benchspec.load.known_timing import Timing
from tests.e2e.conftest import Cli, cells

SLOWEST_MS = [
    {
        "id": "H1",
        "claim": "The first token takes 100 ms at least.",
        "because": "the server waits for so long",
        "test": {"metric": "ttft_ms", "relation": ">=", "value": 100},
    }
]


def measure(cli: Cli, timing: Timing, load: dict[str, Any], **changes: Any) -> Path:
    """The bundle of a run against a server of known timing. It may be too disturbed to judge."""
    with known_server(timing) as endpoint:
        spec = cli.spec(
            hypotheses=SLOWEST_MS,
            model={"name": "m", "source": "served", "sha256": None},
            engine={
                "kind": "openai",
                "binary": None,
                "attach": f"http://127.0.0.1:{endpoint.port}",
                "slots": 64,
                "flags": None,
            },
            load={"mode": None, "concurrency": None, **load},
            **changes,
        )
        done = cli("run", spec, exit_code=None)
    assert done.returncode in {0, 4}, done.stderr
    cli("verify", cli.bundle())
    return cli.bundle()


def steps(bundle: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((bundle / "observations.json").read_text())["steps"]
    return found


def check_open_loop(bundle: Path, rate: float, requests: int) -> None:
    for cell, step in zip(cells(bundle), steps(bundle), strict=True):
        sent = cell["requests"]
        schedule = schedule_ns("poisson", rate, seed=cell["key"]["repeat"], requests=requests)
        assert [one["scheduled_ns"] - cell["started_ns"] for one in sent] == schedule
        assert all(one["ok"] and one["sent_ns"] >= one["scheduled_ns"] for one in sent)
        span_s = (sent[-1]["sent_ns"] - sent[0]["sent_ns"]) / 1e9
        assert cell["achieved_rate"] == pytest.approx((requests - 1) / span_s)
        assert (step["rate"], step["achieved_rate"]) == (rate, cell["achieved_rate"])
        for one, seen in zip(sent, step["requests"], strict=True):
            since_schedule_ms = (one["first_token_ns"] - one["scheduled_ns"]) / 1e6
            assert seen["ttft_ms"] == pytest.approx(since_schedule_ms)


@pytest.mark.slow
def test_an_open_loop_against_known_timing(cli: Cli) -> None:
    slo = {"ttft": "99 ms", "e2e": "60 s"}
    bundle = measure(cli, Timing(100.0, 5.0, 8), {"rate": [25], "requests": 30, "slo": slo})
    check_open_loop(bundle, 25.0, 30)
    checks = json.loads((bundle / "verdicts.json").read_text())["checks"]
    (good,) = [one for one in checks if one["check"] == "goodput"]
    assert good["state"] == "invalid" or good["reading"] == "none", "the server waits for 100 ms"
    if good["state"] == "judged":
        assert "0 good / 30 sent = 0 (ttft <= 0.099 s: 0, e2e <= 60 s: 30)" in good["arithmetic"]
    first_ms = [one["ttft_ms"] for step in steps(bundle) for one in step["requests"]]
    assert min(first_ms) >= 100.0


@pytest.mark.engine
def test_an_open_loop_against_the_real_engine(cli: Cli) -> None:
    hypothesis = {**SLOWEST_MS[0], "test": {"metric": "ttft_ms", "relation": ">=", "value": 0.1}}
    spec = cli.spec(
        hypotheses=[hypothesis],
        load={"mode": None, "concurrency": None, "rate": [20], "requests": 20},
    )
    assert cli("run", spec, exit_code=None).returncode in {0, 4}
    check_open_loop(cli.bundle(), 20.0, 20)


@pytest.mark.slow
def test_the_steady_window_of_a_sustained_load(cli: Cli) -> None:
    """Four in flight at 8 tokens in 100 + 7 x 20 ms: 4 x 8 / 0.24 s = 133 tok/s, or less on a busy
    machine; ramp and drain are not in it, failed requests count in nothing but the failures."""
    timing = Timing(100.0, 20.0, 8, fail_every=5)
    bundle = measure(cli, timing, {"mode": "sustained", "concurrency": 4, "requests": 40})
    for cell, step in zip(cells(bundle), steps(bundle), strict=True):
        sent = cell["requests"]
        failed = [one for one in sent if not one["ok"]]
        assert (len(sent), len(failed)) == (40, 8)
        assert {one["status"] for one in failed} == {500}
        assert "on purpose" in failed[0]["error"]
        window = step["window"]
        began = min(one["sent_ns"] for one in sent)
        assert window["end_s"] == pytest.approx((max(o["sent_ns"] for o in sent) - began) / 1e9)
        assert window["tokens"] == tokens_between(bundle, cell, window, began)
        rate = window["tokens"] / (window["end_s"] - window["start_s"])
        assert 0 < rate <= 4 * 8 / 0.24 * 1.02


def tokens_between(bundle: Path, cell: dict[str, Any], window: dict[str, Any], began: int) -> int:
    """Counted anew from the samples: stamps of answered requests inside the window."""
    import numpy as np

    stamps = (np.load(bundle / cell["samples_file"]) - began) / 1e9
    return sum(
        int(np.sum((own >= window["start_s"]) & (own <= window["end_s"])))
        for one in cell["requests"]
        if one["ok"]
        for own in [stamps[one["samples_start"] :][: one["samples_count"]]]
    )


@pytest.mark.slow
def test_a_request_that_is_not_answered_in_time_is_a_failed_one(cli: Cli) -> None:
    timing = Timing(20.0, 5.0, 4, fail_every=4, fail_silently=True)
    load = {"mode": "sustained", "concurrency": 2, "requests": 10, "timeout": "3 s"}
    bundle = measure(cli, timing, load)
    failed = [one for cell in cells(bundle) for one in cell["requests"] if not one["ok"]]
    assert len(failed) == 8  # of 32, with the warm-up and the short request of it
    assert all(one["error"].endswith("within 3 s") for one in failed)
    checks = json.loads((bundle / "verdicts.json").read_text())["checks"]
    assert any("10 sent = 7 ok + 3 failed" in (one["arithmetic"] or "") for one in checks)


@pytest.mark.engine
def test_a_conversation_reuses_what_was_said_before(cli: Cli) -> None:
    reused = {"metric": "cached_tokens", "relation": ">=", "value": 1}
    spec = cli.spec(
        hypotheses=[{**SLOWEST_MS[0], "test": reused}],
        workload={"turns": 3, "prompt": {"tokens": 30}},
        load={"mode": None, "concurrency": 1, "requests": 6},
    )
    assert cli("run", spec, exit_code=None).returncode in {0, 4}
    for cell, step in zip(cells(cli.bundle()), steps(cli.bundle()), strict=True):
        sent = cell["requests"]
        assert all(one["ok"] for one in sent)
        assert [one["turn"] for one in step["requests"]] == [1, 2, 3] * 2
        for first, second, third in (sent[:3], sent[3:]):
            assert first["cached_tokens"] < first["prompt_tokens"] / 2
            assert second["cached_tokens"] >= first["prompt_tokens"] - 1
            assert third["cached_tokens"] >= second["prompt_tokens"] - 1
            assert third["prompt_tokens"] > second["prompt_tokens"] > first["prompt_tokens"]


@pytest.mark.engine
@pytest.mark.parametrize("material", ["chinese-prose", "code"])
def test_prompts_of_any_material_have_the_length_asked_for(cli: Cli, material: str) -> None:
    spec = cli.spec(workload={"label": {"material": material}, "prompt": {"tokens": 100}})
    assert cli("run", spec, exit_code=None).returncode in {0, 4}
    for cell in cells(cli.bundle()):
        assert {one["prompt_tokens"] for one in cell["requests"]} == {100}


@pytest.mark.engine
@pytest.mark.parametrize("material", ["english-prose", "chinese-prose"])
def test_chat_messages_have_the_length_asked_for_with_their_template(
    cli: Cli, material: str
) -> None:
    spec = cli.spec(
        engine={"endpoint": "chat"},
        workload={"label": {"material": material}, "prompt": {"tokens": 64}},
    )
    assert cli("run", spec, exit_code=None).returncode in {0, 4}
    for cell in cells(cli.bundle()):
        assert {one["prompt_tokens"] for one in cell["requests"]} == {64}
    assert "Prompts of 64 tokens, no two alike; the server counted 64." in page(cli)


@pytest.mark.engine
def test_the_first_turn_of_a_chat_has_the_length_asked_for(cli: Cli) -> None:
    reused = {"metric": "cached_tokens", "relation": ">=", "value": 1}
    spec = cli.spec(
        hypotheses=[{**SLOWEST_MS[0], "test": reused}],
        engine={"endpoint": "chat"},
        workload={"turns": 2, "prompt": {"tokens": 64}},
        load={"mode": None, "concurrency": 1, "requests": 4},
    )
    assert cli("run", spec, exit_code=None).returncode in {0, 4}
    sent = cells(cli.bundle())[0]["requests"]
    first, second = sent[0::2], sent[1::2]
    assert {one["prompt_tokens"] for one in first} == {64}
    # The 64 before, an answer of 8, a text of 64 and what the template puts between these.
    assert {136 <= one["prompt_tokens"] <= 150 for one in second} == {True}


@pytest.mark.engine
def test_a_prompt_shorter_than_the_template_is_told_of(cli: Cli) -> None:
    spec = cli.spec(engine={"endpoint": "chat"})
    done = cli("run", spec, exit_code=None)
    assert "Prompts of 8 tokens cannot be made: the server itself adds" in done.stderr
    assert "Caveat: that is more than 5" in page(cli)


def page(cli: Cli) -> str:
    """The report."""
    return (cli.bundle() / "report.html").read_text()
