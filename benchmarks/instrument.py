"""How far the measured path is from the truth, on this machine, now.

    python benchmarks/instrument.py [--streams 1 64 256 1024] [--repeats 3] [--busy]

A server of known timing runs in a child process: the first token 100 ms after the request, then
one every 20 ms, 128 in all. It tells afterwards when it really wrote, and an error is what the
client says minus that. Printed per number of streams, as the median over the repeats: the error of
the time to first token, of the gaps between tokens and of the moment that every stamp names;
processor time of the client per event, the spread of the dispatch, reads that held several tokens,
the share of reads stamped by the kernel, and how late the server was (in no error). Then how much
of the processor time is the read callback's own; what one stream costs a program that does nothing
but blocking reads, which no client can go below; and the rate with a server that never pauses.

With --busy instead: 64 streams while another process keeps the client's core busy, with kernel
stamps and with the user-space fallback; the server has another core, where there is one.

The time to first token counts from the send call of each request. Connections are opened before
the dispatch, so the handshakes of 256 connections are not in the figure.

Exits 1 on Linux when under 99 % of the reads were stamped by the kernel.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np

from benchspec.engines.base import Endpoint
from benchspec.load import clock
from benchspec.load.calibration import Errors, burst, errors, known_server, late_ms, writes_ns
from benchspec.load.connection import Connection
from benchspec.load.known_timing import Timing
from benchspec.load.target import Sampling, request_body, request_bytes, target_of
from benchspec.load.trace import CellTrace

PACED = Timing(first_ms=100.0, gap_ms=20.0, tokens=128)
FLAT_OUT = Timing(first_ms=0.0, gap_ms=0.0, tokens=4000, flat_out=True)
FLAT_OUT_STREAMS = 32
BUSY_STREAMS = 64
LEAST_KERNEL_SHARE = 0.99


@dataclass(frozen=True)
class Trial:
    """One burst, what is wrong with it, and how late the server's own writes were (p99, ms)."""

    trace: CellTrace
    errors: Errors
    server_ms: float


Columns = list[tuple[str, Callable[[Trial], float]]]

COLUMNS: Columns = [
    ("first p50 ms", lambda trial: trial.errors.first_token_ms_p50),
    ("first p99 ms", lambda trial: trial.errors.first_token_ms_p99),
    ("gap p50 ms", lambda trial: trial.errors.gap_ms_p50),
    ("gap p99 ms", lambda trial: trial.errors.gap_ms_p99),
    ("stamp p50 ms", lambda trial: trial.errors.stamp_ms_p50),
    ("stamp p99 ms", lambda trial: trial.errors.stamp_ms_p99),
    ("us/event", lambda trial: trial.trace.client.cpu_s / trial.trace.client.events * 1e6),
    ("CPU share", lambda trial: trial.trace.client.cpu_share),
    ("dispatch ms", lambda trial: dispatch_ms(trial.trace)),
    ("coalesced", lambda trial: trial.trace.client.coalesced_reads),
    ("kernel share", lambda trial: kernel_share(trial.trace)),
    ("server p99 ms", lambda trial: trial.server_ms),
]


def kernel_share(trace: CellTrace) -> float:
    return trace.client.kernel_stamps / max(1, trace.client.reads)


def dispatch_ms(trace: CellTrace) -> float:
    """From the first request on its way to the last."""
    sent = [request.sent_ns for request in trace.requests if request.sent_ns is not None]
    return (max(sent) - min(sent)) / 1e6


def trials_of(endpoint: Endpoint, streams: int, repeats: int) -> list[Trial]:
    trials = []
    for _ in range(repeats):
        trace = burst(endpoint, streams)
        written = writes_ns(endpoint)
        late = float(np.percentile(late_ms(written, PACED), 99))
        trials.append(Trial(trace, errors(trace, written), late))
    return trials


def print_row(name: object, trials: list[Trial]) -> None:
    values = [statistics.median(map(value, trials)) for _, value in COLUMNS]
    print(f"{name!s:>8}" + "".join(f"{value:>15.3f}" for value in values), flush=True)


def print_header(name: str) -> None:
    print(f"{name:>8}" + "".join(f"{title:>15}" for title, _ in COLUMNS))


def print_paced(all_streams: list[int], repeats: int) -> float:
    """Print the table; the smallest kernel share seen."""
    print_header("streams")
    least = 1.0
    with known_server(PACED) as endpoint:
        for streams in all_streams:
            trials = trials_of(endpoint, streams, repeats)
            print_row(streams, trials)
            least = min(least, *(kernel_share(trial.trace) for trial in trials))
    return least


