"""How long judging takes and how much memory: 1,000, 10,000 and 100,000 requests of 512 tokens.

    python benchmarks/judge.py [--json]

Each size is judged in a process of its own: the records of a run are made, the clock is started,
they are reduced to observations with all their token stamps, and judged. Prints seconds (of this
process, so that other work on the machine does not count), peak memory and how both grow. Exits 1
when 10,000 requests take 5 s or more, or 500 MB or more, or when ten times the requests take over
twenty times as long (which nothing linear does).
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from benchspec.judge.judge import judge
from benchspec.observations.from_bundle import reduce
from benchspec.spec.models import Spec
from benchspec.store.records import CellKey, CellRecord, RequestRecord

SIZES = (1_000, 10_000, 100_000)
TOKENS = 512
SLOTS = 64
IN_FLIGHT = (1, 64, 128)
REPEATS = 3
BOUND_AT, LONGEST_S, LARGEST_MB = 10_000, 5.0, 500.0
STEEPEST = 20.0
"""Time of ten times the requests / time: ten where judging is linear, a hundred if quadratic."""


def study() -> Spec:
    """A sweep below, at and above the slots, with a claim on a rate and one on a shape."""
    return Spec.model_validate(
        {
            "benchspec": 1,
            "study": {"title": "a long run"},
            "hypotheses": [
                {
                    "id": "H1",
                    "claim": "it scales",
                    "test": {
                        "metric": "aggregate_tok_s",
                        "at": {"concurrency": 64},
                        "over": {"concurrency": 1},
                        "relation": ">=",
                        "value": 2,
                    },
                },
                {
                    "id": "H2",
                    "claim": "it queues",
                    "test": {"check": "queueing", "at": {"concurrency": 128}, "expect": ["queued"]},
                },
            ],
            "engine": {"kind": "openai", "slots": SLOTS},
            "workload": {"output": {"tokens": TOKENS, "forced": True}},
            "load": {"concurrency": list(IN_FLIGHT)},
            "repeats": REPEATS,
        }
    )


def journal(count: int) -> list[CellRecord]:
    """`count` requests in all, spread evenly over steps and repeats, kept in flight C at a time."""
    each = count // (len(IN_FLIGHT) * REPEATS)
    cells = [(in_flight, repeat) for repeat in range(1, REPEATS + 1) for in_flight in IN_FLIGHT]
    return [_cell(in_flight, repeat, each) for in_flight, repeat in cells]


def _cell(in_flight: int, repeat: int, count: int) -> CellRecord:
    requests = list(_requests(in_flight, count, 1 + repeat / 1000))
    name = f"c{in_flight}r{repeat}"
    return CellRecord(
        key=CellKey(id=name, arm="main", concurrency=in_flight, repeat=repeat),
        state="done",
        mode="sustained",
        started_ns=0,
        ended_ns=max(r.end_ns or 0 for r in requests),
        planned_requests=count,
        requests=requests,
        samples_file=name,
    )


def _requests(in_flight: int, count: int, scale: float) -> Iterator[RequestRecord]:
    """Requests one after another in `in_flight` lanes; those above the slots wait their turn."""
    busy = min(in_flight, SLOTS)
    gap_ns = _gap_ns(in_flight, scale)
    wait_ns = round(0.05e9 * scale * in_flight / busy)
    free = [0] * in_flight
    for number in range(count):
        sent = free[number % in_flight]
        first = sent + wait_ns
        end = free[number % in_flight] = first + (TOKENS - 1) * gap_ns
        yield RequestRecord(
            index=number,
            sent_ns=sent,
            first_token_ns=first,
            last_token_ns=end,
            end_ns=end,
            ok=True,
            completion_tokens=TOKENS,
            prompt_tokens=64,
            cached_tokens=0,
            samples_start=number * TOKENS,
            samples_count=TOKENS,
        )


def _gap_ns(in_flight: int, scale: float) -> int:
    busy = min(in_flight, SLOTS)
    return round(0.01e9 * (0.9 + 0.1 * busy) * scale * in_flight / busy)


def stamps_of(cells: list[CellRecord]) -> Callable[[str], NDArray[np.int64]]:
    """The sample file of a cell: 512 stamps of every request, made when it is read."""
    by_name = {cell.samples_file: cell for cell in cells}

    def stamps(name: str) -> NDArray[np.int64]:
        cell = by_name[name]
        firsts = np.array([r.first_token_ns or 0 for r in cell.requests], dtype=np.int64)
        gap_ns = _gap_ns(cell.key.concurrency or 1, 1 + cell.key.repeat / 1000)
        each = np.arange(TOKENS, dtype=np.int64) * gap_ns
        return (firsts[:, None] + each[None, :]).ravel()

    return stamps


def measure(count: int) -> dict[str, float]:
    """Judge `count` requests once, in this process: seconds and its peak memory in MB."""
    spec, cells = study(), journal(count)
    begin = time.process_time()
    found = judge(spec, reduce(cells, stamps_of(cells)), spec_sha256="0" * 64)
    seconds = time.process_time() - begin
    if not any(r.state == "judged" for r in found.checks):
        raise SystemExit("nothing was judged: the benchmark measures nothing")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"requests": count, "seconds": seconds, "peak_mb": peak, "results": len(found.checks)}


def _apart(count: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--size", str(count)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    curve: dict[str, float] = json.loads(done.stdout)
    return curve


def _over(curve: list[dict[str, float]]) -> list[str]:
    """What is above its bound, as sentences."""
    at = next(point for point in curve if point["requests"] == BOUND_AT)
    broken = []
    if at["seconds"] >= LONGEST_S:
        broken.append(f"{BOUND_AT} requests took {at['seconds']:.2f} s, over {LONGEST_S:g} s")
    if at["peak_mb"] >= LARGEST_MB:
        broken.append(f"{BOUND_AT} requests took {at['peak_mb']:.0f} MB, over {LARGEST_MB:g} MB")
    for small, large in pairwise(curve):
        growth = large["seconds"] / small["seconds"]
        if growth >= STEEPEST:
            broken.append(f"{large['requests']:.0f} requests took {growth:.1f} times the time")
    return broken


def main(arguments: list[str]) -> int:
    """The command; returns the exit code."""
    if arguments[:1] == ["--size"]:
        print(json.dumps(measure(int(arguments[1]))))
        return 0
    curve = [_apart(count) for count in SIZES]
    broken = _over(curve)
    if "--json" in arguments:
        print(json.dumps({"curve": curve, "over": broken}))
    else:
        for point in curve:
            print(
                f"{point['requests']:>8.0f} requests x {TOKENS} tokens: {point['seconds']:7.3f} s, "
                f"{point['peak_mb']:6.0f} MB, {point['results']:.0f} results"
            )
        for sentence in broken:
            print(f"over: {sentence}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
