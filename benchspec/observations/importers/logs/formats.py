"""The logs that `benchspec import log` reads: one file of this folder for each. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchspec.observations.importers.logs import (
    llama_bench,
    llama_cpp_cli,
    llama_server,
    mlx_lm,
    ollama,
    serving_result,
    sglang,
    tabbyapi,
    vllm,
)
from benchspec.observations.importers.logs.found import Found

LINE_LIMIT = 2000
"""Characters of a line that are looked at."""

MOST_PARTS = 500
"""Steps, and series: a log of more holds several runs, or makes them up."""

MOST_VALUES = 40_000
"""Keys and values together, of the 50,000 that a spec may have."""

_LISTS = ("requests", "values", "times_s")


@dataclass(frozen=True)
class Format:
    """`name` of the log, `sign`: what a line of it looks like, `read`: lines to what is in them."""

    name: str
    sign: str
    read: Callable[[Sequence[str]], Found]


FORMATS = (
    Format("llama.cpp timings", "llama_perf_context_print: eval time = ...", llama_cpp_cli.read),
    Format("llama-server timings", "slot print_timing: id 0 | task 1 | ...", llama_server.read),
    Format("vLLM throughput", "Avg prompt throughput: ...", vllm.read),
    Format("SGLang batches", "Decode batch, #running-req: ...", sglang.read),
    Format("Ollama requests", "[GIN] ... | 200 | 5.1s | ..., eval rate: ...", ollama.read),
    Format("tabbyAPI metrics", "Metrics (ID: ...): 150 tokens generated in ...", tabbyapi.read),
    Format("serving benchmark", "= Serving Benchmark Result =", serving_result.read),
    Format("llama-bench table", "| ... | tg128 | 40.00 ± 0.10 |", llama_bench.read),
    Format("mlx_lm timings", "Generation: 100 tokens, 30.0 tokens-per-sec", mlx_lm.read),
)
"""A file may hold several of them: a server's log with the client's result at its end."""


def read_log(lines: Sequence[str], file_name: str) -> tuple[Found, list[str]]:
    """All that a file gives, each source led by the file's name; and the names of its formats.

    Lines come unwrapped and without colours. What is found fits into a spec.
    """
    whole, names = Found(), []
    name = "".join(c if c.isprintable() else "?" for c in file_name)
    kept = [line[:LINE_LIMIT] for line in lines]
    for form in FORMATS:
        found = form.read(kept)
        if not found:
            continue
        names.append(form.name)
        for one in (*found.steps, *found.series):
            one["source"] = f"{name}: {one['source']}"
        whole.steps += found.steps
        whole.series += found.series
        whole.arm |= found.arm
        for what in found.left_out:
            whole.leave_out(what)
    if names and (lost := sum(map(_is_lost, kept))):
        whole.leave_out(f"{lost} lines that journald did not keep (blob data)")
    _fit(whole)
    return whole, names


def _is_lost(line: str) -> bool:
    """Whether journald put this in the place of a line with control characters."""
    return line[:1] == "[" and line.rstrip().endswith("blob data]")


def _fit(found: Found) -> None:
    """Cut what is found to what a spec takes, and say so; the first of each kind stay."""
    parts = max(len(found.steps), len(found.series))
    if parts > MOST_PARTS:
        found.leave_out(f"steps and series after the first {MOST_PARTS} of each")
        del found.steps[MOST_PARTS:], found.series[MOST_PARTS:]
    every = [*found.steps, *found.series]
    longest = most = max((len(one.get(n, [])) for one in every for n in _LISTS), default=0)
    while most > 1 and sum(map(_values, every)) > MOST_VALUES:
        most //= 2
        for one in every:
            one |= {name: one[name][:most] for name in _LISTS if name in one}
    if most < longest:
        found.leave_out(f"requests and samples after the first {most} of each")


def _values(part: object) -> int:
    """Keys and values of a part of a spec; a long text counts as several, as a spec's bytes do."""
    if isinstance(part, str):
        return 1 + len(part) // 20
    if isinstance(part, dict):
        return 1 + len(part) + sum(map(_values, part.values()))
    return 1 + sum(map(_values, part)) if isinstance(part, list) else 1
