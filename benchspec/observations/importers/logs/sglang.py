"""What SGLang logs of its batches: `Decode batch, ...` every few dozen steps, `Prefill batch, ...`. Pure.

Progress bars share the stream, so that a line is found anywhere. Hybrid models print `#full token`
and figures of their states; these, and whether a graph ran, no key holds.
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
)

_FIELDS: Fields = {
    "gen throughput (token/s)": ("generation_throughput", "tok/s"),
    "input throughput (token/s)": ("prompt_throughput", "tok/s"),
    "token usage": ("kv_cache_usage", "1"),
    "#running-req": ("requests_running", "1"),
    "#queue-req": ("requests_waiting", "1"),
}
_USED = {*_FIELDS, "accept len", "accept rate", "#new-token", "#cached-token"}
_BATCH = re.compile(
    r"\[(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?P<rank>(?: [A-Z]{2}\d{1,4}){0,4})\] "
    r"(?P<kind>Decode|Prefill) batch[^,]{0,40}, (?P<rest>.*)"
)
_SOURCE = "SGLang's log, averages over the log interval (since the line before)"


def read(lines: Iterable[str]) -> Found:
    """Series per rank; a step with the most requests, speculation and the share from the cache."""
    found, averages = Found(), Averages(_FIELDS)
    lengths: list[float | None] = []
    rates: list[float | None] = []
    ranks: set[str] = set()
    new = cached = 0.0
    for line in lines:
        batch = _BATCH.search(line) if " batch" in line else None
        if batch is None:
            continue
        printed = pairs(batch["rest"])
        ranks.add(batch["rank"])
        averages.add(_who(batch), _seconds(batch["time"]), printed)
        lengths.append(first_number(printed.get("accept len")))
        rates.append(first_number(printed.get("accept rate")))
        new += first_number(printed.get("#new-token")) or 0
        cached += first_number(printed.get("#cached-token")) or 0
        for name in printed.keys() - _USED:
            _leave_out(found, name)
    averages.into(found, _SOURCE)
    figures: dict[str, Any] = {"tokens_per_round": between(lengths)}
    if all(rate is None or rate <= 1 for rate in rates):
        figures["acceptance"] = between(rates)
    if new + cached > 0:
        figures["hit_rate"] = rounded(cached / (new + cached))
    if len(ranks) > 1:
        found.leave_out("most requests at once, of which each rank has its own")
    else:
        figures["running_max"] = averages.most("requests_running")
        figures["waiting_max"] = averages.most("requests_waiting")
    step(found, [], _SOURCE, **figures)
    found.left_out.sort()
    return found


def _who(batch: re.Match[str]) -> str:
    """The rank, and for a prefill that it is one: its samples come at other times."""
    return f"{batch['kind'].lower()} batches{batch['rank']}"


def _leave_out(found: Found, name: str) -> None:
    """A name out of a log, made fit to be printed; the first dozen are enough."""
    if len(found.left_out) < 12 and len(name) <= 40 and name.isprintable():
        found.leave_out(name)


def _seconds(text: str) -> float | None:
    try:
        return (datetime.fromisoformat(text) - datetime(1970, 1, 1)).total_seconds()
    except ValueError:
        return None
