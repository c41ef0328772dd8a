"""This machine and these versions, as far as a reader needs them; nothing that names its owner."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

import psutil

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
