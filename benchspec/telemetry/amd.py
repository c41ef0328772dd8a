"""Source `amd`: AMD cards through the files of the kernel's driver, and amdsmi where there is one.

Not tried on a card: files and units are those of the kernel's documentation of amdgpu.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchspec.spec.models import Device
from benchspec.store.tracks import CounterRecord, Kind, Raw
from benchspec.telemetry import amd_smi
from benchspec.telemetry.amd_cards import PREFIX, Card, cards
from benchspec.telemetry.amd_smi import AmdSmi
from benchspec.telemetry.base import Clock, Families, Reading, absent, unavailable
from benchspec.telemetry.devices import identified
from benchspec.telemetry.meters import Meters
from benchspec.telemetry.pcie_link import generation

NO_CARD = "there is no AMD card with the driver amdgpu here (/sys/class/drm)"
NO_SMI = "it needs the package amdsmi and ROCm's libamd_smi.so"


@dataclass(frozen=True)
class _File:
    """A file of the card that holds one number; the first match of the first path counts."""

    name: str
    unit: str
    paths: tuple[str, ...]
    scale: float = 1.0
    parse: Callable[[str], int | None] = int


FILES = (
    _File("utilization", "%", ("gpu_busy_percent",)),
    _File("utilization_memory", "%", ("mem_busy_percent",)),
    _File("memory_used", "MiB", ("mem_info_vram_used",), 1 / 2**20),
    _File("power", "W", ("hwmon/hwmon*/power1_average", "hwmon/hwmon*/power1_input"), 1e-6),
    _File("temperature", "°C", ("hwmon/hwmon*/temp1_input",), 1e-3),
    _File("temperature_memory", "°C", ("hwmon/hwmon*/temp3_input",), 1e-3),
    _File("clocks_sm", "MHz", ("hwmon/hwmon*/freq1_input",), 1e-6),
    _File("clocks_memory", "MHz", ("hwmon/hwmon*/freq2_input",), 1e-6),
    _File("pcie_gen", "generation", ("current_link_speed",), 1.0, generation),
    _File("pcie_lanes", "lanes", ("current_link_width",)),
)
"""freq1 is the shader clock, freq2 the memory clock; temp1 the edge, temp3 the memory; power1 is
`_average` on older cards and `_input` on newer ones."""

XGMI = ("xgmi_rx", "xgmi_tx")
SMI = ("energy", *XGMI)
PACKETS = ("pcie_rx", "pcie_tx")
NAMES = (*(row.name for row in FILES), *SMI, *PACKETS)


class Amd:
    """The AMD cards that the spec's `devices` are, or all of them; `root` is where /sys is."""

    name = "amd"

    def __init__(
        self, families: Families, devices: Sequence[Device] = (), *, root: Path = Path("/")
    ) -> None:
        self._families = families
        self._devices = devices
        self._root = root
        self._smi: AmdSmi | None = None

    def open(self, clock: Clock) -> Sequence[CounterRecord]:
        watched = watch(self._root, self._devices)
        self._smi = amd_smi.load() if watched and any(map(self._families.want, SMI)) else None
        failures = self._smi.failures if self._smi else ()
        self._meters = Meters((OSError, ValueError, *failures), explain)
        if not watched:
            return unavailable(self.name, NAMES, self._families, NO_CARD)
        for card, device in watched:
            for row in FILES:
                if self._families.want(row.name):
                    path = _place(card.folder, row.paths)
                    record = self._record(device, row.name, row.unit, "gauge", path.name, row.scale)
                    self._meters.add([record], partial(_read, path, row.parse))
            self._add_smi(card, device)
        return self._meters.records

    def _record(
        self, device: str, name: str, unit: str, kind: Kind, read_as: str, scale: float
    ) -> CounterRecord:
        return CounterRecord(
            name=name,
            unit=unit,
            kind=kind,
            source=self.name,
            device=device,
            read_as=read_as,
            scale=scale,
            judged=self._families.judge(name, of_device=True),
        )

    def _add_smi(self, card: Card, device: str) -> None:
        wanted = [*filter(self._families.want, SMI)]
        handle = self._smi.handle(card.bus) if self._smi else None
        if self._smi is None or handle is None:
            lacking = [absent(name, self.name, NO_SMI, device=device) for name in wanted]
            self._meters.records += lacking
            return
        if "energy" in wanted:
            call, scale = "amdsmi_get_energy_count", self._smi.resolution_j(handle)
            record = self._record(device, "energy", "W", "cumulative", call, scale)
            self._meters.add([record], partial(self._smi.energy, handle))
        if any(name in wanted for name in XGMI):
            call = "amdsmi_get_gpu_metrics_info"
            links = [self._record(device, n, "MB/s", "cumulative", call, 1e-3) for n in XGMI]
            self._meters.add(links, partial(self._smi.xgmi, handle))

    def interval_s(self, asked_s: float) -> float:
        return asked_s

    def sample(self, clock: Clock) -> Iterator[Reading]:
        return self._meters.sample(clock)

    def close(self) -> None:
        if self._smi is not None:
            self._smi.close()


class AmdPackets:
    """PCIe packets of AMD cards. Reading them blocks for the second that they are counted in."""

    name = "amd"
    window_s = 1.0
    """msleep(1000) in amdgpu_pm.c."""

    def __init__(
        self, families: Families, devices: Sequence[Device] = (), *, root: Path = Path("/")
    ) -> None:
        self._families = families
        self._devices = devices
        self._root = root
        self._meters = Meters((OSError, ValueError), explain)

    def open(self, clock: Clock) -> Sequence[CounterRecord]:
        wanted = any(map(self._families.want, PACKETS))
        for card, device in watch(self._root, self._devices) if wanted else []:
            records = [
                CounterRecord(
                    name=name,
                    unit="MB/s",
                    kind="window",
                    source=self.name,
                    device=device,
                    read_as="pcie_bw, packets x largest payload",
                    scale=1e-6 / self.window_s,
                    window_s=self.window_s,
                    bound=True,
                    judged=self._families.judge(name, of_device=True),
                )
                for name in PACKETS
            ]
            self._meters.add(records, partial(_packets, card.folder / "pcie_bw"))
        return self._meters.records

    def interval_s(self, asked_s: float) -> float:
        return max(asked_s, self.window_s)

    def sample(self, clock: Clock) -> Iterator[Reading]:
        return self._meters.sample(clock)

    def close(self) -> None:
        pass


def watch(root: Path, devices: Sequence[Device]) -> list[tuple[Card, str]]:
    """The cards to watch, each with its device id."""
    found = list(cards(root))
    known = identified(devices, found, prefix=PREFIX)
    return [(card, known[card.index]) for card in found if card.index in known]


def _place(folder: Path, paths: Sequence[str]) -> Path:
    """The first file that is there; else where the first would be."""
    found = [match for path in paths for match in sorted(folder.glob(path))]
    return found[0] if found else folder / paths[0]


def _read(path: Path, parse: Callable[[str], int | None]) -> list[Raw]:
    return [parse(path.read_text().strip())]


def _packets(path: Path) -> list[Raw]:
    """Bytes received and sent in a second, if every packet was as large as it may be."""
    received, sent, payload = (int(part) for part in path.read_text().split())
    return [received * payload, sent * payload]


def explain(failure: Exception) -> str:
    """Why a file could not be read, or a call of amdsmi failed."""
    if isinstance(failure, OSError):
        return f"the driver does not offer it ({failure.strerror or failure})"
    return f"it could not be read: {' '.join(str(failure).split())[:200]}"
