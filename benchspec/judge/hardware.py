"""What the devices and links of an arm can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from benchspec.judge.interval import Interval, show
from benchspec.judge.result import Input
from benchspec.judge.thresholds import limit
from benchspec.observations.node import Provenance, SettingValue
from benchspec.spec.models import Device, Link, Model
from benchspec.spec.quantity import Quantity, QuantityError, parse_quantity

_PCIE_LANE_MB_S = {1: 250.0, 2: 500.0, 3: 984.6, 4: 1969.0, 5: 3938.0, 6: 7563.0}
"""Per direction: GT/s x encoding / 8 (8b/10b to generation 2, 128b/130b to 5, flits in 6)."""

_SHEET = "the table of accelerators"
_FOUND: Sequence[tuple[str, Provenance, str]] = (
    ("bandwidth_gb_s", "derived", "memory clock x {transfers} x bus width / 8"),
    ("datasheet_gb_s", "datasheet", _SHEET),
)
"""Facts that stand for a device's memory bandwidth, GB/s, where no probe of it is known; the first
that is there counts."""

Known = tuple[Interval, Provenance, str]
"""A link's bandwidth in B/s, how it is known, and from what."""

_Point = tuple[float, Interval, str]
"""A buffer in bytes, how fast it was read in B/s, and the buffer as it is written."""


@dataclass(frozen=True)
class Bandwidth:
    """A device's memory bandwidth in B/s; `at_least` where no probe was as large as the model."""

    value: Interval
    provenance: Provenance
    source: str
    at_least: bool = False


def bandwidth(device: Device, resident: float | None) -> Bandwidth | None:
    """The denominator for a device: measured at a buffer as large as what is read, if there is one.

    A datasheet figure gives way to a measured curve. On the curve the smallest buffer that holds
    `resident` bytes counts; where none does, the largest buffer, which is still falling: then a
    fraction of it is `at least`.
    """
    curve = _in_order(device.bandwidth_curve)
    too_small = bool(curve) and resident is not None and curve[-1][0] < resident
    stated = device.memory_bandwidth
    if stated is not None and not (curve and device.source == "datasheet"):
        return Bandwidth(Interval.of(stated), device.source, device.name or device.id, too_small)
    if not curve:
        return None
    fits = _holding(curve, resident)
    _, speed, size = fits[0] if fits else curve[-1]
    return Bandwidth(speed, "measured", f"probe with a buffer of {size}", not fits)


def _in_order(curve: Mapping[str, Quantity]) -> list[_Point]:
    """The points of a stated curve, the smallest buffer first."""
    points = [
        (parse_quantity(size, "size").high, Interval.of(speed), size)
        for size, speed in curve.items()
    ]
    return sorted(points, key=lambda point: point[0])


def _holding(curve: Sequence[_Point], resident: float | None) -> list[_Point]:
    """The points of which the buffer holds `resident` bytes; none where that is not known."""
    return [point for point in curve if resident is not None and point[0] >= resident]


def found_bandwidth(
    device: str, identity: Mapping[str, SettingValue], resident: float | None
) -> Bandwidth | None:
    """What a run found of `device`, the best there is: a probe of it (median to best), what its
    clocks give, or the datasheet of the card that it is. Of a probe that kept its curve the
    smallest buffer counts that holds `resident` bytes; where none is known to, the largest, and one
    that was still falling then gives `at least`."""
    probe = probed(device, identity, resident)
    if probe is not None:
        return probe
    for name, provenance, source in _FOUND:
        if (speed := found_number(device, name, identity)) is not None:
            transfers = found_number(device, "memory_transfers", identity) or 2
            said = f"{device}: {source.format(transfers=show(transfers))}"
            return Bandwidth(Interval.of(speed * 1e9), provenance, said)
    return None


def probed(
    device: str, identity: Mapping[str, SettingValue], resident: float | None
) -> Bandwidth | None:
    """What `benchspec probe` read of `device` on this machine, as a run recalls it."""
    best = found_number(device, "probed_read_gb_s", identity)
    if best is None:
        return None
    source = f"{device}: benchspec probe on this machine"
    fits = _holding(_probed_curve(identity.get(f"{device}.probed_curve")), resident)
    if fits:
        _, speed, size = fits[0]
        return Bandwidth(speed, "measured", f"{source}, a buffer of {size}")
    median = found_number(device, "probed_read_median_gb_s", identity) or best
    mib = found_number(device, "probed_buffer_mib", identity)
    falls = identity.get(f"{device}.probed_still_falls") == "yes"
    small = falls and (mib is None or resident is None or mib * 2**20 < resident)
    known = Interval(min(median, best) * 1e9, best * 1e9)
    return Bandwidth(known, "measured", source, small)


def datasheet(device: Device, identity: Mapping[str, SettingValue]) -> Bandwidth | None:
    """What a datasheet says of `device`: as the spec states it, else that of the card found."""
    stated = device.datasheet_bandwidth
    if stated is None and device.source == "datasheet":
        stated = device.memory_bandwidth
    if stated is not None:
        return Bandwidth(Interval.of(stated), "datasheet", device.name or device.id)
    found = found_number(device.id, "datasheet_gb_s", identity)
    if found is None:
        return None
    return Bandwidth(Interval.of(found * 1e9), "datasheet", f"{device.id}: {_SHEET}")


