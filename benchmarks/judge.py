"""How long judging takes and how much memory: 1,000, 10,000 and 100,000 requests of 512 tokens.

    python benchmarks/judge.py [--json]

Each size is judged in a process of its own: the observations are made, the clock is started, the
judge runs once. Prints seconds, peak memory of the process and how both grow. Exits 1 when 10,000
requests take 5 s or more, or 500 MB or more, or when ten times the requests take over twenty times
as long (which no linear judge does).
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise

from benchspec.judge.judge import judge
from benchspec.observations.model import ArmObservation, Observations, Request, Step
from benchspec.spec.models import Spec

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


def observations(count: int) -> Observations:
    """`count` requests in all, spread evenly over steps and repeats, kept in flight C at a time."""
    each = count // (len(IN_FLIGHT) * REPEATS)
    steps = [
        _step(in_flight, repeat, each)
        for repeat in range(1, REPEATS + 1)
        for in_flight in IN_FLIGHT
    ]
    arms = {"main": ArmObservation(slots=SLOTS, slots_source="/props")}
    return Observations(arms=arms, steps=steps)


def _step(in_flight: int, repeat: int, count: int) -> Step:
    requests = list(_requests(in_flight, count, 1 + repeat / 1000))
    return Step(
        arm="main",
        concurrency=in_flight,
        repeat=repeat,
        mode="sustained",
        planned_requests=count,
        wall_s=max(r.end_s or 0.0 for r in requests),
        requests=requests,
    )


def _requests(in_flight: int, count: int, scale: float) -> Iterator[Request]:
    """Requests one after another in `in_flight` lanes; those above the slots wait their turn."""
    busy = min(in_flight, SLOTS)
    token_s = 0.01 * (0.9 + 0.1 * busy) * scale
    free = [0.0] * in_flight
    for number in range(count):
        lane = number % in_flight
        start = free[lane]
        first = start + 0.05 * scale * in_flight / busy
        end = first + (TOKENS - 1) * token_s * in_flight / busy
        free[lane] = end
        yield Request(
            start_s=start,
            first_token_s=first,
            last_token_s=end,
            end_s=end,
            ttft_ms=(first - start) * 1e3,
            itl_ms=token_s * 1e3,
            tokens=TOKENS,
            prompt_tokens=64,
            cached_tokens=0,
        )


def measure(count: int) -> dict[str, float]:
    """Judge `count` requests once, in this process: seconds and its peak memory in MB."""
    spec, seen = study(), observations(count)
    begin = time.monotonic()
    found = judge(spec, seen, spec_sha256="0" * 64)
    seconds = time.monotonic() - begin
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
