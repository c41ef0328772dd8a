"""Hardware, host, model, and each engine as asked and as found."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from benchspec.observations.model import Setting
from benchspec.report.facts import Launch
from benchspec.report.material import Material
from benchspec.report.numbers import ABSENT, figure, setting
from benchspec.report.parts import Cell, Pair, Setup, Table
from benchspec.report.sections.found_devices import found_devices
from benchspec.spec.models import Device, Link

MAX_LOG_LINES = 40


def setup(material: Material) -> Setup:
    """What ran: as the spec declared it, and as it was found."""
    environment = {k[:1].upper() + k[1:]: v for k, v in material.facts.environment.items()}
    return Setup(
        hardware=_hardware(material),
        devices=found_devices(material),
        host=_pairs(environment),
        model=tuple(_model(material)),
        engines=tuple(pair for launch in material.facts.launches for pair in _launch(launch)),
        settings=_settings(material),
        log=_log(material),
        versions=_pairs(material.facts.versions),
    )


def _pairs(facts: Mapping[str, str]) -> tuple[Pair, ...]:
    return tuple(Pair(label, value) for label, value in facts.items() if value)


def _hardware(material: Material) -> Table | None:
    hardware = material.spec.hardware
    rows = [*map(_device, hardware.devices), *map(_link, hardware.links)]
    return Table("Declared hardware", ("Part", "Kind", "Facts"), tuple(rows)) if rows else None


def _device(device: Device) -> tuple[Cell, ...]:
    facts = [
        device.name,
        f"memory {device.memory}" if device.memory else None,
        f"bandwidth {device.memory_bandwidth} [{device.source}]"
        if device.memory_bandwidth
        else None,
        f"share {device.share}" if device.share else None,
        f"memory clock {device.memory_clock}" if device.memory_clock else None,
        f"power limit {device.power_limit}" if device.power_limit else None,
        f"PCI {device.pci_id}" if device.pci_id else None,
    ]
    return Cell(device.id), Cell(device.kind), Cell(", ".join(f for f in facts if f) or ABSENT)


def _link(link: Link) -> tuple[Cell, ...]:
    facts = [
        f"gen {link.gen} x{link.lanes or '?'}" if link.gen else None,
        f"capacity {link.bandwidth} [declared]" if link.bandwidth else None,
        f"copy {link.measured} [measured]" if link.measured else None,
        f"latency {link.latency} [measured]" if link.latency else None,
    ]
    name = " – ".join(link.between)
    return Cell(name), Cell(link.kind), Cell(", ".join(f for f in facts if f) or ABSENT)


def _model(material: Material) -> Iterator[Pair]:
    model = material.spec.model
    facts = {
        "Name": model.name,
        "Source": model.source,
        "Parameters": _parameters(material),
        "Bits per weight": figure(model.bits_per_weight) if model.bits_per_weight else None,
        "Bytes per token": str(model.bytes_per_token) if model.bytes_per_token else None,
        "File size": str(model.size) if model.size else None,
        "Architecture": model.architecture,
    }
    yield from (Pair(k, v, "declared" if k != "Source" else None) for k, v in facts.items() if v)
    if model.sha256:
        yield Pair("SHA-256, as pinned", model.sha256, code=True)
    for digest in sorted({x.model_sha256 for x in material.facts.launches if x.model_sha256}):
        yield Pair("SHA-256, as found", digest, "measured", code=True)


def _parameters(material: Material) -> str | None:
    parameters = material.spec.model.parameters
    if parameters is None or parameters.total is None:
        return None
    active = f", {parameters.active / 1e9:g} B active" if parameters.active else ""
    return f"{parameters.total / 1e9:g} B{active}"


def _launch(launch: Launch) -> Iterator[Pair]:
    if launch.attach:
        yield Pair(f"{launch.arm}: attached to", launch.attach, code=True)
    if launch.argv:
        yield Pair(f"{launch.arm}: started as", shlex.join(launch.argv), code=True)
    if launch.env:
        shown = " ".join(f"{k}={v}" for k, v in launch.env.items())
        yield Pair(f"{launch.arm}: environment", shown, code=True)
    if launch.build:
        yield Pair(f"{launch.arm}: build", launch.build, "measured")


def _settings(material: Material) -> Table | None:
    rows = [
        (Cell(arm), Cell(s.name, code=True), *_asked_and_found(s))
        for arm, seen in material.observations.arms.items()
        for s in seen.settings
    ]
    head = ("Arm", "Setting", "Asked", "Found")
    return Table("Engine settings, asked and found", head, tuple(rows)) if rows else None


def _asked_and_found(found: Setting) -> tuple[Cell, Cell]:
    asked = Cell(
        "not stated" if found.asked is None else setting(found.asked), note=found.asked_source
    )
    if found.found is None:
        return asked, Cell("not read back")
    return asked, Cell(setting(found.found), "measured", found.found_source)


def _log(material: Material) -> Table | None:
    rows = [
        (
            Cell(arm),
            Cell(line.effect),
            Cell(line.text[:400], code=True, note=f"line {line.line}" if line.line else None),
        )
        for arm, seen in material.observations.arms.items()
        for line in seen.log
    ]
    note = (
        f"{len(rows) - MAX_LOG_LINES} more lines in the bundle." if rows[MAX_LOG_LINES:] else None
    )
    head = ("Arm", "Effect", "Line of the engine's log")
    shown = tuple(rows[:MAX_LOG_LINES])
    return Table("What the engine's log says", head, shown, note=note) if rows else None
