"""What a PCIe link can carry, and how narrow the way to a card is (sysfs)."""

from __future__ import annotations

import re
from pathlib import Path

LANE_BYTES_S = {1: 250e6, 2: 500e6, 3: 984.6e6, 4: 1969e6, 5: 3938e6, 6: 7563e6}
"""Per lane and direction by generation: transfers x encoding / 8 (8b/10b to generation 2, 128b/130b
to 5, 242 of 256 bytes of a flit in 6)."""

_GENERATION_OF_GT_S = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5, 64.0: 6}


def generation(speed: str) -> int | None:
    """`8.0 GT/s PCIe`, as sysfs writes it, is generation 3."""
    rate = re.match(r"\d+(?:\.\d+)?", speed)
    return _GENERATION_OF_GT_S.get(float(rate[0])) if rate else None


def bytes_per_s(generation: int | None, lanes: int | None) -> float:
    """The most that one direction carries; an unknown part counts as the widest there is, x16 of
    generation 5."""
    return LANE_BYTES_S.get(generation or 5, LANE_BYTES_S[5]) * (lanes or 16)


def narrowest(bus: str, *, root: Path = Path("/")) -> tuple[int, int] | None:
    """Generation and lanes of the slowest link on the way from the processor to the card at `bus`
    (0000:01:00.0), as the parts are built: a switch or a riser above a card is invisible to NVML.

    None where sysfs does not say. The links' current state falls when the card is idle, so it is
    not looked at here.
    """
    try:
        card = (root / "sys/bus/pci/devices" / bus).resolve(strict=True)
    except OSError:
        return None
    links = [link for place in (card, *card.parents) if (link := _link(place)) is not None]
    return min(links, key=lambda link: bytes_per_s(*link), default=None)


def _link(place: Path) -> tuple[int, int] | None:
    """What one device on the way is built for."""
    try:
        built_for = generation((place / "max_link_speed").read_text())
        lanes = int((place / "max_link_width").read_text())
    except (OSError, ValueError):
        return None
    return (built_for, lanes) if built_for and lanes > 0 else None
