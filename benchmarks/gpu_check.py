"""Does benchspec read an NVIDIA card as it should? For a machine that has one; takes about 20 s.

    python benchmarks/gpu_check.py [--seconds 5]

Prints what every card is, what each counter showed while idle and while working, and three checks
that only a real card can fail: bytes copied against bytes counted, power against energy, and what
the sampling cost. The work needs torch with CUDA; without it, run a workload of your own meanwhile.
Exit code 0: no check failed. 1: one did. 3: there is no card, or no driver.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchspec.observations.series import windows
from benchspec.store.tracks import Track
from benchspec.telemetry.base import Families
from benchspec.telemetry.identity import cards
from benchspec.telemetry.nvml import Nvml
from benchspec.telemetry.sampler import Sampler, cpu_share

COPY_BYTES = 2**28
INTERVAL_S = 0.2
MOST_CPU_SHARE = 0.01
HEADERS = (1.0, 1.35)
"""Bytes counted / bytes copied: packet headers are counted, and other traffic is there."""
POWER = (0.8, 1.25)
"""Energy / time against the mean of the power readings, which look at a part of the time."""


@dataclass(frozen=True)
class Phase:
    """Tracks of a stretch of time, and what was copied to card 0 in it."""

    name: str
    seconds: float
    copied_bytes: int
    tracks: list[Track]


def main() -> int:
    """Sample idle and busy, print, and check."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5.0, help="of each of the two phases")
    seconds = parser.parse_args().seconds
    found = cards()
    if not found:
        print("there is no card here that a driver shows")
        return 3
    for device, facts in found.items():
        print(device, *(f"{name}={fact}" for name, fact in facts.items()), sep="\n  ")
    families = Families()
    origin_ns = time.monotonic_ns()
    with Sampler([Nvml(families)], families, origin_ns=origin_ns, interval_s=INTERVAL_S) as sampler:
        idle = _phase("idle", sampler, seconds, None)
        busy = _phase("busy", sampler, seconds, _work())
    _table(idle, busy)
    results = list(_checks(busy))
    print()
    for fine, text in results:
        print("ok  " if fine else "FAIL", text)
    return 0 if all(fine for fine, _ in results) else 1


def _work() -> Callable[[], int] | None:
    """Copies to card 0, then multiplies there; returns the bytes copied. None without torch."""
    if importlib.util.find_spec("torch") is None:
        return None
    torch = importlib.import_module("torch")
    if not torch.cuda.is_available():
        return None
    host = torch.ones(COPY_BYTES // 4).pin_memory()
    card = torch.empty(COPY_BYTES // 4, device="cuda:0")
    matrix = torch.ones(4096, 4096, device="cuda:0")

    def once() -> int:
        card.copy_(host)
        for _ in range(8):
            torch.mm(matrix, matrix)
        torch.cuda.synchronize()
        return COPY_BYTES

    once()
    return once


def _phase(name: str, sampler: Sampler, seconds: float, work: Callable[[], int] | None) -> Phase:
    begin_ns, copied = sampler.clock(), 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if work is None:
            time.sleep(0.1)
        else:
            copied += work()
    time.sleep(2 * INTERVAL_S)
    end_ns = sampler.clock()
    return Phase(name, (end_ns - begin_ns) / 1e9, copied, sampler.cut(begin_ns, end_ns))


def _table(idle: Phase, busy: Phase) -> None:
    print(f"\n{'counter':<24}{'device':<8}{'unit':<11}{'n':>4}{'idle':>12}{'busy':>12}  read as")
    for before, after in zip(idle.tracks, busy.tracks, strict=True):
        counter = after.counter
        name, device = counter.name, counter.device or ""
        if counter.not_measured:
            print(f"{name:<24}{device:<8}not measured: {counter.not_measured}")
            continue
        print(
            f"{name:<24}{device:<8}{counter.unit:<11}{len(after.values):>4}"
            f"{_shown(_mean(before)):>12}{_shown(_mean(after)):>12}  {counter.read_as}"
            f"{', 32 bits' if counter.wraps_at else ''}"
            f"{f'; {after.trouble}' if after.trouble else ''}"
        )


def _mean(track: Track) -> float | None:
    """Total / time of a cumulative counter, else the mean of its values."""
    seen = [w for w in windows(track) if w.value is not None]
    spans = [w.end_ns - w.begin_ns for w in seen]
    if track.counter.kind == "cumulative" and sum(spans) > 0:
        return sum(w.amount or 0.0 for w in seen) / (sum(spans) / 1e9)
    values = [w.value for w in seen if w.value is not None]
    return sum(values) / len(values) if values else None


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _checks(busy: Phase) -> Iterator[tuple[bool, str]]:
    share = cpu_share(busy.tracks)
    yield share is not None and share <= MOST_CPU_SHARE, f"sampling took {share} of a core"
    means = {(t.counter.device, t.counter.name): _mean(t) for t in busy.tracks}
    received = means.get(("gpu0", "pcie_rx"))
    if busy.copied_bytes and received:
        copied = busy.copied_bytes / busy.seconds / 1e6
        yield (
            _within(received / copied, HEADERS),
            (f"gpu0: pcie_rx {received:.0f} MB/s, copied {copied:.0f} MB/s"),
        )
    for device in sorted({device for device, _ in means if device}):
        energy, power = means.get((device, "energy")), means.get((device, "power"))
        if energy and power:
            yield (
                _within(energy / power, POWER),
                (f"{device}: energy / time {energy:.1f} W, power {power:.1f} W"),
            )


def _within(value: float, limits: tuple[float, float]) -> bool:
    return limits[0] <= value <= limits[1]


if __name__ == "__main__":
    sys.exit(main())
