"""Figures of a probe, kept under what the device is, so that a run can say that they were measured."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchspec.errors import StorageFailure

LIMIT_BYTES = 1 << 20
STABLE = ("name", "pci_id", "pci_bus", "memory_mib", "memory_gib", "cores", "memory_clock_mhz")
"""What makes a device the same one; everything else of it may change from day to day. Two cards of
one model differ in their address alone, and may sit in slots of different width."""


def folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where figures are kept: `$XDG_CACHE_HOME/benchspec/probe`."""
    base = environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "benchspec" / "probe"


def key(facts: Mapping[str, Any]) -> str:
    """A file name for a device, from what makes it the same one."""
    stable = {name: facts[name] for name in STABLE if name in facts}
    text = json.dumps(stable, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def keep(facts: Mapping[str, Any], figures: Mapping[str, Any], where: Path | None = None) -> Path:
    """Write the figures of the device that `facts` describe. Raises StorageFailure."""
    path = (where or folder()) / f"{key(facts)}.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"device": dict(facts), **figures}, indent=2, sort_keys=True)
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise StorageFailure(
            f"The figures could not be kept in {path.parent}: {error.strerror}.",
            hint="Set XDG_CACHE_HOME to a folder where you may write.",
        ) from error
    return path


def recall(facts: Mapping[str, Any], where: Path | None = None) -> dict[str, Any] | None:
    """What was kept of a device; None where there is nothing, or nothing that can be read."""
    path = (where or folder()) / f"{key(facts)}.json"
    try:
        if path.stat().st_size > LIMIT_BYTES:
            return None
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
