"""How two NVIDIA cards reach each other: what `nvidia-smi topo -m` and `topo -p2p r` show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import ModuleType

from benchspec.telemetry.nvml_cards import Card, as_the_system, ask

ANCESTORS = {0: "board", 10: "PIX", 20: "PXB", 30: "PHB", 40: "NODE", 50: "SYS"}
"""The nearest thing two cards share: one board, one PCIe switch, several switches, the host bridge
of a processor, several bridges of one NUMA node, the link between sockets (nvml.h, and the words of
`nvidia-smi topo -m`)."""

PEER_READ = 0
PEER_STATUS = {
    0: "ok",
    1: "chipset not supported",
    2: "card not supported",
    3: "topology not supported",
    4: "disabled",
    5: "not supported",
}
"""What the driver says of reading from one card's memory by the other. It is no measurement: a path
that it calls ok may still be slow or broken."""

MOST_NVLINKS = 18


def paths(
    nvml: ModuleType, card: Card, others: Sequence[tuple[Card, str]]
) -> Iterator[tuple[str, str | int]]:
    """Facts of one card about each of the others, which come with their device ids.

    `path_to_ID` is a word of ANCESTORS, `peer_read_to_ID` one of PEER_STATUS, `nvlinks_to_ID` how
    many links lead straight there; `nvlinks` counts all that are up, also those to a switch.
    """
    ends = list(_nvlinks(nvml, card))
    if ends:
        yield "nvlinks", len(ends)
    for other, device in others:
        ancestor = ask(nvml, "nvmlDeviceGetTopologyCommonAncestor", card.handle, other.handle)
        if ancestor in ANCESTORS:
            yield f"path_to_{device}", ANCESTORS[ancestor]
        status = ask(nvml, "nvmlDeviceGetP2PStatus", card.handle, other.handle, PEER_READ)
        if status in PEER_STATUS:
            yield f"peer_read_to_{device}", PEER_STATUS[status]
        if direct := ends.count(other.bus):
            yield f"nvlinks_to_{device}", direct


def _nvlinks(nvml: ModuleType, card: Card) -> Iterator[str | None]:
    """The PCI address at the other end of each link that is up; None where it is not told."""
    for link in range(MOST_NVLINKS):
        if ask(nvml, "nvmlDeviceGetNvLinkState", card.handle, link):
            end = ask(nvml, "nvmlDeviceGetNvLinkRemotePciInfo", card.handle, link)
            yield as_the_system(end.busId) if end else None
