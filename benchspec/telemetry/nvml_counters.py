"""What is read of an NVIDIA card: a row per call, field, bit and buffer; numbers as in nvml.h.

`docs/telemetry.md` says what each means. Rows are never chosen by a product's name: every one is
tried on the card.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

MIB = 2**20


@dataclass(frozen=True)
class Gauge:
    """A call that answers with one number, or with what `pick` takes it out of."""

    name: str
    unit: str
    call: str
    arguments: tuple[int, ...] = ()
    scale: float = 1.0
    pick: Callable[[Any], int] = int


@dataclass(frozen=True)
class Field:
    """A value of nvmlDeviceGetFieldValues: one call reads all of them."""

    number: int
    name: str
    unit: str
    kind: Literal["cumulative", "gauge"] = "cumulative"
    scale: float = 1.0
    scope: int = 0


GAUGES = (
    Gauge("memory_used", "MiB", "nvmlDeviceGetMemoryInfo", (), 1 / MIB, lambda info: info.used),
    Gauge("power", "W", "nvmlDeviceGetPowerUsage", (), 1e-3),
    Gauge("temperature", "°C", "nvmlDeviceGetTemperature", (0,)),
    Gauge("clocks_sm", "MHz", "nvmlDeviceGetClockInfo", (1,)),
    Gauge("clocks_memory", "MHz", "nvmlDeviceGetClockInfo", (2,)),
    Gauge("pcie_gen", "generation", "nvmlDeviceGetCurrPcieLinkGeneration"),
    Gauge("pcie_lanes", "lanes", "nvmlDeviceGetCurrPcieLinkWidth"),
    Gauge("processes", "count", "nvmlDeviceGetComputeRunningProcesses", (), 1.0, len),
)

ALL_LINKS = 0xFFFFFFFF
"""Scope of an NVLink field: the sum over the card's links."""

FIELDS = (
    Field(197, "pcie_tx", "MB/s", scale=1e-6),
    Field(198, "pcie_rx", "MB/s", scale=1e-6),
    Field(138, "nvlink_tx", "MB/s", scale=1024e-6, scope=ALL_LINKS),
    Field(139, "nvlink_rx", "MB/s", scale=1024e-6, scope=ALL_LINKS),
    Field(83, "energy", "W", scale=1e-3),
    Field(74, "throttle_time_power", "%", scale=100 / 1e9),
    Field(75, "throttle_time_thermal", "%", scale=100 / 1e9),
    Field(82, "temperature_memory", "°C", "gauge"),
)

THROUGHPUT = {"pcie_tx": 0, "pcie_rx": 1}
"""What stands in for fields 197 and 198: the direction for nvmlDeviceGetPcieThroughput, in KB/s
(1000 bytes are assumed; nvml.h does not say)."""

THROUGHPUT_WINDOW_S = 0.020
"""What that call looks at, and how long it blocks (nvml.h)."""

REASONS = {
    "throttle_power_cap": 0x4,
    "throttle_hw_slowdown": 0x8,
    "throttle_thermal": 0x20 | 0x40,
    "throttle_power_brake": 0x80,
}
"""Bits of the clock event reasons: the power cap, a slowdown by the hardware, thermal slowdown by
software or hardware, the power brake. The rest (idle, application clocks) is no limit."""

RINGS = {"utilization": 1, "utilization_memory": 2}
"""Buffers that the driver fills by itself, by their number for nvmlDeviceGetSamples."""

RATES_WINDOW_S = 1.0
"""What stands in for them, nvmlDeviceGetUtilizationRates, looks at 1/6 s to 1 s by product."""

NAMES = (*RINGS, *(row.name for row in GAUGES), *(row.name for row in FIELDS), *REASONS)

WRAP = 2**32
"""PCIe byte counters are 32 bits wide in the driver: "Value can be wrapped" (nvml.h)."""

WRAP_SHARE = 0.9
"""Of one turn of such a counter at the link's full speed, at most this much between readings."""

_UNION = {0: "dVal", 1: "uiVal", 2: "ulVal", 3: "ullVal", 4: "sllVal", 5: "siVal", 6: "usVal"}
"""Member of a value's union by its type."""

UNSIGNED_INT = 1


def number(value: Any, kind: int) -> int | float | None:
    """The number in an NVML union; None for a type that is not known."""
    member = _UNION.get(kind)
    found: int | float | None = None if member is None else getattr(value, member)
    return found
