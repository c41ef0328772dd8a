"""Which source of telemetry can answer for which counter, and what a sample of it looks at."""

OFFERED: dict[str, tuple[str, ...]] = {
    "nvml": (
        "utilization", "memory", "pcie", "nvlink", "clocks", "power", "energy", "temperature", "throttle",
        "processes",
    ),
    "dmon": ("utilization", "memory", "pcie", "clocks", "power", "temperature", "throttle", "violations"),
    "amd": (
        "utilization", "memory", "pcie", "xgmi", "clocks", "power", "energy", "temperature", "throttle",
    ),
    "host": ("cpu", "memory", "network", "disk", "load", "power", "energy", "temperature", "clocks"),
    "engine": ("waiting", "running", "kv", "cache", "tokens", "acceptance", "slots", "queue", "preemptions"),
}  # fmt: skip
"""Source -> counters that it may have; whether this card answers is probed before a run."""

TRAFFIC = ("pcie", "nvlink", "xgmi", "network")
"""Counters of bytes on a link."""

DMON_WINDOW_S = 0.020
"""nvmlDeviceGetPcieThroughput, which dmon prints, counts bytes over 20 ms (nvml.h)."""
DMON_INTERVAL_S = 1.0


def sources_of(counter: str) -> list[str]:
    """The sources that may have `counter` (`pcie`, `pcie_rx`); none for an unknown name."""
    return [s for s, names in OFFERED.items() if counter.strip().lower().startswith(names)]


def offered_by(counter: str) -> list[str]:
    """The same; all of them for an unknown name."""
    return sources_of(counter) or list(OFFERED)
