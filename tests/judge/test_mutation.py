"""Every value moves as its formula says: each input of a small study, in turn, times 1.1.

The formula stands here a second time, in plain arithmetic; a check that left an input out, or used
another in its place, would not follow.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchspec.judge import checks
from benchspec.judge.judge import judge
from benchspec.judge.result import CheckResult
from benchspec.observations.from_spec import observations_of
from benchspec.spec.models import Spec

FACTOR = 1.1
NUMBER = re.compile(r"^[-+\d.e]+")

COUNTS = {
    "effective-settings": "slots of a server, compared and not divided",
    "identity": "a number of axes",
    "completion-shape": "a number of slots; its divisions are compared with thresholds",
    "gate": "a hypothesis' own value",
    "goodput": "a count of requests, which a tenth more of is no request",
    "parity": "an exact test of counts",
    "what-if": "made of other checks' values",
    "output-agreement": "the shortest of counted prefixes",
}
"""Checks whose value is no quotient of measured numbers, and why."""


@dataclass(frozen=True)
class Study:
    """A study in YAML, where each input of one check's division stands in it, and the division."""

    check: str
    text: str
    inputs: dict[str, str]
    formula: Callable[..., float]
    at: dict[str, Any] = field(default_factory=dict)

    @property
    def raw(self) -> dict[str, Any]:
        base: dict[str, Any] = {"benchspec": 1, "study": {"title": "x"}}
        return {**base, **yaml.safe_load(self.text)}


def _steps(path: str) -> list[str]:
    return path.split(".")


def _holder(raw: Any, path: str) -> tuple[Any, str | int]:
    *way, last = [int(p) if p.isdigit() else p for p in _steps(path)]
    for part in way:
        raw = raw[part]
    return raw, last


def number(raw: dict[str, Any], path: str) -> float:
    """The number at `path`, without its unit."""
    holder, last = _holder(raw, path)
    found = NUMBER.match(str(holder[last]))
    assert found
    return float(found.group())


def mutated(raw: dict[str, Any], path: str) -> dict[str, Any]:
    """A copy in which the number at `path` is 1.1 times as large; its unit stays."""
    changed = copy.deepcopy(raw)
    holder, last = _holder(changed, path)
    value: float | int = number(raw, path) * FACTOR
    unit = NUMBER.sub("", str(holder[last]))
    if isinstance(holder[last], int) and abs(value - round(value)) < 1e-9:
        value = round(value)  # a count stays one
    holder[last] = f"{value!r}{unit}" if unit else value
    return changed


def value_of(study: Study, raw: dict[str, Any]) -> float:
    spec = Spec.model_validate(raw)
    found = judge(spec, observations_of(spec), spec_sha256="0" * 64).checks
    here = [r for r in found if r.check == study.check and _at(r, study.at)]
    judged = [r for r in here if r.state == "judged"]
    assert len(judged) == 1, [(r.key, r.state, r.reason) for r in here]
    assert isinstance(judged[0].value, int | float), judged[0]
    return float(judged[0].value)


def _at(result: CheckResult, wanted: dict[str, Any]) -> bool:
    return wanted.items() <= {**result.at, "arm": result.arm}.items()


ENGINE = "engine: {kind: openai, slots: 4}\n"
TWO_ARMS = "engine: {kind: openai}\narms: [{id: a}, {id: b, control_for: a}]\n"
STEP = "observations.steps.0."