def print_in_reads(all_streams: list[int], repeats: int) -> None:
    """Of the processor time per event, what is spent in the read callback; the rest is the event
    loop and waking up. In bursts of their own, because taking this time costs time."""
    with known_server(PACED) as endpoint:
        for streams in all_streams:
            costs = [in_reads_us(endpoint, streams) for _ in range(repeats)]
            print(f"{streams:>8} streams: {statistics.median(costs):.1f} us/event in the callback")


def in_reads_us(endpoint: Endpoint, streams: int) -> float:
    """Thread time inside the callback, two clock readings included."""
    spent_ns = 0
    read = Connection._on_readable

    def timed(connection: Connection) -> bool:
        nonlocal spent_ns
        begun_ns = time.thread_time_ns()
        more = read(connection)
        spent_ns += time.thread_time_ns() - begun_ns
        return more

    with patch.object(Connection, "_on_readable", timed):
        client = burst(endpoint, streams).client
    return spent_ns / client.events / 1e3


def print_floor() -> None:
    """One stream read by blocking calls of this thread, and nothing kept."""
    with known_server(PACED) as endpoint:
        costs = [blocking_read_us(endpoint) for _ in range(3)]
    print(f"1 stream, blocking reads and nothing else: {statistics.median(costs):.0f} us/read")


def blocking_read_us(endpoint: Endpoint) -> float:
    body = request_body("completions", "x", Sampling(PACED.tokens), engine="openai")
    with socket.create_connection((endpoint.host, endpoint.port)) as connection:
        connection.sendall(request_bytes(target_of(endpoint), body))
        begun_s, reads, last = time.thread_time(), 0, b""
        while b"[DONE]" not in last and (last := connection.recv(65536)):
            reads += 1
        return (time.thread_time() - begun_s) / reads * 1e6


def print_flat_out(repeats: int) -> None:
    with known_server(FLAT_OUT) as endpoint:
        clients = [burst(endpoint, FLAT_OUT_STREAMS).client for _ in range(repeats)]
    wall = statistics.median(client.events / client.wall_s for client in clients)
    core = statistics.median(client.events / client.cpu_s for client in clients)
    reads = statistics.median(client.events / client.reads for client in clients)
    print(f"flat out, {FLAT_OUT_STREAMS} streams: {wall:,.0f} events/s, {core:,.0f} events per")
    print(f"second of processor time, {reads:.2f} events per read")


@contextmanager
def on_core(core: int) -> Iterator[None]:
    """This thread, and what it starts meanwhile, on one core."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def busy_process() -> Iterator[None]:
    """Another process that never sleeps, on the cores of this one. It ends by itself."""
    endless = "import time\nend = time.monotonic() + 300\nwhile time.monotonic() < end: pass"
    with subprocess.Popen([sys.executable, "-c", endless]) as busy:
        try:
            yield
        finally:
            busy.kill()


def print_busy(repeats: int) -> float:
    """Print the table of a client whose core is busy; the kernel share of the stamped trials."""
    print_header("stamps")
    stamped = busy_trials(repeats)
    print_row("kernel", stamped)
    with patch.object(clock, "enable_stamps", return_value=False):
        print_row("user", busy_trials(repeats))
    return min(kernel_share(trial.trace) for trial in stamped)


def busy_trials(repeats: int) -> list[Trial]:
    """64 streams; the client shares the first core with a process that never sleeps."""
    cores = sorted(os.sched_getaffinity(0))
    with ExitStack() as around:
        with on_core(cores[-1]):
            endpoint = around.enter_context(known_server(PACED))
        around.enter_context(on_core(cores[0]))
        around.enter_context(busy_process())
        return trials_of(endpoint, BUSY_STREAMS, repeats)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 64, 256])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--busy", action="store_true", help="take the client's core away")
    given = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    if given.busy:
        least = print_busy(given.repeats)
    else:
        least = print_paced(given.streams, given.repeats)
        print_in_reads(given.streams, given.repeats)
        print_floor()
        print_flat_out(given.repeats)
    print(f"load average {os.getloadavg()[0]:.1f}")
    if sys.platform == "linux" and least < LEAST_KERNEL_SHARE:
        print(f"only {least:.1%} of the reads were stamped by the kernel", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
