"""From what a spec says under `telemetry` to sources that can be opened."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from benchspec.spec.models import Device, Spec
from benchspec.store.tracks import CounterRecord
from benchspec.telemetry import amd, dmon, engine, host_counters, nvml
from benchspec.telemetry.amd import Amd, AmdPackets
from benchspec.telemetry.base import Clock, Families, Reading, Source, unavailable
from benchspec.telemetry.dmon import Dmon
from benchspec.telemetry.engine import Ask, EngineCounters
from benchspec.telemetry.host_counters import HostCounters
from benchspec.telemetry.nvml import Nvml

INTERVAL_S = 0.2
"""Sampling interval where the spec names none."""

SHORTEST_INTERVAL_S = 0.02
"""Faster than this, the sampling would take part in what it samples."""

ELSEWHERE = "the engine runs on another machine, which this source cannot see"


@dataclass(frozen=True)
class Wanted:
    """What a spec asks for. Without `sources` nothing is sampled."""

    sources: tuple[str, ...] = ()
    families: Families = field(default_factory=Families)
    interval_s: float = INTERVAL_S
    devices: tuple[Device, ...] = ()


@dataclass(frozen=True)
class Around:
    """What a source may need of the engine that is measured: its counters, its environment, and
    whether it runs on this machine."""

    ask: Ask
    env: Mapping[str, str]
    local: bool


def wanted(spec: Spec) -> Wanted:
    """The part of a spec that says what to sample.

    Energy is sampled for a hypothesis about joules, whatever counters are named; `waiting` always,
    because it decides whether requests queued.
    """
    telemetry, interval = spec.telemetry, spec.telemetry.interval
    tests = [h.test.metric for h in spec.hypotheses if h.test is not None]
    joules = any((metric or "").startswith("joules") for metric in tests)
    return Wanted(
        sources=tuple(dict.fromkeys(name.strip().lower() for name in telemetry.sources)),
        families=Families(
            tuple(dict.fromkeys(map(_family, telemetry.counters))),
            ("waiting", "running", *(["energy"] if joules else [])),
        ),
        interval_s=max(SHORTEST_INTERVAL_S, float(interval.low)) if interval else INTERVAL_S,
        devices=tuple(spec.hardware.devices),
    )


def _family(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")


Make = Callable[[Wanted, Around], Iterator[Source]]


def _nvml(what: Wanted, around: Around) -> Iterator[Source]:
    yield Nvml(what.families, what.devices, around.env)


def _amd(what: Wanted, around: Around) -> Iterator[Source]:
    yield Amd(what.families, what.devices)
    yield AmdPackets(what.families, what.devices)


def _host(what: Wanted, around: Around) -> Iterator[Source]:
    yield HostCounters(what.families)


def _engine(what: Wanted, around: Around) -> Iterator[Source]:
    yield EngineCounters(what.families, around.ask)


def _dmon(what: Wanted, around: Around) -> Iterator[Source]:
    yield Dmon(what.families, what.devices)


SOURCES: dict[str, tuple[Make, tuple[str, ...]]] = {
    "nvml": (_nvml, nvml.NAMES),
    "amd": (_amd, amd.NAMES),
    "host": (_host, host_counters.NAMES),
    "engine": (_engine, tuple(row.name for row in engine.ROWS)),
    "dmon": (_dmon, dmon.NAMES),
}
"""Name in a spec -> how it is made, and the counters that it may have."""


def sources_of(what: Wanted, around: Around) -> list[Source]:
    """The sources to sample while one engine runs; those that cannot be had say why when opened."""
    found: list[Source] = []
    for name in what.sources:
        make, offered = SOURCES.get(name, (None, ()))
        if make is None:
            found.append(_Missing(name, offered, what.families, "there is no source of this name"))
        elif around.local or name == EngineCounters.name:
            found += make(what, around)
        else:
            found.append(_Missing(name, offered, what.families, ELSEWHERE))
    return found


@dataclass(frozen=True)
class _Missing:
    """Stands for a source that cannot be had here."""

    name: str
    offered: Iterable[str]
    families: Families
    reason: str

    def open(self, clock: Clock) -> Sequence[CounterRecord]:
        return unavailable(self.name, self.offered, self.families, self.reason)

    def interval_s(self, asked_s: float) -> float:
        return max(asked_s, 1.0)

    def sample(self, clock: Clock) -> Iterable[Reading]:
        return ()

    def close(self) -> None:
        pass
