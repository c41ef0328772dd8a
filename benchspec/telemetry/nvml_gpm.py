"""What newer NVIDIA cards count in their own hardware (NVML's GPM: Hopper, and GeForce from the 50
series on): how busy the multiprocessors, the tensor cores and the memory's bandwidth really were."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

from benchspec.store.tracks import Raw
from benchspec.telemetry.base import Clock, Reading
from benchspec.telemetry.nvml_cards import explain, final

METRICS = {"utilization_sm": 2, "utilization_tensor": 5, "utilization_bandwidth": 10}
"""Numbers in nvml.h. The last is bytes moved by the memory as a share of its theoretical bandwidth,
the one number that says whether a card was bound by it."""

SHORTEST_S = 0.1
"""Between the two samples that a value is made of, at least (nvml.h)."""

_UNSUPPORTED = "this card has no counters for performance monitoring (GPM)"
_LEFT_OPEN = "the driver did not say"


class Gpm:
    """Metrics of one card, whose counters are numbered from `first`; a value is a mean since the
    reading before. `close` it."""

    def __init__(self, nvml: ModuleType, handle: Any, metrics: Sequence[int], first: int) -> None:
        self._nvml = nvml
        self._handle = handle
        self._metrics = metrics
        self._first = first
        self._samples: list[Any] = []
        self._taken_s = 0.0
        self._asked: set[int] = set()

    def reasons(self) -> list[str | None]:
        """Per metric why it cannot be read, None where it can: tried once, which takes 0.1 s."""
        try:
            support = self._nvml.nvmlGpmQueryDeviceSupport(self._handle)
            if not support.isSupportedDevice:
                return [_UNSUPPORTED] * len(self._metrics)
            self._samples = [self._nvml.nvmlGpmSampleAlloc() for _ in range(2)]
            self._take()
            time.sleep(SHORTEST_S)
            self._take()
            reasons = [trouble for _, trouble in self._values()]
        except self._nvml.NVMLError as error:
            return [explain(error)] * len(self._metrics)
        self._asked = {place for place, reason in enumerate(reasons) if reason is None}
        return reasons

    def sample(self, clock: Clock) -> Iterator[Reading]:
        """What it was since the last time, unless that is too short ago."""
        if not self._asked or time.monotonic() - self._taken_s < SHORTEST_S:
            return
        asked = sorted(self._asked)
        try:
            self._take()
            values = self._values()
        except self._nvml.NVMLError as error:
            self._asked = set() if final(error) else self._asked
            values = [(None, explain(error))] * len(self._metrics)
        at_ns = clock()
        for place in asked:
            yield Reading(self._first + place, at_ns, *values[place])

    def _take(self) -> None:
        self._samples.reverse()
        self._nvml.nvmlGpmSampleGet(self._handle, self._samples[1])
        self._taken_s = time.monotonic()

    def _values(self) -> list[tuple[Raw, str | None]]:
        """Per metric what it was between the two samples, or why it is not known."""
        question = self._nvml.c_nvmlGpmMetricsGet_t()
        question.version = self._nvml.NVML_GPM_METRICS_GET_VERSION
        question.numMetrics = len(self._metrics)
        question.sample1, question.sample2 = self._samples
        for place, number in enumerate(self._metrics):
            question.metrics[place].metricId = number
        self._nvml.nvmlGpmMetricsGet(question)
        return [self._value(question.metrics[place]) for place in range(len(self._metrics))]

    def _value(self, metric: Any) -> tuple[Raw, str | None]:
        if metric.nvmlReturn:
            return None, explain(self._nvml.NVMLError(metric.nvmlReturn))
        if math.isnan(metric.value):  # there was nothing to count
            return None, _LEFT_OPEN
        return metric.value, None

    def close(self) -> None:
        """Give the samples back."""
        for sample in self._samples:
            self._nvml.nvmlGpmSampleFree(sample)
        self._samples = []
