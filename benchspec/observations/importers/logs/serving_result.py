"""The block that `vllm bench serve` and `sglang.bench_serving` print at their end. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from benchspec.observations.importers.logs.found import (
    Found,
    first_number,
    number,
    present,
    rounded,
    step,
    whole,
)

_HEADING = re.compile(r"={3,} Serving Benchmark Result ={3,}")
_END = re.compile(r"^={20,}\s*$")
_SECTION = re.compile(r"^-{3,}[^-].*-{3,}\s*$")
_LINE = re.compile(r"^\s*([A-Za-z0-9][^:]{1,60}):\s+(\S{1,40})")

_KEYS = {
    "Benchmark duration (s)": "wall_s",
    "Request throughput (req/s)": "requests_per_s",
    "Output token throughput (tok/s)": "aggregate_tok_s",
    "Mean TTFT (ms)": "ttft_ms",
    "Mean TPOT (ms)": "tpot_ms",
    "Accept length": "tokens_per_round",  # SGLang
    "Acceptance length": "tokens_per_round",  # vLLM
}
"""Name in the block -> key of a step in the same unit."""

_COUNTS = {
    "Total generated tokens": "tokens_total",
    "Total generated tokens (retokenized)": "tokens_recounted",
    "Failed requests": "errors",
}
_ITL = {
    "Mean ITL (ms)": "mean",
    "Median ITL (ms)": "p50",
    "P90 ITL (ms)": "p90",
    "P95 ITL (ms)": "p95",
    "P99 ITL (ms)": "p99",
    "Max ITL (ms)": "max",
}
_LIMITS = ("Maximum request concurrency", "Max request concurrency", "Max reqeuest concurrency")
_RATES = ("Request rate configured (RPS)", "Traffic request rate")
_E2E = ("Mean E2E Latency (ms)", "Mean E2EL (ms)")
_ACCEPTANCE = "Acceptance rate (%)"
_READ = {*_KEYS, *_COUNTS, *_ITL, *_LIMITS, *_RATES, *_E2E}
_READ |= {_ACCEPTANCE, "Successful requests", "Total input tokens", "Backend"}


def read(lines: Iterable[str]) -> Found:
    """One step for each block."""
    found = Found()
    block: dict[str, str] | None = None
    for line in lines:
        if _HEADING.search(line):
            _conclude(found, block)
            block = {}
        elif block is not None and _END.match(line):
            _conclude(found, block)
            block = None
        elif block is not None and not _SECTION.match(line) and (one := _LINE.match(line)):
            block.setdefault(one[1].strip(), one[2])
    _conclude(found, block)
    return found


def _conclude(found: Found, block: dict[str, str] | None) -> None:
    if not block:
        return
    figures: dict[str, Any] = {
        key: first_number(block.get(name)) for name, key in _KEYS.items() if name in block
    }
    accepted = first_number(block.get(_ACCEPTANCE))
    if accepted is not None and accepted <= 100:
        figures["acceptance"] = f"{accepted} %"
    counts = {key: whole(block.get(name)) for name, key in _COUNTS.items()}
    itl = present(**{key: first_number(block.get(name)) for name, key in _ITL.items()})
    latency = first_number(_any(block, _E2E))
    sent = present(
        **_sending(found, block),
        **_prompts(block, counts["errors"]),
        latency_s=None if latency is None else rounded(latency / 1000),
        itl_ms=itl or None,
    )
    step(found, [], "result block of a serving benchmark, its means", **sent, **figures, **counts)
    for name in sorted(block.keys() - _READ):
        if name.isprintable() and len(found.left_out) < 20:
            found.leave_out(name)


def _sending(found: Found, block: dict[str, str]) -> dict[str, Any]:
    """How requests were sent: at a rate, or so many at once; `inf` and `not set` are neither."""
    rate, limit = number(_any(block, _RATES)), whole(_any(block, _LIMITS))
    if rate:
        if limit:
            found.leave_out("the limit of requests at once, beside a rate")
        return {"mode": "open", "rate": rate}
    return {"concurrency": limit} if limit else {}


def _prompts(block: dict[str, str], failed: int | None) -> dict[str, Any]:
    """How many were sent, and the mean length of the prompts of those that were answered."""
    done, tokens = whole(block.get("Successful requests")), whole(block.get("Total input tokens"))
    sent = (done or 0) + (failed or 0)
    mean = rounded(tokens / done) if tokens and done else None
    return present(planned_requests=sent or None, prompt_tokens=mean)


def _any(block: dict[str, str], names: Iterable[str]) -> str | None:
    return next((block[name] for name in names if name in block), None)
