"""Hostile input: whatever the bytes are, findings or one sentence, quickly and in little memory."""

from __future__ import annotations

import copy
import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchspec.errors import SpecUnreadable
from benchspec.lint.finding import Finding
from benchspec.lint.fixer import fixed
from benchspec.lint.linter import lint
from benchspec.lint.output import github, sarif, text
from benchspec.lint.output import json as json_output
from benchspec.spec.source import parse
from tests.lint.specs import HERE

MAX_CPU_S = 2.0
MAX_MB = 200
SEEDS = [
    path.read_text("utf-8")
    for path in sorted([*(HERE / "good").glob("*.yaml"), *(HERE / "studies").glob("*.yaml")])
]
WORDS = [
    "null", "{}", "[]", "-1", "0", "1e309", ".nan", "*a", "&a x", "!!python/object:os.system x",
    "? y", "<<: *a", "'", '"', "\t", "{{", "true", "off", "0x7fffffffffffffff",
    "999999999999999999999", "🦙", "\u202e", "parallel", "llama-server -np", "$(id)",
    "a: {b: {c: {d: {e: {}}}}}", "1 GB/s..2", "1..2..3 GiB", "-c 32k", "%", "::", "\\",
]  # fmt: skip


def outcome(data: bytes, name: str = "spec.yaml") -> tuple[Finding, ...]:
    """The findings in every format and after every fix; SpecUnreadable is an answer, too."""
    try:
        document = parse(data, name)
    except SpecUnreadable as error:
        assert error.message
        return ()
    result = lint(document, audit=len(data) % 2 == 0)
    for finding in result.findings:
        assert 1 <= finding.line <= len(document.lines) + 1
        assert finding.column >= 1 and finding.message and finding.help
    text.render(result)
    github.render([result])
    sarif.as_data([result])
    json_output.as_data([result])
    return result.findings


def mutated(rng: random.Random) -> str:
    """A good spec with a few lines or words deleted, doubled, swapped or replaced."""
    lines = rng.choice(SEEDS).split("\n")
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(lines))
        kind = rng.randrange(6)
        if kind == 0:
            del lines[at]
        elif kind == 1:
            lines.insert(at, lines[rng.randrange(len(lines))])
        elif kind == 2:
            key = lines[at].partition(":")[0]
            lines[at] = f"{key}: {rng.choice(WORDS)}"
        elif kind == 3:
            cut = rng.randint(0, len(lines[at]))
            lines[at] = lines[at][:cut] + rng.choice(WORDS) + lines[at][cut:]
        elif kind == 4:
            cut = rng.randint(0, len(lines[at]))
            lines[at] = lines[at][:cut]
        else:
            words = lines[at].split(" ")
            words[rng.randrange(len(words))] = rng.choice(WORDS)
            lines[at] = " ".join(words)
        lines = lines or [""]
    return "\n".join(lines)


def reshaped(rng: random.Random) -> str:
    """A good spec with some values exchanged, removed, or taken from another good spec."""
    data, other = (yaml.safe_load(rng.choice(SEEDS)) for _ in range(2))
    for _ in range(rng.randint(1, 5)):
        holder, key = rng.choice(list(_places(data)))
        kind = rng.randrange(4)
        if kind == 0:
            del holder[key]
        elif kind == 1:
            holder[key] = copy.deepcopy(rng.choice([h[k] for h, k in _places(other)]))
        elif kind == 2:
            holder[key] = rng.choice(
                [0, 1, 2, 64, 8192, -1, 1e9, True, None, "off", "auto", "", []]
            )
        else:
            same = [h[k] for h, k in _places(other) if k == key]
            holder[key] = copy.deepcopy(rng.choice(same)) if same else rng.choice(WORDS)
        data = data or {"benchspec": 1}
    return yaml.safe_dump(data, allow_unicode=True, sort_keys=False)


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Every (map or list, key or index) of nested data."""
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield data, key
            yield from _places(value)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=400))
def test_any_bytes(data: bytes) -> None:
    outcome(data)


_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(WORDS),
)
_TREES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4)
    ),
    max_leaves=20,
)
_KEYS = (
    "study", "hypotheses", "hardware", "model", "engine", "arms", "workload", "load", "repeats",
    "seeds", "order", "warmup", "telemetry", "observations", "unfinished", "waivers",
)  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(_KEYS), _TREES, st.sampled_from(SEEDS))
def test_any_value_of_any_key(key: str, value: object, seed: str) -> None:
    kept = [line for line in seed.split("\n") if not line.startswith(f"{key}:")]
    data = "\n".join(kept) + f"\n{key}: {json.dumps(value, default=str)}\n"
    outcome(data.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("mutate", [mutated, reshaped])
@pytest.mark.parametrize("seed", range(100))
def test_a_mutated_spec(seed: int, mutate: Callable[[random.Random], str]) -> None:
    outcome(mutate(random.Random(seed)).encode())


@pytest.mark.parametrize("seed", range(40))
def test_a_mutated_spec_can_be_fixed_or_left(seed: int) -> None:
    try:
        document = parse(reshaped(random.Random(1_000_000 + seed)).encode(), "spec.yaml")
    except SpecUnreadable:
        return
    before = {f.code for f in lint(document).findings if f.severity == "error"}
    result = fixed(document)
    assert result.spec is not None or result.document is document
    assert len(result.errors) <= len(lint(document).errors) + len(before)


HOSTILE = {
    "many arms": "arms:\n"
    + "".join(
        f"  - {{id: a{i}, engine: {{flags: {{thr{i}: {i}, batch-size: {i}}}}}}}\n"
        for i in range(200)
    ),
    "one map of unknown flags in many arms": "x: &f {"
    + ", ".join(f"thr{j}: {j}" for j in range(190))
    + "}\narms:\n"
    + "".join(f"  - {{id: a{i}, engine: {{flags: *f}}}}\n" for i in range(200)),
    "a long command of unknown flags": "engine: {kind: llama.cpp, command: llama-server "
    + " ".join(f"--flg{i} {i}" for i in range(5000))
    + "}\n",
    "a claim of half a megabyte": "hypotheses: [{id: H1, claim: '"
    + "link satur" * 50_000
    + "'}]\n",
    "a circle of two hundred": "hypotheses:\n"
    + "".join(f"  - {{id: H{i}, claim: x, rests_on: [H{(i + 1) % 200}]}}\n" for i in range(200)),
    "aliases of aliases": "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 9)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_multiplies_stays_cheap(name: str) -> None:
    base = "benchspec: 1\nstudy: {title: t}\nengine: {kind: llama.cpp, flags: {fit: off}}\n"
    if "engine:" in HOSTILE[name].split("\n")[0]:
        base = "benchspec: 1\nstudy: {title: t}\n"
    started = time.process_time()
    outcome((base + HOSTILE[name]).encode())
    assert time.process_time() - started < MAX_CPU_S


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(10))
def test_ten_thousand_inputs(batch: int) -> None:
    before = _memory_mb("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the largest size begins anew
    for seed in range(1000):
        mutate = mutated if seed % 3 == 0 else reshaped
        data = mutate(random.Random(batch * 1000 + seed + 10_000)).encode()
        started = time.process_time()
        outcome(data)
        assert time.process_time() - started < MAX_CPU_S, seed
    assert _memory_mb("VmHWM") - before < MAX_MB


def _memory_mb(name: str) -> float:
    """Of this process, which may have run other tests before: VmRSS now, VmHWM at most."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{name}:")[2].split()[0]) / 1024
