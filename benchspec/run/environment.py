"""This machine and these versions, as far as a reader needs them; nothing that names its owner."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil

from benchspec.spec.models import Device
from benchspec.telemetry import identity
from benchspec.telemetry.probe import cache

LIBRARIES = (
    "benchspec",
    "httptools",
    "matplotlib",
    "numpy",
    "pydantic",
    "uvloop",
    "weasyprint",
    "xllamacpp",
)
"""What the figures or the report may depend on."""


def environment() -> dict[str, str]:
    """Label -> value, in the order to print. `processor` and `cores` decide about resuming."""
    cores = os.cpu_count() or 1
    return {
        "processor": _processor(),
        "cores": str(cores),
        "memory": f"{psutil.virtual_memory().total / 2**30:.1f} GiB",
        "system": platform.system(),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "governor": _first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "python": platform.python_version(),
    }


def hardware(devices: Sequence[Device], env: Mapping[str, str]) -> identity.Facts:
    """Device id -> facts of this machine's cards, and of its processor under the id that the spec
    gives its only CPU, else `cpu`. `env` is the engine's environment."""
    cpus = [device.id for device in devices if device.kind == "cpu"]
    cpu: dict[str, identity.Fact] = {
        "name": _processor(),
        "cores": os.cpu_count() or 1,
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
    }
    found = {**identity.cards(devices, env), cpus[0] if len(cpus) == 1 else "cpu": cpu}
    return {device: {**facts, **_probed(facts)} for device, facts in found.items()}


def _probed(facts: Mapping[str, identity.Fact]) -> dict[str, identity.Fact]:
    """What `benchspec probe` measured of this device, if it was run on this machine: reading the
    largest buffer, best and median of its repeats, and the curve where there are several buffers.
    Kept figures that cannot be read are passed over."""
    kept = cache.recall(facts) or {}
    card, host = _map(kept.get("gpu")), _map(kept.get("host"))
    points = host.get("points")
    buffers = [card] if card else [_map(p) for p in points] if isinstance(points, list) else []
    found = _copies(card)
    largest = _map(buffers[-1].get("read")) if buffers else {}
    if (best := _gb_s(largest.get("best"))) is None:
        return found
    found["probed_read_gb_s"] = best
    if (median := _gb_s(largest.get("median"))) is not None:
        found["probed_read_median_gb_s"] = median
    if (size := _mib(buffers[-1])) is not None:
        found["probed_buffer_mib"] = size
    curve = [text for buffer in buffers if (text := _on_the_curve(buffer)) is not None]
    if len(curve) > 1:
        found["probed_curve"] = ", ".join(curve)
    if host.get("settled") is False and not card:
        found["probed_still_falls"] = "yes"
    return found


def _copies(card: Mapping[str, Any]) -> dict[str, identity.Fact]:
    """Median copies of a card, GB/s: from and into host memory, and to the other card that is slowest
    to reach. Cards of one kind share what was kept, so no other card is named."""
    others = [_gb_s(_map(rates).get("median")) for rates in _map(card.get("to_card")).values()]
    copies = {
        "probed_from_host_gb_s": _gb_s(_map(card.get("from_host")).get("median")),
        "probed_into_host_gb_s": _gb_s(_map(card.get("to_host")).get("median")),
        "probed_between_cards_gb_s": min((s for s in others if s is not None), default=None),
    }
    return {name: speed for name, speed in copies.items() if speed is not None}


def _on_the_curve(buffer: Mapping[str, Any]) -> str | None:
    """`8 MiB: 60..61 GB/s`, median to best, as a spec writes it; None without size or speed."""
    size, read = _mib(buffer), _map(buffer.get("read"))
    if size is None or (best := _gb_s(read.get("best"))) is None:
        return None
    median = _gb_s(read.get("median")) or best
    return f"{size} MiB: {min(median, best)}..{best} GB/s"


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _gb_s(value: object) -> float | None:
    """B/s in GB/s, to a tenth; None for what is no speed."""
    real = isinstance(value, int | float) and 0 < value < float("inf")
    return round(value / 1e9, 1) if real and isinstance(value, int | float) else None


def _mib(buffer: Mapping[str, Any]) -> int | None:
    size = buffer.get("buffer_bytes", buffer.get("size_bytes"))
    return size >> 20 if isinstance(size, int) and size > 0 else None


def link_probes(facts: identity.Facts) -> list[dict[str, Any]]:
    """What `benchspec probe` timed between this machine's cards, each once: fields of LinkProbe."""
    kept = [(cache.recall(card) or {}).get("links") for card in facts.values()]
    links = [link for links in kept if isinstance(links, list) for link in links]
    return [link for index, link in enumerate(links) if link not in links[:index]]


def versions() -> dict[str, str]:
    """Installed versions of what the figures or the report may depend on."""
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    for line in _lines("/proc/cpuinfo"):
        key, _, value = line.partition(":")
        if key.strip() in {"model name", "Model", "Hardware"}:
            return value.strip()
    return platform.processor() or "not recorded"


def _first_line(path: str) -> str:
    return next(iter(_lines(path)), "not recorded")


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