def _probed_curve(fact: SettingValue) -> list[_Point]:
    """The points of `8 MiB: 60..61 GB/s, 16 MiB: 40..41 GB/s`; what cannot be read is left out, for
    the fact may be from somebody else's bundle."""
    points = []
    for one in fact.split(",") if isinstance(fact, str) else ():
        size, _, speed = one.strip().partition(": ")
        with suppress(QuantityError):
            known = Interval.of(parse_quantity(speed, "bandwidth"))
            if known.low > 0:
                points.append((parse_quantity(size, "size").high, known, size))
    return sorted(points, key=lambda point: point[0])


def found_number(device: str, name: str, identity: Mapping[str, SettingValue]) -> float | None:
    """A fact of a device that was found, where it is a number above zero."""
    value = identity.get(f"{device}.{name}")
    return value if isinstance(value, int | float) and 0 < value < float("inf") else None


def shares(devices: Sequence[Device]) -> tuple[list[Interval], bool]:
    """Each device's share of the model, and whether that was stated (else equal parts)."""
    stated = [d.share for d in devices if d.share is not None]
    if len(stated) == len(devices):
        return [Interval.of(s) for s in stated], True
    return [Interval.of(1 / len(devices))] * len(devices), len(devices) == 1


def read_time_s(
    size: Interval, devices: Sequence[Device], speeds: Sequence[Bandwidth], split: str | None
) -> Interval:
    """Shortest time to read `size` bytes: the devices' times add up where they take turns (layer
    split, RAM and VRAM), and the slowest counts where they read together (tensor split)."""
    parts, _ = shares(devices)
    times = [size * part / speed.value for part, speed in zip(parts, speeds, strict=True)]
    if split == "tensor":
        return Interval(max(t.low for t in times), max(t.high for t in times))
    total = Interval(0.0, 0.0)
    for time in times:
        total = total + time
    return total


def resident_bytes(model: Model) -> float | None:
    """How large a buffer a probe must have read to stand for this model."""
    known = model.resident or model.size
    return known.high if known is not None else None


def capacity(link: Link) -> Known | None:
    """A link's bandwidth per direction in B/s: stated, else from PCIe generation and lanes."""
    if link.bandwidth is not None:
        return Interval.of(link.bandwidth), "declared", _between(link)
    if link.kind == "pcie" and link.gen is not None and link.lanes is not None:
        return pcie(link.gen, link.lanes)
    return None


def pcie(generation: int, lanes: int) -> Known | None:
    """What the standard gives per direction; None for a generation that is not known."""
    if generation not in _PCIE_LANE_MB_S:
        return None
    speed = _PCIE_LANE_MB_S[generation] * lanes * 1e6
    return Interval.of(speed), "datasheet", f"PCIe {generation}.0 x{lanes}, per direction"


def recalled(link: Link, identity: Mapping[str, SettingValue]) -> Known | None:
    """What `benchspec probe` copied over `link` on this machine, as a run recalls it: between two
    cards the slower one's figure, between a card and the host both directions. A copy faster than the
    link can be went another way."""
    ends = link.between

    def of(name: str) -> list[float]:
        return [v for end in ends if (v := found_number(end, name, identity)) is not None]

    cards = of("probed_between_cards_gb_s")
    host = of("probed_from_host_gb_s") + of("probed_into_host_gb_s")
    if len(cards) == len(ends):
        speed = Interval.of(min(cards) * 1e9)
    elif host and of("cores"):
        speed = Interval(min(host) * 1e9, max(host) * 1e9)
    else:
        return None
    most = capacity(link)
    if most is not None and (speed / most[0]).low > limit("ceiling.impossible"):
        return None
    return speed, "measured", f"benchspec probe, copy {' - '.join(ends)}"


def slowest(
    links: Sequence[Link],
    *,
    measured_first: bool,
    copied: Callable[[Link], Known | None] = lambda link: None,
) -> Known | None:
    """The link that a chain is as fast as; `measured_first` prefers a copy test to the standard.
    `copied` gives what a run recalls of one, where the spec states none."""
    found: list[Known] = []
    for link in links:
        copy = copied(link)
        if link.measured is not None:
            copy = Interval.of(link.measured), "measured", f"copy {' - '.join(link.between)}"
        stated = capacity(link)
        known = copy or stated if measured_first else stated or copy
        found += [known] if known is not None else []
    return min(found, key=lambda known: known[0].low, default=None)


def _between(link: Link) -> str:
    return f"link {' - '.join(link.between)}"


def as_input(name: str, value: Interval, unit: str, provenance: Provenance, source: str) -> Input:
    """An input that is no reading of a step."""
    return Input(name=name, value=value.number, unit=unit, provenance=provenance, source=source)


def gb(value: Interval, digits: int = 4) -> str:
    """Bytes (or B/s) in units of 1e9, for print."""
    return show(value * 1e-9, digits)
