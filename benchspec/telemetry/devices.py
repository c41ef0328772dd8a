"""Which of the cards in this machine is which of the spec's devices. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from benchspec.knowledge import accelerators
from benchspec.spec.models import Device


class Seen(Protocol):
    """What a driver tells of a card before anything is measured."""

    @property
    def index(self) -> int: ...
    @property
    def name(self) -> str | None: ...
    @property
    def pci_id(self) -> str | None: ...


def identified(
    devices: Sequence[Device],
    cards: Sequence[Seen],
    env: Mapping[str, str] | None = None,
    *,
    prefix: str = "gpu",
) -> dict[int, str]:
    """Index of a card -> device id, for the cards to watch.

    A declared GPU gets the first free card that does not contradict its `pci_id` and `name`, in
    the order of the driver (the PCI bus), or of CUDA_VISIBLE_DEVICES in the engine's `env` where
    that lists indices. Without any declared GPU every card is watched, as `prefix` 0, 1, ...
    """
    declared = [device for device in devices if device.kind == "gpu"]
    ordered = _visible_first(cards, (env or {}).get("CUDA_VISIBLE_DEVICES", ""))
    if not declared:
        return {card.index: f"{prefix}{number}" for number, card in enumerate(ordered)}
    found: dict[int, str] = {}
    for device in declared:
        fits = (c for c in ordered if c.index not in found and not _contradicts(device, c))
        card = next(fits, None)
        if card is not None:
            found[card.index] = device.id
    return found


def _visible_first(cards: Sequence[Seen], visible: str) -> list[Seen]:
    wanted = [int(part) for part in visible.split(",") if part.strip().isdigit()]
    by_index = {card.index: card for card in cards}
    first = [by_index[index] for index in dict.fromkeys(wanted) if index in by_index]
    return [*first, *(card for card in cards if card not in first)]


def _contradicts(device: Device, card: Seen) -> bool:
    if device.pci_id and card.pci_id:
        return device.pci_id.lower() != card.pci_id.lower()
    if device.name and card.name:
        declared = {each.id for each in accelerators.candidates(device.name)}
        found = {each.id for each in accelerators.candidates(card.name)}
        return bool(declared and found and not declared & found)
    return False