STUDIES = [
    Study(
        "aggregate",
        ENGINE + "observations: {steps: [{concurrency: 4, wall_s: 15.6, tokens_total: 768}]}",
        {"took": STEP + "wall_s", "n": STEP + "tokens_total"},
        lambda took, n: n / took,
    ),
    Study(
        "conservation",
        ENGINE + "observations: {steps: [{concurrency: 4, wall_s: 15.6, aggregate_tok_s: 49.14}]}",
        {"took": STEP + "wall_s", "rate": STEP + "aggregate_tok_s"},
        lambda took, rate: rate * took / 4,
    ),
    Study(
        "queueing",
        ENGINE
        + "observations: {steps: [{concurrency: 4, wall_s: 15.6}, {concurrency: 8, wall_s: 31.3}]}",
        {"full": STEP + "wall_s", "took": "observations.steps.1.wall_s"},
        lambda full, took: took / (2 * full),
        {"concurrency": 8},
    ),
    Study(
        "scaling",
        ENGINE + "observations:\n"
        "  steps: [{concurrency: 1, aggregate_tok_s: 20}, {concurrency: 4, aggregate_tok_s: 50}]",
        {"one": STEP + "aggregate_tok_s", "four": "observations.steps.1.aggregate_tok_s"},
        lambda one, four: four / one,
        {"concurrency": 4},
    ),
    Study(
        "slots-moved",
        "engine: {kind: openai}\narms: [{id: few, engine: {slots: 4}}, {id: many, engine: {slots: 8}}]\n"
        "observations: {steps: [{arm: few, concurrency: 8, aggregate_tok_s: 50},"
        " {arm: many, concurrency: 8, aggregate_tok_s: 90}]}",
        {"few": STEP + "aggregate_tok_s", "many": "observations.steps.1.aggregate_tok_s"},
        lambda few, many: many / few,
    ),
    Study(
        "latency-share",
        ENGINE + "observations:\n  steps:\n"
        "  - {concurrency: 30, mode: sustained, ttft_ms: 18854, tpot_ms: 875, tokens_per_request: 6}",
        {"first": STEP + "ttft_ms", "each": STEP + "tpot_ms", "n": STEP + "tokens_per_request"},
        lambda first, each, n: first / (first + (n - 1) * each),
    ),
    Study(
        "prefill-interference",
        ENGINE + "observations:\n  steps:\n"
        "  - {concurrency: 2, interference: {alone_ms: 20, beside_ms: 600, prefill_ms: 900}}",
        {"alone": STEP + "interference.alone_ms", "beside": STEP + "interference.beside_ms"},
        lambda alone, beside: beside / alone,
    ),
    Study(
        "admission",
        "engine: {kind: openai, slots: 64}\n"
        "observations: {steps: [{concurrency: 64, running_max: 9, waiting_max: 55}]}",
        {"running": STEP + "running_max"},
        lambda running: running,
    ),
    Study(
        "token-count",
        ENGINE + "observations: {steps: [{concurrency: 1, stream_tok_s: 60, server_tok_s: 27.7}]}",
        {"ours": STEP + "stream_tok_s", "theirs": STEP + "server_tok_s"},
        lambda ours, theirs: ours / theirs,
    ),
    Study(
        "identities",
        "observations: {figures: [{name: x, tok_s: 24.39, ms_per_token: 39.2}]}",
        {"rate": "observations.figures.0.tok_s", "ms": "observations.figures.0.ms_per_token"},
        lambda rate, ms: rate * ms / 1000,
    ),
    Study(
        "client",
        ENGINE + "observations: {steps: [{concurrency: 4, mode: open, ttft_ms: 100, wall_s: 10,"
        " client: {send_lateness_ms_p99: 20, read_lag_ms_p99: 40}}]}",
        {
            "late": STEP + "client.send_lateness_ms_p99",
            "lag": STEP + "client.read_lag_ms_p99",
            "took": STEP + "wall_s",
        },
        lambda late, lag, took: (late + lag) / (took * 1000),
    ),
    Study(
        "baseline",
        ENGINE + "observations: {steps: [{concurrency: 4, quiet: {foreign_share: 0.1}}]}",
        {"share": STEP + "quiet.foreign_share"},
        lambda share: share,
    ),
    Study(
        "turn-taking",
        "hardware: {devices: [{id: g0}, {id: g1}]}\nengine: {kind: llama.cpp}\nobservations:\n"
        '  series: [{counter: utilization, unit: "%", device: g0, mean: 50, counts: [20]},'
        ' {counter: utilization, unit: "%", device: g1, mean: 40, counts: [20]}]',
        {"a": "observations.series.0.mean", "b": "observations.series.1.mean"},
        lambda a, b: a + b,
    ),
    Study(
        "burst",
        "hardware: {devices: [{id: g0}]}\nobservations:\n"
        "  series: [{counter: pcie_rx, unit: MB/s, device: g0, values: [10, 12, 11, 111, 9]}]",
        {f"v{i}": f"observations.series.0.values.{i}" for i in range(5)},
        lambda **v: max(v.values()) / (sum(v.values()) / len(v)),
    ),
    Study(
        "sampling",
        "hardware: {devices: [{id: g0}, {id: g1}]}\nengine: {kind: llama.cpp}\nobservations:\n"
        "  steps: [{concurrency: 1, decode_tok_s: 25}]\n"
        '  series: [{counter: utilization, unit: "%", device: g0, interval_s: 1, mean: 50, counts: [20]},'
        ' {counter: utilization, unit: "%", device: g1, interval_s: 1, mean: 50, counts: [20]}]',
        {"rate": STEP + "decode_tok_s"},
        lambda rate: 1000 / rate / (2 * 2),
        {"question": "shape"},
    ),
    Study(
        "bandwidth-ceiling",
        "hardware: {devices: [{id: g0, memory_bandwidth: 1000 GB/s}]}\n"
        "model: {bytes_per_token: 10 GB, kv_size: 2 GB}\nengine: {kind: openai, slots: 1}\n"
        "observations: {steps: [{concurrency: 1, context_tokens: 1000, decode_tok_s: 30}]}",
        {
            "speed": "hardware.devices.0.memory_bandwidth",
            "weights": "model.bytes_per_token",
            "kv": "model.kv_size",
            "rate": STEP + "decode_tok_s",
        },
        lambda speed, weights, kv, rate: rate * (weights + kv) / speed,
    ),
    Study(
        "compute-ceiling",
        "hardware: {devices: [{id: g0, compute: 100 TFLOP/s}]}\n"
        "model: {parameters: {total: 27.0e+9, active: 27.0e+9}}\nworkload: {prompt: {tokens: 1000}}\n"
        "engine: {kind: openai}\nobservations: {steps: [{concurrency: 1, prefill_tok_s: 700}]}",
        {
            "peak": "hardware.devices.0.compute",
            "p": "model.parameters.active",
            "rate": STEP + "prefill_tok_s",
        },
        lambda peak, p, rate: 2 * p * rate / (peak * 1e12),
    ),
    Study(
        "context-slope",
        ENGINE + "observations: {steps: [{concurrency: 1, context_tokens: 1000, round_ms: 30},"
        " {concurrency: 1, context_tokens: 9000, round_ms: 46}]}",
        {"short": STEP + "round_ms", "long": "observations.steps.1.round_ms"},
        lambda short, long: (long - short) / 8,
    ),
    Study(
        "memory-share",
        ENGINE + "observations: {arms: {main: {weights_bytes: 2 GiB, kv_bytes: 16 GiB}}}",
        {
            "weights": "observations.arms.main.weights_bytes",
            "kv": "observations.arms.main.kv_bytes",
        },
        lambda weights, kv: kv / weights,
    ),
    Study(
        "placement",
        TWO_ARMS + "observations: {steps: [{arm: a, concurrency: 1, prefill_tok_s: 197},"
        " {arm: b, concurrency: 1, prefill_tok_s: 1511}]}",
        {"ours": STEP + "prefill_tok_s", "theirs": "observations.steps.1.prefill_tok_s"},
        lambda ours, theirs: theirs / ours,
    ),
    Study(
        "link-probe",
        "observations: {link_probes: [{name: x, bytes: 4 KiB, direct_s: 49 ms, host_s: 16 us}]}",
        {
            "direct": "observations.link_probes.0.direct_s",
            "host": "observations.link_probes.0.host_s",
        },
        lambda direct, host: direct * 1000 / host,
    ),
    Study(
        "link-share",
        "hardware: {devices: [{id: g0}, {id: g1}], links: [{between: [g0, g1], measured: 2 GB/s}]}\n"
        "engine: {kind: openai, slots: 1}\nobservations:\n"
        "  steps: [{concurrency: 1, round_ms: 40}]\n"
        "  transfers: [{bytes_per_token: 64000, crossings: 3, latency_s: 0.0001}]",
        {
            "size": "observations.transfers.0.bytes_per_token",
            "latency": "observations.transfers.0.latency_s",
            "link": "hardware.links.0.measured",
            "ms": STEP + "round_ms",
        },
        lambda size, latency, link, ms: (size / (link * 1e9) + latency) * 3 / (ms / 1000),
    ),
    Study(
        "link-load",
        "hardware: {devices: [{id: g0}, {id: g1}], links: [{between: [g0, g1], bandwidth: 16 GB/s}]}\n"
        "observations: {series: [{counter: pcie_rx, unit: MB/s, device: g0, mean: 1000, counts: [20]}]}",
        {"mean": "observations.series.0.mean", "link": "hardware.links.0.bandwidth"},
        lambda mean, link: mean / (link * 1000),
    ),
    Study(
        "split-cost",
        ENGINE + "observations: {scaled: [{name: x, n: 2, single: 29, measured: 17}]}",
        {"one": "observations.scaled.0.single", "two": "observations.scaled.0.measured"},
        lambda one, two: 1000 / two - 1000 / one / 2,
    ),
    Study(
        "parallel-efficiency",
        ENGINE + "observations: {scaled: [{name: x, n: 2, single: 29, measured: 17}]}",
        {"one": "observations.scaled.0.single", "two": "observations.scaled.0.measured"},
        lambda one, two: two / (2 * one),
    ),
    Study(
        "expected-traffic",
        "hardware: {devices: [{id: g0}, {id: g1}]}\nmodel: {layers: 64, hidden_size: 5120}\n"
        "engine: {kind: llama.cpp, flags: {split-mode: tensor}}\nobservations:\n"
        "  steps: [{concurrency: 1, prefill_tok_s: 845}]\n"
        "  series: [{counter: pcie_rx, unit: MB/s, device: g0, phase: prefill, mean: 1000},"
        " {counter: pcie_rx, unit: MB/s, device: g1, phase: prefill, mean: 1100}]",
        {
            "a": "observations.series.0.mean",
            "b": "observations.series.1.mean",
            "rate": STEP + "prefill_tok_s",
        },
        lambda a, b, rate: (a + b) / 2 / (2 * 64 * 5120 * 2 * rate / 1e6),
    ),
    Study(
        "traffic-symmetry",
        "hardware: {devices: [{id: g0}, {id: g1}]}\nengine: {kind: openai}\nobservations:\n"
        "  series: [{counter: pcie_tx, unit: MB/s, device: g0, mean: 5},"
        " {counter: pcie_tx, unit: MB/s, device: g1, mean: 34}]",
        {"a": "observations.series.0.mean", "b": "observations.series.1.mean"},
        lambda a, b: b / a,
    ),
    Study(
        "control",
        TWO_ARMS + "observations: {steps: [{arm: a, concurrency: 1, decode_tok_s: 37.7},"
        " {arm: b, concurrency: 1, decode_tok_s: 25.6}]}",
        {"a": STEP + "decode_tok_s", "b": "observations.steps.1.decode_tok_s"},
        lambda a, b: a - b,
        {"metric": "decode_tok_s", "of": "difference"},
    ),
    Study(
        "break-even",
        TWO_ARMS
        + "observations: {steps: [{arm: a, concurrency: 1, decode_tok_s: 37.7, prefill_tok_s: 844.9},"
        " {arm: b, concurrency: 1, decode_tok_s: 25.6, prefill_tok_s: 944.8}]}",
        {
            "da": STEP + "decode_tok_s",
            "db": "observations.steps.1.decode_tok_s",
            "pb": "observations.steps.1.prefill_tok_s",
        },
        lambda da, db, pb: (1 / db - 1 / da) / (1 / 844.9 - 1 / pb),
    ),
    Study(
        "rate-per-price",
        "hardware: {devices: [{id: a, price: {value: 3000, currency: CNY}},"
        " {id: b, price: {value: 2500, currency: CNY}}]}\nengine: {kind: openai}\n"
        "observations: {steps: [{concurrency: 1, decode_tok_s: 94.7, prefill_tok_s: 667}]}",
        {
            "rate": STEP + "prefill_tok_s",
            "one": "hardware.devices.0.price.value",
            "two": "hardware.devices.1.price.value",
        },
        lambda rate, one, two: rate / (one + two) * 1000,
        {"phase": "prefill"},
    ),
    Study(
        "decomposition",
        "observations: {factors: [{name: x, observed: 2.36, factors: [{name: f, over: 2.8, under: 1.849},"
        " {name: g, ratio: 1.56}]}]}",
        {
            "seen": "observations.factors.0.observed",
            "over": "observations.factors.0.factors.0.over",
            "under": "observations.factors.0.factors.0.under",
            "ratio": "observations.factors.0.factors.1.ratio",
        },
        lambda seen, over, under, ratio: over / under * ratio / seen,
    ),
    Study(
        "time-budget",
        "observations: {budgets: [{name: x, total_ms: 33, parts: {a: 10.5, b: 13.2}}]}",
        {
            "total": "observations.budgets.0.total_ms",
            "a": "observations.budgets.0.parts.a",
            "b": "observations.budgets.0.parts.b",
        },
        lambda total, a, b: (a + b) / total,
    ),
    Study(
        "ablation",
        "observations: {ablations: [{name: x, full_ms: 2.79, without: {a: 2.14, b: 1.96}}]}",
        {
            "full": "observations.ablations.0.full_ms",
            "a": "observations.ablations.0.without.a",
            "b": "observations.ablations.0.without.b",
        },
        lambda full, a, b: a + b - full,
    ),
    Study(
        "speculation",
        TWO_ARMS
        + "observations: {steps: [{arm: a, concurrency: 1, round_ms: 33, acceptance: 0.76, drafts: 3},"
        " {arm: b, concurrency: 1, round_ms: 24}]}",
        {
            "t": STEP + "round_ms",
            "a": STEP + "acceptance",
            "plain": "observations.steps.1.round_ms",
        },
        lambda t, a, plain: (1 + 3 * a) * plain / t,
    ),
    Study(
        "prefix-cache",
        ENGINE + "observations: {sends: [{arm: main, ttft_ms: [6800, 700, 680]}]}",
        {f"t{i}": f"observations.sends.0.ttft_ms.{i}" for i in range(3)},
        lambda t0, t1, t2: (t1 + t2) / 2 / t0,
    ),
    Study(
        "cache-gain",
        ENGINE + "observations: {caching: [{hit_rate: 0.8, gain: 1.1}]}",
        {"h": "observations.caching.0.hit_rate", "g": "observations.caching.0.gain"},
        lambda h, g: (1 - 1 / g) / h,
    ),
    Study(
        "thermal",
        "hardware: {devices: [{id: g0, name: x}, {id: g1, name: x}]}\nobservations:\n"
        "  series: [{counter: clocks_sm, unit: MHz, device: g0, mean: 1000},"
        " {counter: clocks_sm, unit: MHz, device: g1, mean: 1400}]",
        {"slow": "observations.series.0.mean", "fast": "observations.series.1.mean"},
        lambda slow, fast: slow / fast,
        {"device": "g0"},
    ),
    Study(
        "treatment",
        ENGINE + "observations: {limits: [{name: x, limit: 500, used: 246}]}",
        {"limit": "observations.limits.0.limit", "used": "observations.limits.0.used"},
        lambda limit, used: used / limit,
    ),
    Study(
        "output-sanity",
        ENGINE + "observations: {outputs: [{arm: main, count: 100, degenerate: 50}]}",
        {"bad": "observations.outputs.0.degenerate"},
        lambda bad: bad / 100,
    ),
    Study(
        "repeats",
        ENGINE + "observations: {steps: [{concurrency: 4, repeat: 1, aggregate_tok_s: 40},"
        " {concurrency: 4, repeat: 2, aggregate_tok_s: 50},"
        " {concurrency: 4, repeat: 3, aggregate_tok_s: 60}]}",
        {f"x{i}": f"observations.steps.{i}.aggregate_tok_s" for i in range(3)},
        lambda x0, x1, x2: (max(x0, x1, x2) - min(x0, x1, x2)) / sorted((x0, x1, x2))[1],
    ),
]
EACH = [
    pytest.param(study, name, id=f"{study.check}-{name}")
    for study in STUDIES
    for name in study.inputs
]


