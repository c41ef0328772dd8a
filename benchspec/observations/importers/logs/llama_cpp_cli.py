"""The timings that llama.cpp's command-line tools print at their end, in two generations. Pure.

`llama_print_timings:` until 2024, then `llama_perf_context_print:` and `llama_perf_sampler_print:`,
lately `common_perf_print:`. One block is one run of the tool. Its `runs` of eval are decode passes,
one fewer than the tokens that came out, and so no count of tokens.
"""

from __future__ import annotations

from collections.abc import Iterable

from benchspec.observations.importers.logs.found import Found, between, present, step
from benchspec.observations.importers.logs.llama_cpp_timing import Timing, timing

MARKS = ("llama_print_timings:", "llama_perf_", "common_perf_print:")


def read(lines: Iterable[str]) -> Found:
    """One step with a request per run."""
    found = Found()
    runs: list[dict[str, Timing]] = []
    for line in lines:
        one = timing(line) if any(mark in line for mark in MARKS) else None
        if one is None:
            continue
        if not runs or one.kind in runs[-1]:
            runs.append({})
        runs[-1][one.kind] = one
    if runs:
        _conclude(found, runs)
    return found


def _conclude(found: Found, runs: list[dict[str, Timing]]) -> None:
    none = Timing("", None, None, None)
    prompts = [run.get("prompt eval", none) for run in runs]
    evals = [run.get("eval", none) for run in runs]
    requests = [
        present(server_prefill_ms=prompt.ms, self_reported_tok_s=each.rate)
        for prompt, each in zip(prompts, evals, strict=True)
    ]
    step(
        found,
        requests,
        "timings that llama.cpp prints at the end of a run, its averages over the run",
        prefill_tok_s=between(prompt.rate for prompt in prompts),
        decode_tok_s=between(each.rate for each in evals),
    )
    found.leave_out("load, sampling and total time; `runs`, which are passes and not tokens")
