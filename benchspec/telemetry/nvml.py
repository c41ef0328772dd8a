"""Source `nvml`: NVIDIA cards through NVML (nvidia-ml-py); every counter is tried at the start."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

from benchspec.spec.models import Device
from benchspec.store.tracks import CounterRecord, Kind, Raw
from benchspec.telemetry import nvml_counters as table
from benchspec.telemetry.base import Clock, Families, Reading, absent, unavailable
from benchspec.telemetry.devices import identified
from benchspec.telemetry.meters import Meters
from benchspec.telemetry.nvml_cards import (
    Card,
    NvmlAbsent,
    cards,
    explain,
    final,
    is_final,
    pcie_most,
    start,
)
from benchspec.telemetry.nvml_counters import Field, Gauge
from benchspec.telemetry.nvml_gpm import METRICS, Gpm
from benchspec.telemetry.pcie_link import bytes_per_s

OLDEST_SAMPLE_S = 60.0
"""A newest buffered sample older than this was not stamped by this machine's clock."""


NAMES = (*table.NAMES, *METRICS)


class Nvml:
    """The cards that the spec's `devices` are, or all cards; `env` is the engine's environment."""

    name = "nvml"

    def __init__(
        self,
        families: Families,
        devices: Sequence[Device] = (),
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._families = families
        self._devices = devices
        self._env = env or {}
        self._nvml: ModuleType | None = None
        self._rings: list[_Ring] = []
        self._gpms: list[Gpm] = []
        self._slowest_s = float("inf")

    def open(self, clock: Clock) -> Sequence[CounterRecord]:
        try:
            self._nvml = start()
        except NvmlAbsent as why:
            return unavailable(self.name, NAMES, self._families, str(why))
        self._meters = Meters((self._nvml.NVMLError,), explain, final)
        found = list(cards(self._nvml))
        known = identified(self._devices, found, self._env)
        watched = [(card, known[card.index]) for card in found if card.index in known]
        if not watched:
            reason = f"none of the {len(found)} NVIDIA cards here is a device of this spec"
            return unavailable(self.name, NAMES, self._families, reason)
        polled = [list(self._add(self._nvml, card, device)) for card, device in watched]
        for (card, device), names in zip(watched, polled, strict=True):
            for name in names:
                self._add_throughput(self._nvml, card, device, name)
        return self._meters.records

    def interval_s(self, asked_s: float) -> float:
        return min(asked_s, self._slowest_s)

    def sample(self, clock: Clock) -> Iterator[Reading]:
        if self._nvml is None:
            return
        for ring in self._rings:
            yield from ring.sample(self._nvml, clock)
        for gpm in self._gpms:
            yield from gpm.sample(clock)
        yield from self._meters.sample(clock)

    def close(self) -> None:
        if self._nvml is None:
            return
        for gpm in self._gpms:
            gpm.close()
        self._nvml.nvmlShutdown()

    # --- what a card has -------------------------------------------------------------------------

    def _add(self, nvml: ModuleType, card: Card, device: str) -> Iterator[str]:
        """Everything of one card that answers at once; yields the PCIe counters that must be
        polled, which block and therefore come last."""
        want = self._families.want
        if card.trouble is not None:
            lost = filter(want, NAMES)
            self._meters.records += [
                absent(name, self.name, card.trouble, device=device) for name in lost
            ]
            return
        for name, ring in table.RINGS.items():
            if want(name):
                self._add_ring(nvml, card, device, name, ring)
        for row in table.GAUGES:
            if want(row.name):
                record = self._record(device, row.name, row.unit, "gauge", row.call, row.scale)
                self._meters.add([record], _gauge(nvml, card, row))
        self._add_reasons(nvml, card, device)
        self._add_gpm(nvml, card, device)
        yield from self._add_fields(nvml, card, device)

    def _record(
        self,
        device: str,
        name: str,
        unit: str,
        kind: Kind,
        read_as: str,
        scale: float = 1.0,
        window_s: float | None = None,
    ) -> CounterRecord:
        return CounterRecord(
            name=name,
            unit=unit,
            kind=kind,
            source=self.name,
            device=device,
            read_as=read_as,
            scale=scale,
            window_s=window_s,
            judged=self._families.judge(name, of_device=True),
        )

    def _add_ring(self, nvml: ModuleType, card: Card, device: str, name: str, number: int) -> None:
        """The driver's own buffer of means, without gaps; else what it says at the moment."""
        ring = _Ring(len(self._meters.records), card.handle, number)
        if ring.usable(nvml):
            call = "nvmlDeviceGetSamples"
            self._meters.records.append(self._record(device, name, "%", "window", call))
            self._rings.append(ring)
            return
        call, part = "nvmlDeviceGetUtilizationRates", "gpu" if number == 1 else "memory"
        record = self._record(device, name, "%", "window", call, 1.0, table.RATES_WINDOW_S)
        handle = card.handle
        self._meters.add(
            [record], lambda: [getattr(nvml.nvmlDeviceGetUtilizationRates(handle), part)]
        )

    def _add_gpm(self, nvml: ModuleType, card: Card, device: str) -> None:
        names = [*filter(self._families.want, METRICS)]
        if not names:
            return
        numbers = [METRICS[name] for name in names]
        gpm = Gpm(nvml, card.handle, numbers, len(self._meters.records))
        for name, number, reason in zip(names, numbers, gpm.reasons(), strict=True):
            record = self._record(device, name, "%", "window", f"NVML GPM metric {number}")
            self._meters.records.append(record.model_copy(update={"not_measured": reason}))
        self._gpms.append(gpm)

    def _add_reasons(self, nvml: ModuleType, card: Card, device: str) -> None:
        names = [*filter(self._families.want, table.REASONS)]
        call = "nvmlDeviceGetCurrentClocksEventReasons"
        records = [self._record(device, name, "%", "gauge", call) for name in names]
        masks = [table.REASONS[name] for name in names]
        self._meters.add(records, lambda: _reasons(nvml, card.handle, masks))

    def _add_fields(self, nvml: ModuleType, card: Card, device: str) -> Iterator[str]:
        rows = [row for row in table.FIELDS if self._families.want(row.name)]
        supported, records = [], []
        for row, answer in zip(rows, _answers(nvml, card, rows), strict=True):
            if answer.nvmlReturn == 0:
                supported.append(row)
                records.append(self._field_record(nvml, card, device, row, answer))
            elif row.name in table.THROUGHPUT:
                yield row.name
            else:
                why = f"{explain(nvml.NVMLError(answer.nvmlReturn))} (field {row.number})"
                self._meters.records.append(absent(row.name, self.name, why, device=device))
        self._meters.add(records, _fields(nvml, card, supported))

    def _field_record(
        self, nvml: ModuleType, card: Card, device: str, row: Field, answer: Any
    ) -> CounterRecord:
        read_as = f"NVML field {row.number}"
        record = self._record(device, row.name, row.unit, row.kind, read_as, row.scale)
        value = table.number(answer.value, answer.valueType) or 0
        if row.kind == "gauge" or value >= table.WRAP:
            return record
        if row.name in table.THROUGHPUT:
            most = bytes_per_s(*pcie_most(nvml, card.handle))
            self._slowest_s = min(self._slowest_s, table.WRAP_SHARE * table.WRAP / most)
            return record.model_copy(update={"wraps_at": table.WRAP, "most_per_s": most})
        narrow = answer.valueType == table.UNSIGNED_INT
        return record.model_copy(update={"wraps_at": table.WRAP if narrow else None})

    def _add_throughput(self, nvml: ModuleType, card: Card, device: str, name: str) -> None:
        """PCIe bytes of the 20 ms in which the call blocks: sampled, with gaps."""
        record = self._record(
            device,
            name,
            "MB/s",
            "window",
            "nvmlDeviceGetPcieThroughput",
            1e-3,
            table.THROUGHPUT_WINDOW_S,
        )
        handle, direction = card.handle, table.THROUGHPUT[name]
        self._meters.add([record], lambda: [nvml.nvmlDeviceGetPcieThroughput(handle, direction)])


class _Ring:
    """A buffer of one card that the driver fills; what was taken out of it is not taken again."""

    def __init__(self, counter: int, handle: Any, number: int) -> None:
        self._counter = counter
        self._handle = handle
        self._number = number
        self._newest_us = 0
        self._ended = False

    def usable(self, nvml: ModuleType) -> bool:
        """True when it answers, and its stamps are of this machine's clock."""
        try:
            _, samples = nvml.nvmlDeviceGetSamples(self._handle, self._number, 0)
        except nvml.NVMLError:
            return False
        newest_us = max((sample.timeStamp for sample in samples), default=0)
        return abs(time.time() - newest_us / 1e6) < OLDEST_SAMPLE_S

    def sample(self, nvml: ModuleType, clock: Clock) -> Iterator[Reading]:
        """What is newer than the last time; each value is a mean since the one before."""
        if self._ended:
            return
        try:
            kind, samples = nvml.nvmlDeviceGetSamples(self._handle, self._number, self._newest_us)
        except nvml.NVMLError as error:
            if error.value != nvml.NVML_ERROR_NOT_FOUND:
                self._ended = final(error)
                yield Reading(self._counter, clock(), None, explain(error))
            return
        from_epoch_ns = clock() - time.time_ns()
        for sample in samples:
            if sample.timeStamp > self._newest_us:
                self._newest_us = sample.timeStamp
                at_ns = from_epoch_ns + 1000 * sample.timeStamp
                yield Reading(self._counter, at_ns, table.number(sample.sampleValue, kind))


def _gauge(nvml: ModuleType, card: Card, row: Gauge) -> Callable[[], list[Raw]]:
    handle, call = card.handle, getattr(nvml, row.call)
    return lambda: [row.pick(call(handle, *row.arguments))]


def _reasons(nvml: ModuleType, handle: Any, masks: Sequence[int]) -> list[Raw]:
    """100 % for each mask of which a bit is set now, else 0 %."""
    try:
        bits = nvml.nvmlDeviceGetCurrentClocksEventReasons(handle)
    except nvml.NVMLError as error:
        if error.value != nvml.NVML_ERROR_FUNCTION_NOT_FOUND:
            raise
        bits = nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)
    return [100 if bits & mask else 0 for mask in masks]


def _answers(nvml: ModuleType, card: Card, rows: Sequence[Field]) -> list[Any]:
    """What the card answers to each row; where the call itself fails, that for every one."""
    if not rows:
        return []
    try:
        return list(nvml.nvmlDeviceGetFieldValues(card.handle, _ids(rows)))
    except nvml.NVMLError as error:
        return [SimpleNamespace(nvmlReturn=error.value)] * len(rows)


def _fields(nvml: ModuleType, card: Card, rows: Sequence[Field]) -> Callable[[], list[Raw]]:
    ids = _ids(rows)

    def read() -> list[Raw]:
        answers = nvml.nvmlDeviceGetFieldValues(card.handle, ids)
        lost = next((a.nvmlReturn for a in answers if is_final(a.nvmlReturn)), None)
        if lost is not None:
            raise nvml.NVMLError(lost)
        return [
            table.number(answer.value, answer.valueType) if answer.nvmlReturn == 0 else None
            for answer in answers
        ]

    return read


def _ids(rows: Sequence[Field]) -> list[tuple[int, int]]:
    return [(row.number, row.scope) for row in rows]
