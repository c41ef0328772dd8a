"""What vLLM logs of its throughput every 5 (V0) or 10 s (V1), of speculation, and its KV cache. Pure.

A line says no year. Its throughputs are averages since the line before it; the hit rate covers the
last thousand requests or so, and in some versions counts what is read again after a preemption.
Speculation is counted from the start by V0 and since the line before by V1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from benchspec.observations.importers.logs.averages import Averages
from benchspec.observations.importers.logs.found import (
    Fields,
    Found,
    between,
    first_number,
    pairs,
    rounded,
    step,
    whole,
)

_FIELDS: Fields = {
    "Avg prompt throughput": ("prompt_throughput", "tok/s"),
    "Avg generation throughput": ("generation_throughput", "tok/s"),
    "Running": ("requests_running", "1"),
    "Waiting": ("requests_waiting", "1"),  # V1
    "Pending": ("requests_waiting", "1"),  # V0
    "GPU KV cache usage": ("kv_cache_usage", "%"),
}
_HIT_RATES = ("Prefix cache hit rate", "External prefix cache hit rate")
_UNUSED = ("Swapped", "CPU KV cache usage", "External prefix cache hit rate", "MM cache hit rate")
_TIME = re.compile(r"\b(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)\b")
_ENGINE = re.compile(r"\b(Engine \d{1,6}): $")
_KV = re.compile(r"GPU KV cache size: ([\d,]{1,20}) tokens")
_ACCEPTED, _DRAFTED = (
    ("Number of accepted tokens", "Accepted"),
    ("Number of draft tokens", "Drafted"),
)
_SOURCE = "vLLM's log, averages over the log interval (since the line before)"


def read(lines: Iterable[str]) -> Found:
    """Series of the throughputs; a step with the most requests, speculation and the hit rate."""
    found, averages = Found(), Averages(_FIELDS)
    figures: dict[str, Any] = {}
    speculation: list[dict[str, str]] = []
    caches: set[int] = set()
    preempted = False
    for line in lines:
        if "Avg prompt throughput: " in line:
            _throughput(line, averages, figures, found)
        elif "Speculative metrics: " in line or "SpecDecoding metrics: " in line:
            speculation.append(_speculated(line))
        elif "total_num_cumulative_preemption" in line:
            preempted = True
        elif kv := _KV.search(line):
            _keep_cache(found, caches, kv, line)
    if len(caches) == 1:
        found.arm["kv_tokens"] = caches.pop()
    elif caches:
        found.leave_out("the sizes of several KV caches")
    if preempted:
        found.leave_out("preemptions: only every fiftieth is logged")
        if figures.pop("hit_rate", None) is not None:
            found.leave_out("the hit rate, which may count what was read again after a preemption")
    averages.into(found, _SOURCE)
    if len({who for who, _ in averages.tracks}) > 1:
        figures.pop("hit_rate", None)
        found.leave_out("hit rate and most requests at once, of which each engine has its own")
    else:
        figures["running_max"] = averages.most("requests_running")
        figures["waiting_max"] = averages.most("requests_waiting")
    if speculation:
        found.leave_out("acceptance by position, system efficiency")
    step(found, [], _SOURCE, **figures, **_speculation(speculation))
    return found


def _throughput(line: str, averages: Averages, figures: dict[str, Any], found: Found) -> None:
    before, name, rest = line.partition("Avg prompt throughput: ")
    printed = pairs(name + rest)
    engine = _ENGINE.search(before[-20:])
    averages.add(engine[1].lower() if engine else "", _seconds(before), printed)
    hits = first_number(printed.get(_HIT_RATES[0]))
    if hits is not None and hits <= 100:
        figures["hit_rate"] = f"{hits} %"
    for unused in _UNUSED:
        if unused in printed:
            found.leave_out(unused)


def _seconds(text: str) -> float | None:
    """Seconds from the start of a year; a leap year, so that every day of a year exists."""
    match = _TIME.search(text)
    if match is None:
        return None
    try:
        at = datetime(2000, *map(int, match.groups()))  # type: ignore[arg-type]
    except ValueError:
        return None
    return (at - datetime(2000, 1, 1)).total_seconds()


def _keep_cache(found: Found, caches: set[int], kv: re.Match[str], line: str) -> None:
    if tokens := whole(kv[1]):
        caches.add(tokens)
    if "Maximum concurrency" in line:
        found.leave_out("the maximum concurrency at full length")


def _speculated(line: str) -> dict[str, str]:
    """The named figures; the rates by position are a list, of which the number matters."""
    text, _, rates = line.partition("Per-position acceptance rate: ")
    printed = pairs(text.partition("metrics: ")[2].rstrip(" ,."))
    if rates:
        positions = [first_number(rate.strip()) for rate in rates.split(",")]
        printed["drafts"] = str(sum(rate is not None for rate in positions))
    return printed | {"generation": "V0" if "Speculative metrics: " in line else "V1"}


def _speculation(lines: list[dict[str, str]]) -> dict[str, Any]:
    """Acceptance over all lines of V1, or of the last of V0; and tokens per round.

    Tokens per round = 1 + accepted / rounds, rounds = drafted / drafts of a round. V0 prints what it
    emitted, which also counts rounds that ended early: emitted / rounds.
    """
    if not lines:
        return {}
    counted = lines[-1:] if lines[-1]["generation"] == "V0" else lines
    accepted, drafted = _total(counted, _ACCEPTED), _total(counted, _DRAFTED)
    if accepted is None or not drafted or accepted > drafted:
        return {}
    last = counted[-1]
    drafts = whole(last.get("drafts") or last.get("Number of speculative tokens"))
    figures: dict[str, Any] = {"acceptance": rounded(accepted / drafted)}
    if drafts and len({line.get("drafts") for line in counted}) == 1:
        emitted = first_number(last.get("Number of emitted tokens"))
        rounds = drafted / drafts
        gained = emitted / rounds if emitted is not None else 1 + accepted / rounds
        return figures | {"drafts": drafts, "tokens_per_round": rounded(gained)}
    lengths = between(first_number(line.get("Mean acceptance length")) for line in counted)
    return figures if lengths is None else figures | {"tokens_per_round": lengths}


def _total(lines: list[dict[str, str]], names: tuple[str, ...]) -> float | None:
    """The sum over the lines of what either name says; None where a line has neither."""
    values = [first_number(next((line[n] for n in names if n in line), None)) for line in lines]
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
