"""Our client and others against one server of known timing, in one run: a Markdown table.

    benchmarks/peers.sh [--streams 1 64 256] [--repeats 3]

The server (in a process of its own) sends a role chunk at once, the first token 100 ms after the
request, then one every 20 ms, 128 in all, and tells afterwards when it really did. STREAMS requests
go out at once; the clients take turns within a repeat. An error is the percentile of the times to
first token that a client says, minus the same percentile of the true ones; the median over the
repeats is printed. So is processor time per token event, the client's part in its own lateness.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchspec import __version__
from benchspec.engines.base import Endpoint
from benchspec.load.calibration import burst, known_server, writes_ns
from benchspec.load.known_timing import Timing

PACED = Timing(first_ms=100.0, gap_ms=20.0, tokens=128)
PYTHON = Path("build/peers/bin/python")
PEERS = ("aiohttp", "llama-benchy", "httpx", "guidellm")
OURS = "benchspec"
PATIENCE_S = 180


@dataclass(frozen=True)
class Said:
    """What a client says of one wave."""

    version: str
    first_ms: list[float]
    cpu_us_per_event: float


def ours(endpoint: Endpoint, streams: int) -> Said:
    trace = burst(endpoint, streams)
    first = [((one.first_token_ns or 0) - (one.sent_ns or 0)) / 1e6 for one in trace.requests]
    return Said(__version__, first, trace.client.cpu_s / trace.client.events * 1e6)


def theirs(client: str, endpoint: Endpoint, streams: int) -> Said:
    """Raises subprocess.SubprocessError where the client fails or takes for ever."""
    script = Path(__file__).with_name("peer_clients.py")
    command = [str(PYTHON), str(script), client, str(endpoint.port), str(streams)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE_S, check=True, env=environment()
    )
    return Said(**json.loads(done.stdout.splitlines()[-1]))


def environment() -> dict[str, str]:
    """Without proxies: the server is here."""
    return {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}


def trial(client: str, endpoint: Endpoint, streams: int) -> tuple[str, list[float]]:
    """The client's version; errors at p50 and p99 in ms, processor time per event."""
    writes_ns(endpoint)
    said = ours(endpoint, streams) if client == OURS else theirs(client, endpoint, streams)
    measured = writes_ns(endpoint)[-streams:]
    true_ms = (measured[:, 1] - measured[:, 0]) / 1e6
    error = np.percentile(said.first_ms, [50, 99]) - np.percentile(true_ms, [50, 99])
    return said.version, [*error.tolist(), said.cpu_us_per_event]


def rows(endpoint: Endpoint, streams: int, repeats: int) -> Iterator[str]:
    found: dict[str, list[list[float]]] = {client: [] for client in (OURS, *PEERS)}
    versions: dict[str, str] = {}
    failed: dict[str, str] = {}
    for _ in range(repeats):
        for client, seen in found.items():
            try:
                versions[client], figures = trial(client, endpoint, streams)
                seen.append(figures)
            except subprocess.CalledProcessError as error:
                failed[client] = error.stderr.strip().splitlines()[-1]
            except subprocess.TimeoutExpired:
                failed[client] = f"not done in {PATIENCE_S} s"
    for client, seen in found.items():
        if seen:
            p50, p99, cpu_us = np.median(seen, axis=0)
            name = f"{client} {versions[client]}"
            yield f"| {streams} | {name} | {p50:.2f} | {p99:.2f} | {cpu_us:.0f} |"
        if client in failed:
            yield f"| {streams} | {client} | {failed[client]} | | |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 64, 256])
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    if not PYTHON.exists():
        print("run benchmarks/peers.sh: it installs the other clients first", file=sys.stderr)
        return 2
    print(f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f} before\n")
    print("| streams | client | error p50 ms | error p99 ms | us CPU/event |")
    print("|---:|---|---:|---:|---:|")
    with known_server(PACED) as completions:
        for streams in given.streams:
            for row in rows(replace(completions, dialect="chat"), streams, given.repeats):
                print(row, flush=True)
    print(f"\nload average {os.getloadavg()[0]:.1f} after")
    return 0


if __name__ == "__main__":
    sys.exit(main())
