"""Figures that cannot be, through `benchspec audit`: a named state, never a crash or a reading."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchspec.cli.audit import command

HEAD = """benchspec: 1
study: {title: bad input}
engine: {kind: openai, slots: 4}
workload: {output: {tokens: 64, forced: true}}
observations:
"""

REFUSED = {
    "no number": "  steps: [{concurrency: 4, wall_s: .nan}]",
    "infinite": "  steps: [{concurrency: 4, wall_s: .inf}]",
    "a rate in seconds": "  steps: [{concurrency: 4, aggregate_tok_s: 5 s}]",
    "a time in tokens per second": "  steps: [{concurrency: 4, wall_s: 31 tok/s}]",
    "a share in bytes": "  steps: [{concurrency: 1, acceptance: 3 GB}]",
    "no requests in flight": "  steps: [{concurrency: 0, wall_s: 3}]",
    "an interval that ends before it begins": "  steps: [{concurrency: 4, wall_s: 9..2}]",
}
"""Refused by the linter, with the place."""

SILENT: dict[str, tuple[str, str, str]] = {
    "negative time": (
        "  steps: [{concurrency: 4, wall_s: -3, tokens_total: 9}]",
        "aggregate",
        "invalid",
    ),
    "negative completion": (
        "  steps: [{concurrency: 2, completions_s: [-1, 5]}]",
        "completion-shape",
        "invalid",
    ),
    "zero time": (
        "  steps: [{concurrency: 4, wall_s: 0, tokens_total: 9}]",
        "aggregate",
        "invalid",
    ),
    "completion before dispatch": (
        "  steps: [{concurrency: 2, requests: [{start_s: 5, end_s: 1, tokens: 64},"
        " {start_s: 0, end_s: 9, tokens: 64}]}]",
        "completion-shape",
        "invalid",
    ),
    "first token after the end": (
        "  steps: [{concurrency: 1, requests: [{start_s: 0, first_token_s: 9, end_s: 3, tokens: 64}]}]",
        "aggregate",
        "invalid",
    ),
    "first token later than the latency": (
        "  steps: [{concurrency: 1, ttft_ms: 9 s, latency_s: 3}]",
        "latency-share",
        "invalid",
    ),
    "identical times": (
        "  steps: [{concurrency: 2, requests: [{start_s: 1, end_s: 1, tokens: 64},"
        " {start_s: 1, end_s: 1, tokens: 64}]}]",
        "completion-shape",
        "invalid",
    ),
    "one step": ("  steps: [{concurrency: 8, wall_s: 31.3}]", "queueing", "insufficient"),
    "one step of one request": (
        "  steps: [{concurrency: 1, wall_s: 8.4}]",
        "completion-shape",
        "not-applicable",
    ),
    "completions of unknown length": (
        "  steps: [{concurrency: 2, completions_s: [5, 11], output_forced: false}]",
        "completion-shape",
        "insufficient",
    ),
    "nothing answered": (
        "  steps: [{concurrency: 2, requests: [{ok: false}, {ok: false}]}]",
        "aggregate",
        "invalid",
    ),
    "parts above the whole": (
        "  budgets: [{name: x, total_ms: 10, parts: {a: 9, b: 8}}]",
        "time-budget",
        "invalid",
    ),
    "a whole of nothing": (
        "  budgets: [{name: x, total_ms: 0, parts: {a: 0}}]",
        "time-budget",
        "insufficient",
    ),
    "sends that took no time": (
        "  sends: [{arm: main, ttft_ms: [0, 0]}]",
        "prefix-cache",
        "insufficient",
    ),
    "hits above all": ("  caching: [{hit_rate: 120 %, gain: 2}]", "cache-gain", "invalid"),
    "a gain of nothing": ("  caching: [{hit_rate: 0.5, gain: 0}]", "cache-gain", "invalid"),
    "a limit of zero": ("  limits: [{name: x, limit: 0, used: 3}]", "treatment", "invalid"),
    "a device that does nothing": (
        "  scaled: [{name: x, n: 2, single: 0, measured: 5}]",
        "split-cost",
        "invalid",
    ),
}
"""Judged, and the check that the figures are for says why it cannot say anything."""


def audit(folder: Path, observations: str) -> dict[str, Any]:
    path = folder / "spec.yaml"
    path.write_text(HEAD + observations + "\n", encoding="utf-8")
    done = CliRunner().invoke(command, [str(path), "--json"])
    assert done.exit_code in (0, 1), (done.output, done.exception)
    found: dict[str, Any] = json.loads(done.stdout)["files"][0]
    return found


@pytest.mark.parametrize("name", REFUSED)
def test_a_figure_of_no_meaning_is_refused_with_its_place(name: str, tmp_path: Path) -> None:
    found = audit(tmp_path, REFUSED[name])
    forms = [f for f in found["findings"] if f["code"].startswith("BS0")]
    assert forms, found["findings"]
    assert all(f["line"] == 6 and f["help"] for f in forms)
    judged = found["verdicts"]["checks"] if found["verdicts"] else []
    assert not [r for r in judged if r["state"] == "judged" and r["value"] is not None]


@pytest.mark.parametrize("name", SILENT)
def test_figures_that_cannot_be_give_a_named_state(name: str, tmp_path: Path) -> None:
    observations, check, state = SILENT[name]
    found = audit(tmp_path, observations)
    assert found["verdicts"] is not None, found["findings"]
    results = [r for r in found["verdicts"]["checks"] if r["check"] == check]
    assert {r["state"] for r in results} == {state}, results
    assert all(r["reason"] and r["reading"] is None and r["value"] is None for r in results)


def test_no_steps_at_all_are_an_answer_too(tmp_path: Path) -> None:
    found = audit(tmp_path, "  steps: []")
    assert [r for r in found["verdicts"]["checks"] if r["state"] == "judged"] == []


def test_figures_that_contradict_each_other_are_violated(tmp_path: Path) -> None:
    """49.1 tok/s for 15.6 s are 192 tokens an answer at four, and 96 at eight: one is wrong."""
    steps = (
        "  steps:\n  - {concurrency: 2, wall_s: 10.2, aggregate_tok_s: 37.5, output_forced: true}\n"
        "  - {concurrency: 4, wall_s: 15.6, aggregate_tok_s: 49.1, output_forced: true}\n"
        "  - {concurrency: 8, wall_s: 15.6, aggregate_tok_s: 49.1, output_forced: true}"
    )
    found = audit(tmp_path, steps)
    readings = {
        r["at"]["concurrency"]: r["reading"]
        for r in found["verdicts"]["checks"]
        if r["check"] == "conservation"
    }
    assert readings == {2: "holds", 4: "holds", 8: "violated"}


def test_tokens_over_time_against_the_stated_rate(tmp_path: Path) -> None:
    found = audit(
        tmp_path,
        "  steps: [{concurrency: 4, wall_s: 10, tokens_total: 256, aggregate_tok_s: 350,"
        " planned_requests: 4}]",
    )
    result = next(r for r in found["verdicts"]["checks"] if r["check"] == "conservation")
    assert result["reading"] == "violated"
    assert "tokens / time = 25.6 tok/s, not 350 as stated" in result["arithmetic"]
