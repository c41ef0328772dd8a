"""How far the measured path is from the truth, on this machine, now.

    python benchmarks/instrument.py [--streams 1 64 256 1024] [--repeats 3]

A server of known timing runs in a child process: the first token 100 ms after the request, then
one every 20 ms, 128 in all. Printed per number of streams, as the median over the repeats: the
error of the time to first token and of the gaps between tokens (both hold the server's own
lateness, which is printed beside them), processor time of the client per event, the spread of the
dispatch, the share of reads stamped by the kernel. Then the rate with a server that never pauses.

The time to first token counts from the send call of each request. Connections are opened before
the dispatch, so the handshakes of 256 connections are not in the figure.

Exits 1 on Linux when under 99 % of the reads were stamped by the kernel.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass

from benchspec.load.calibration import Errors, burst, errors, known_server
from benchspec.load.known_timing import Timing
from benchspec.load.trace import CellTrace

PACED = Timing(first_ms=100.0, gap_ms=20.0, tokens=128)
FLAT_OUT = Timing(first_ms=0.0, gap_ms=0.0, tokens=4000, flat_out=True)
FLAT_OUT_STREAMS = 32
LEAST_KERNEL_SHARE = 0.99


@dataclass(frozen=True)
class Trial:
    """One burst, what is wrong with it, and how late the server's own writes were, in ms."""

    trace: CellTrace
    errors: Errors
    server: dict[str, float]


COLUMNS: list[tuple[str, Callable[[Trial], float]]] = [
    ("first p50 ms", lambda trial: trial.errors.first_token_ms_p50),
    ("first p99 ms", lambda trial: trial.errors.first_token_ms_p99),
    ("gap p50 ms", lambda trial: trial.errors.gap_ms_p50),
    ("gap p99 ms", lambda trial: trial.errors.gap_ms_p99),
    ("server first", lambda trial: trial.server["first_p50"]),
    ("server p50 ms", lambda trial: trial.server["all_p50"]),
    ("server p99 ms", lambda trial: trial.server["all_p99"]),
    ("us/event", lambda trial: trial.trace.client.cpu_s / trial.trace.client.events * 1e6),
    ("CPU share", lambda trial: trial.trace.client.cpu_share),
    ("dispatch ms", lambda trial: dispatch_ms(trial.trace)),
    ("coalesced", lambda trial: trial.trace.client.coalesced_reads),
    ("kernel share", lambda trial: kernel_share(trial.trace)),
]


def kernel_share(trace: CellTrace) -> float:
    return trace.client.kernel_stamps / max(1, trace.client.reads)


def dispatch_ms(trace: CellTrace) -> float:
    """From the first request on its way to the last."""
    sent = [request.sent_ns for request in trace.requests if request.sent_ns is not None]
    return (max(sent) - min(sent)) / 1e6


def paced_trials(streams: int, repeats: int) -> list[Trial]:
    trials = []
    with known_server(PACED) as endpoint:
        for _ in range(repeats):
            trace = burst(endpoint, streams)
            url = f"http://127.0.0.1:{endpoint.port}/lateness"
            with urllib.request.urlopen(url) as answer:
                trials.append(Trial(trace, errors(trace, PACED), json.load(answer)))
    return trials


def print_paced(all_streams: list[int], repeats: int) -> float:
    """Print the table; the smallest kernel share seen."""
    print(f"{'streams':>8}" + "".join(f"{name:>15}" for name, _ in COLUMNS))
    least = 1.0
    for streams in all_streams:
        trials = paced_trials(streams, repeats)
        values = [statistics.median(map(value, trials)) for _, value in COLUMNS]
        print(f"{streams:>8}" + "".join(f"{value:>15.3f}" for value in values), flush=True)
        least = min(least, *(kernel_share(trial.trace) for trial in trials))
    return least


def print_flat_out(repeats: int) -> None:
    with known_server(FLAT_OUT) as endpoint:
        clients = [burst(endpoint, FLAT_OUT_STREAMS).client for _ in range(repeats)]
    wall = statistics.median(client.events / client.wall_s for client in clients)
    core = statistics.median(client.events / client.cpu_s for client in clients)
    reads = statistics.median(client.events / client.reads for client in clients)
    print(f"flat out, {FLAT_OUT_STREAMS} streams: {wall:,.0f} events/s, {core:,.0f} events per")
    print(f"second of processor time, {reads:.2f} events per read")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 64, 256])
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    least = print_paced(given.streams, given.repeats)
    print_flat_out(given.repeats)
    if sys.platform == "linux" and least < LEAST_KERNEL_SHARE:
        print(f"only {least:.1%} of the reads were stamped by the kernel", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
