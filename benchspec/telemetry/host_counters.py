"""Source `host`: what this machine did, all processes together (see also host.py for shares).

Counters of disk and network are of the whole machine: the system keeps none per process.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

import psutil

from benchspec.store.tracks import CounterRecord, Raw
from benchspec.telemetry.base import Clock, Families, Reading, absent
from benchspec.telemetry.meters import Meters

MIB = 2**20
IDLE_FIELDS = frozenset({"idle", "iowait", "guest", "guest_nice"})
"""Fields of the processor times in which nothing was computed, or that are in another field too."""

NAMES = (
    "cpu", "cpu_steal", "load_running", "memory_used", "memory_swap_used", "disk_read", "disk_write",
    "network_rx", "network_tx", "clocks_cpu", "temperature", "energy",
)  # fmt: skip

NO_RAPL = "this machine shows no RAPL counters (/sys/class/powercap), as most virtual ones"


class HostCounters:
    """Counters of the machine that benchspec runs on; `root` is where /proc and /sys are."""

    name = "host"

    def __init__(self, families: Families, *, root: Path = Path("/")) -> None:
        self._families = families
        self._root = root
        self._meters = Meters((OSError, RuntimeError, ValueError), _explain)

    def open(self, clock: Clock) -> Sequence[CounterRecord]:
        cores = os.cpu_count() or 1
        percent = 100 / cores
        self._add(("cpu", "cpu_steal"), "%", "cumulative", "psutil.cpu_times", _cpu, scale=percent)
        self._add(("load_running",), "count", "gauge", "/proc/stat procs_running", self._running)
        memory = "psutil.virtual_memory"
        self._add(("memory_used",), "MiB", "gauge", memory, _memory, scale=1 / MIB)
        self._add(("memory_swap_used",), "MiB", "gauge", "psutil.swap_memory", _swap, scale=1 / MIB)
        disk = ("disk_read", "disk_write")
        self._add(disk, "MB/s", "cumulative", "psutil.disk_io_counters", _disk, scale=1e-6)
        network = ("network_rx", "network_tx")
        self._add(network, "MB/s", "cumulative", "psutil.net_io_counters", _network, scale=1e-6)
        self._add(("clocks_cpu",), "MHz", "gauge", "psutil.cpu_freq", _clock)
        self._add(("temperature",), "°C", "gauge", "psutil.sensors_temperatures", _temperature)
        packages = _packages(self._root)
        for number, package in enumerate(packages):
            self._add_energy(package, f"cpu{number}")
        lacking = [] if packages else ["energy"]
        self._meters.records += [
            absent(name, self.name, NO_RAPL, judged=self._families.judge(name, of_device=False))
            for name in filter(self._families.want, lacking)
        ]
        return self._meters.records

    def _add(
        self,
        names: Iterable[str],
        unit: str,
        kind: Literal["gauge", "cumulative"],
        read_as: str,
        read: Callable[[], Sequence[Raw]],
        *,
        scale: float = 1.0,
        wraps_at: int | None = None,
        device: str | None = None,
    ) -> None:
        """Counters that one call reads; all of them, if one is wanted."""
        listed = [*names]
        if any(map(self._families.want, listed)):
            records = [
                CounterRecord(
                    name=name,
                    unit=unit,
                    kind=kind,
                    source=self.name,
                    device=device,
                    read_as=read_as,
                    scale=scale,
                    wraps_at=wraps_at,
                    judged=self._families.judge(name, of_device=False),
                )
                for name in listed
            ]
            self._meters.add(records, read)

    def _add_energy(self, package: Path, device: str) -> None:
        """RAPL, Intel's and AMD's: microjoules since some moment, from zero again at a limit."""
        try:
            limit = int((package / "max_energy_range_uj").read_text()) + 1
        except (OSError, ValueError):
            limit = None
        self._add(
            ("energy",),
            "W",
            "cumulative",
            f"powercap {package.name} energy_uj",
            lambda: [int((package / "energy_uj").read_text())],
            scale=1e-6,
            wraps_at=limit,
            device=device,
        )

    def _running(self) -> list[Raw]:
        for line in (self._root / "proc/stat").read_text().splitlines():
            if line.startswith("procs_running "):
                return [int(line.split()[1])]
        return [None]

    def interval_s(self, asked_s: float) -> float:
        return asked_s

    def sample(self, clock: Clock) -> Iterator[Reading]:
        return self._meters.sample(clock)

    def close(self) -> None:
        pass


def _cpu() -> list[Raw]:
    """Seconds of work since boot, of all cores together; of that, taken by the hypervisor."""
    times = psutil.cpu_times()._asdict()
    busy_s = sum(time_s for name, time_s in times.items() if name not in IDLE_FIELDS)
    return [busy_s, times.get("steal")]


def _memory() -> list[Raw]:
    memory = psutil.virtual_memory()
    return [memory.total - memory.available]


def _swap() -> list[Raw]:
    return [psutil.swap_memory().used]


def _disk() -> list[Raw]:
    counters = psutil.disk_io_counters(nowrap=False)
    return [None, None] if counters is None else [counters.read_bytes, counters.write_bytes]


def _network() -> list[Raw]:
    counters = psutil.net_io_counters(nowrap=False)
    return [counters.bytes_recv, counters.bytes_sent]


def _clock() -> list[Raw]:
    frequency = psutil.cpu_freq()
    return [frequency.current if frequency else None]


_CPU_SENSORS = ("coretemp", "k10temp", "zenpower", "cpu_thermal")


def _temperature() -> list[Raw]:
    """The hottest sensor of the processor."""
    if not hasattr(psutil, "sensors_temperatures"):
        return [None]
    read = psutil.sensors_temperatures()
    found = [sensor.current for name in _CPU_SENSORS for sensor in read.get(name, [])]
    return [max(found, default=None)]


def _packages(root: Path) -> list[Path]:
    """RAPL zones of whole packages (`intel-rapl:0`, not `intel-rapl:0:1`)."""
    zones = (root / "sys/class/powercap").glob("intel-rapl:*")
    return sorted(zone for zone in zones if zone.name.count(":") == 1)


def _explain(failure: Exception) -> str:
    if isinstance(failure, PermissionError):
        return f"only root may read {Path(str(failure.filename)).name}"
    if isinstance(failure, OSError):
        return f"the system says: {failure.strerror or failure}"
    return f"it could not be read ({type(failure).__name__})"
