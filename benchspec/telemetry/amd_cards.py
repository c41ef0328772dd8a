"""AMD's cards as the kernel's driver shows them below /sys/class/drm."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

VENDOR = "0x1002"

PREFIX = "amd"
"""Of the ids of cards that no spec declares: a laptop has one of AMD's beside one of NVIDIA's."""


@dataclass(frozen=True)
class Card:
    """One card: its folder in sysfs, its PCI address and vendor:device in hex."""

    index: int
    folder: Path
    bus: str
    pci_id: str
    name: str | None = None


def cards(root: Path = Path("/")) -> Iterator[Card]:
    """Every AMD card, in the order of the PCI bus; none without its driver."""
    folders = {place.resolve() for place in (root / "sys/class/drm").glob("card*/device")}
    found = sorted(folder for folder in folders if text(folder / "vendor") == VENDOR)
    for index, folder in enumerate(found):
        device = (text(folder / "device") or "").removeprefix("0x")
        name = text(folder / "product_name")
        yield Card(index, folder, folder.name, f"1002:{device}", name)


_STATE = re.compile(r"\d+:\s*(\d+)\s*mhz", re.IGNORECASE)


def memory_clock_mhz(card: Card) -> int | None:
    """The highest state of the memory clock (`3: 1249Mhz *`); None where the driver lists none."""
    try:
        listed = (card.folder / "pp_dpm_mclk").read_text("utf-8", "replace")
    except OSError:
        return None
    return max((int(state[1]) for state in _STATE.finditer(listed)), default=None)


def text(path: Path) -> str | None:
    """The first line of a file, None where it cannot be read or is empty."""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    return lines[0].strip() if lines and lines[0].strip() else None
