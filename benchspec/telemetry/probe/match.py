"""Which card of a GPU library is which device of this machine. Pure.

A library numbers the cards its own way (CUDA: the fastest first, and only the visible ones), the
drivers by the PCI bus. A figure that is kept under another card's name is worse than none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchspec.telemetry.probe.gpu import GpuMemory

Facts = Mapping[str, Mapping[str, Any]]


def devices_of(cards: Sequence[GpuMemory], facts: Facts) -> dict[int, str]:
    """A card's number in the library -> device id in `facts`, for the cards where that is certain.

    By PCI address where the library gives it; else by a name that only one of the library's cards
    and only one of the devices has.
    """
    found: dict[int, str] = {}
    for card in cards:
        alike = [other for other in cards if _mark(other) == _mark(card)]
        same = [device for device, each in facts.items() if _fits(card, each)]
        if len(alike) == len(same) == 1:
            found[card.index] = same[0]
    return found


def names_of(cards: Sequence[GpuMemory], known: Mapping[int, str]) -> dict[int, str]:
    """What to call every card: its device id, or where one has none, all by the library's number."""
    if all(card.index in known for card in cards):
        return dict(known)
    return {card.index: f"gpu{card.index}" for card in cards}


def _mark(card: GpuMemory) -> str:
    """What tells a card from the others: its address, else its name."""
    return card.bus or _plain(card.name)


def _plain(name: object) -> str:
    return str(name).strip().casefold()


def _fits(card: GpuMemory, facts: Mapping[str, Any]) -> bool:
    if "pci_id" not in facts:
        return False
    if card.bus is not None:
        return bool(facts.get("pci_bus") == card.bus)
    return _plain(facts.get("name", "")) == _plain(card.name)