def test_every_check_with_a_quotient_is_here() -> None:
    assert {s.check for s in STUDIES} | set(COUNTS) == set(checks.BY_NAME)


@pytest.mark.parametrize("study", STUDIES, ids=lambda s: s.check)
def test_the_value_is_what_the_formula_gives(study: Study) -> None:
    given = {name: number(study.raw, path) for name, path in study.inputs.items()}
    assert value_of(study, study.raw) == pytest.approx(study.formula(**given))


@pytest.mark.parametrize(("study", "name"), EACH)
def test_a_moved_input_moves_the_value_as_the_formula_says(study: Study, name: str) -> None:
    raw = mutated(study.raw, study.inputs[name])
    given = {key: number(raw, path) for key, path in study.inputs.items()}
    assert value_of(study, raw) == pytest.approx(study.formula(**given))


def test_no_check_names_a_case_or_a_study() -> None:
    """Names of studies, reports, projects, models and cards have no place in a check's code."""
    code = {p.name: _code(p) for p in Path(checks.__file__).parent.glob("*.py")}
    names = {p.stem for p in Path("specs/casebook").glob("*.yaml")}
    names |= {p.stem for p in Path("tests/cases").glob("*.yaml")} - {"expected"}
    words = names | {
        "qwen",
        "llama-3",
        "deepseek",
        "gemma",
        "mistral",
        "rtx",
        "a100",
        "h100",
        "v100",
    }
    assert names
    for file, text in code.items():
        assert not [word for word in words if word in text.lower()], file


def _code(path: Path) -> str:
    """A file without its manual page, which may tell where a rule comes from."""
    return path.read_text("utf-8").split('"""', 2)[2]
