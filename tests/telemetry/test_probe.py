"""`benchspec probe`: what is measured and when it counts. No figure of this machine is asserted."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from benchspec.cli.probe import command
from benchspec.observations.from_spec import observations_of
from benchspec.run import environment
from benchspec.run.environment import hardware, link_probes
from benchspec.spec.loader import load
from benchspec.spec.source import parse
from benchspec.telemetry.identity import Facts
from benchspec.telemetry.probe import cache, gpu, host, link, match
from benchspec.telemetry.probe.host import MIB, HostMemory, Point, Rates
from benchspec.telemetry.probe.library import NOT_INSTALLED, Cupy, Torch

# --- the host ------------------------------------------------------------------------------------


def test_sizes_double_up_to_the_limit() -> None:
    found = host.measure(size_max_bytes=40 * MIB, threads=2, seconds=30)
    assert [point.size_bytes // MIB for point in found.points] == [8, 16, 32]
    for point in found.points:
        assert 0 < point.read.median <= point.read.best
        assert 0 < point.copy.median <= point.copy.best
    assert found.threads == 2


def test_when_the_time_is_over_the_size_at_hand_is_cut_short() -> None:
    begin = time.monotonic()
    found = host.measure(size_max_bytes=2**40, threads=1, seconds=0.01)
    assert len(found.points) == 1
    assert not found.settled
    assert time.monotonic() - begin < 60


def test_a_small_limit_is_one_small_size() -> None:
    assert [p.size_bytes for p in host.measure(size_max_bytes=2 * MIB, seconds=5).points] == [
        2 * MIB
    ]


def point(mib: int, read: float) -> Point:
    return Point(mib * MIB, Rates(read, read), Rates(read, read))


@pytest.mark.parametrize(
    ("points", "cache_mib", "settled"),
    [
        ([point(128, 61.0), point(256, 35.0), point(512, 29.0), point(1024, 28.0)], 32, True),
        ([point(128, 61.0), point(256, 35.0), point(512, 29.0)], 32, False),
        ([point(8, 100.0), point(16, 100.0)], 32, False),
        ([point(8, 100.0), point(16, 100.0)], 2, True),
        ([point(64, 10.0), point(128, 10.0)], None, False),
        ([point(128, 10.0), point(256, 10.0)], None, True),
        ([point(1024, 10.0)], 32, False),
    ],
)
def test_two_sizes_must_agree_beyond_the_caches(
    points: list[Point], cache_mib: int | None, settled: bool
) -> None:
    """In a cache two sizes agree as well, and that says nothing of the memory behind it."""
    size = None if cache_mib is None else cache_mib * MIB
    assert host.settled(points, size) is settled


def test_pages_are_written_before_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int]] = []

    def look(buffer: np.ndarray[Any, np.dtype[np.int64]]) -> None:
        seen.append((len(buffer), int(buffer.min())))

    monkeypatch.setattr(host, "_read", look)
    host.measure(size_max_bytes=MIB, threads=2, seconds=5)
    assert {length for length, _ in seen} == {MIB // 8 // 2}
    assert all(least != 0 for _, least in seen)


def test_every_thread_does_the_same_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a millisecond of work, three threads: so many passes that a repeat takes 15 ms."""
    calls: list[int] = []

    def work(_: object) -> None:
        calls.append(1)
        time.sleep(0.0005)

    monkeypatch.setattr(host, "_read", work)
    host.measure(size_max_bytes=MIB, threads=3, seconds=60)
    assert len(calls) % 3 == 0
    assert len(calls) >= 3 * (1 + host.REPEATS)


def test_the_caches_of_all_sockets_are_added_once_each(tmp_path: Path) -> None:
    for cpu, shared in enumerate(["0-1", "0-1", "2-3", "2-3"]):
        for index, (level, size, sharing) in enumerate(
            [(1, "32K", str(cpu)), (3, "32768K", shared)]
        ):
            folder = tmp_path / f"sys/devices/system/cpu/cpu{cpu}/cache/index{index}"
            folder.mkdir(parents=True)
            (folder / "level").write_text(f"{level}\n")
            (folder / "size").write_text(f"{size}\n")
            (folder / "shared_cpu_list").write_text(f"{sharing}\n")
    assert host.last_level_caches(tmp_path) == 2 * 32 * MIB
    assert host.last_level_caches(tmp_path / "nothing") is None


def test_a_containers_limit_counts(tmp_path: Path) -> None:
    folder = tmp_path / "sys/fs/cgroup"
    folder.mkdir(parents=True)
    (folder / "memory.max").write_text("1000000\n")
    (folder / "memory.current").write_text("400000\n")
    assert host.free_bytes(tmp_path) == 600_000
    (folder / "memory.max").write_text("max\n")
    assert host.free_bytes(tmp_path) > 600_000


def test_a_machine_with_more_to_do_than_cores_is_not_quiet() -> None:
    def loaded(load: float) -> HostMemory:
        return HostMemory(2, 2, None, load, True, ())

    assert loaded(1.3).quiet
    assert not loaded(6.0).quiet


# --- GPUs, through a library that is not there ---------------------------------------------------


class Library:
    """A library with so many cards; every piece of work takes a millisecond."""

    name = "fake"

    def __init__(self, cards: int) -> None:
        self._cards = cards
        self.copies: list[tuple[str, str]] = []

    def count(self) -> int:
        return self._cards

    def title(self, card: int) -> str:
        return f"card {card}"

    def bus(self, card: int) -> str | None:
        return None

    def free_bytes(self, card: int) -> int:
        return 80 * 2**30

    def on_card(self, card: int, size: int) -> str:
        return f"gpu{card}"

    def on_host(self, size: int) -> str:
        return "host"

    def copy(self, target: str, source: str) -> None:
        self.copies.append((source, target))

    def read(self, source: str) -> None: ...

    def timed(self, card: int, work: Callable[[], None]) -> float:
        work()
        return 0.001

    def wait(self, card: int) -> None: ...


def test_memory_and_every_link_of_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "WARM_UP_S", 0.0)
    library = Library(2)
    found = gpu.measure(library)
    first = found.cards[0]
    assert (first.name, first.buffer_bytes) == ("card 0", 2**30)
    assert first.read.best == 2**30 / 0.001
    assert first.copy.best == 2 * 2**30 / 0.001
    assert first.from_host.median == 2**28 / 0.001
    assert set(first.to_card) == {1}
    pairs = {("gpu0", "gpu0"), ("host", "gpu0"), ("gpu0", "host"), ("gpu0", "gpu1")}
    assert pairs <= set(library.copies)


def test_a_library_that_sees_no_card_says_so() -> None:
    assert gpu.measure(Library(0)).not_measured == "fake is installed, but sees no GPU"


def test_without_a_library_nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert gpu.measure().not_measured == NOT_INSTALLED
    assert gpu.measure().cards == ()


# --- links between GPUs, by size of the message ---------------------------------------------------


class Slow(Library):
    """A library whose way from card to card takes 10 ms, and any other 0.1 ms."""

    def __init__(self, cards: int) -> None:
        super().__init__(cards)
        self.waits: list[int] = []

    def copy(self, target: str, source: str) -> None:
        super().copy(target, source)
        time.sleep(0.01 if "host" not in (target, source) else 0.0001)

    def wait(self, card: int) -> None:
        self.waits.append(card)


def test_a_message_is_timed_by_size_over_both_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "LONGEST_S", 0.01)
    library = Slow(3)
    links = link.measure(library, 3)
    assert [one.cards for one in links] == [(0, 1), (0, 2), (1, 2)]
    assert [m.size_bytes for m in links[0].messages] == [4096, 40_960, 1_048_576]
    for message in links[0].messages:
        assert 0 < message.direct.least <= message.direct.median
        assert message.direct.median > message.host.median > 0.0002
        assert message.direct.repeats >= link.FEWEST_REPEATS
    pairs = {("gpu0", "gpu1"), ("gpu0", "host"), ("host", "gpu1")}
    assert pairs <= set(library.copies)


def test_a_time_ends_when_the_message_has_arrived(monkeypatch: pytest.MonkeyPatch) -> None:
    """Directly both cards are waited for; through the host, the memory before it is read again."""
    monkeypatch.setattr(link, "LONGEST_S", 0.0)
    monkeypatch.setattr(link, "SIZES", (4096,))
    events: list[str] = []

    class Recorded(Library):
        def copy(self, target: str, source: str) -> None:
            events.append(f"{source} to {target}")

        def wait(self, card: int) -> None:
            events.append(f"wait {card}")

    link.measure(Recorded(2), 2)
    times = link.WARM_UPS + link.FEWEST_REPEATS
    direct = ["gpu0 to gpu1", "wait 0", "wait 1"]
    staged = ["gpu0 to host", "wait 0", "host to gpu1", "wait 1"]
    assert events == direct * times + staged * times


def test_one_card_has_no_link(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "WARM_UP_S", 0.0)
    one = gpu.measure(Library(1))
    assert (one.links, one.links_not_measured) == ((), link.ONE_CARD)
    assert gpu.measure(Library(0)).links_not_measured == "fake is installed, but sees no GPU"


def test_a_run_remembers_what_was_timed_between_cards_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    waits = link.Waits(7.2e-6, 9e-6, 200)
    links = [link.Link((0, 1), (link.Message(4096, waits, waits),))]
    figures = link.figures(links, "benchspec probe, today")
    cards: Facts = {
        f"gpu{n}": {"name": "A100", "pci_id": "10de:20b2", "memory_mib": n} for n in (0, 1)
    }
    assert link_probes(cards) == []
    for card in cards.values():
        cache.keep(card, {"links": figures})
    (found,) = link_probes(cards)
    assert (found["name"], found["bytes"], found["direct_s"]) == ("gpu0 to gpu1", 4096, 9e-6)
    for damage in (None, 5, "no links", {"a": 1}):
        for card in cards.values():
            cache.keep(card, {"links": damage})
        assert link_probes(cards) == []


# --- which card is which device ------------------------------------------------------------------


def seen(*cards: tuple[str, str | None]) -> list[gpu.GpuMemory]:
    """Cards in the library's order: name and address."""
    rates = gpu.Rates(1.0, 1.0)
    return [
        gpu.GpuMemory(n, name, 1, rates, rates, rates, rates, bus=bus)
        for n, (name, bus) in enumerate(cards)
    ]


def card(name: str, bus: str) -> dict[str, Any]:
    return {"name": name, "pci_id": "10de:20b2", "pci_bus": bus}


FIRST, SECOND = "0000:01:00.0", "0000:c1:00.0"
MACHINE = {
    "gpu0": card("Tesla T4", FIRST),
    "gpu1": card("A100", SECOND),
    "cpu": {"name": "EPYC"},
}
TWINS = {"gpu0": card("A100", FIRST), "gpu1": card("A100", SECOND)}


@pytest.mark.parametrize(
    ("cards", "facts", "known"),
    [
        ([("A100", SECOND), ("Tesla T4", FIRST)], MACHINE, {0: "gpu1", 1: "gpu0"}),
        ([("A100", SECOND), ("A100", FIRST)], TWINS, {0: "gpu1", 1: "gpu0"}),
        ([("A100", SECOND)], TWINS, {0: "gpu1"}),
        ([("A100", None), ("tesla T4", None)], MACHINE, {0: "gpu1", 1: "gpu0"}),
        ([("A100", None), ("A100", None)], TWINS, {}),
        ([("A100", None)], TWINS, {}),
        ([("A100", None), ("A100", None)], MACHINE, {}),
        ([("A100", "0000:99:00.0")], MACHINE, {}),
        ([("A100 MIG 1g", SECOND), ("A100 MIG 2g", SECOND)], MACHINE, {}),
        ([("EPYC", None)], MACHINE, {}),
        ([("gfx1100", FIRST)], {"amd0": card("Radeon", FIRST)}, {0: "amd0"}),
        ([("A100", FIRST)], {"gpu0": {"trouble": "GPU is lost"}}, {}),
    ],
)
def test_a_card_is_the_device_at_its_address_or_of_its_name_and_else_none(
    cards: list[tuple[str, str | None]], facts: dict[str, dict[str, Any]], known: dict[int, str]
) -> None:
    assert match.devices_of(seen(*cards), facts) == known


def test_names_are_all_the_drivers_or_all_the_librarys() -> None:
    both = seen(("A100", SECOND), ("A100", FIRST))
    assert match.names_of(both, {0: "gpu1", 1: "gpu0"}) == {0: "gpu1", 1: "gpu0"}
    assert match.names_of(both, {0: "gpu1"}) == {0: "gpu0", 1: "gpu1"}


def test_the_libraries_tell_where_a_card_is() -> None:
    parts = SimpleNamespace(pci_domain_id=0, pci_bus_id=0xC1, pci_device_id=0)
    assert Torch(cuda_of(get_device_properties=lambda _: parts)).bus(0) == SECOND
    older = SimpleNamespace(name="A100")
    assert Torch(cuda_of(get_device_properties=lambda _: older)).bus(0) is None
    failure = type("CUDARuntimeError", (Exception,), {})
    runtime = SimpleNamespace(
        CUDARuntimeError=failure, deviceGetPCIBusId=lambda card: "0000:C1:00.0"
    )
    assert Cupy(cuda_of(runtime=runtime)).bus(0) == SECOND
    assert Cupy(cuda_of(runtime=SimpleNamespace(CUDARuntimeError=failure))).bus(0) is None


def cuda_of(**calls: Any) -> SimpleNamespace:
    return SimpleNamespace(cuda=SimpleNamespace(**calls))


class Reversed(Slow):
    """Counts from the fast card, which the driver lists second."""

    def bus(self, card: int) -> str | None:
        return (SECOND, FIRST)[card]


def test_figures_are_kept_under_the_card_that_they_are_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu, "WARM_UP_S", 0.0)
    monkeypatch.setattr(link, "LONGEST_S", 0.0)
    monkeypatch.setattr(gpu, "installed", lambda: iter([Reversed(2)]))
    monkeypatch.setattr(HostMemory, "quiet", True)
    facts = {**TWINS, "cpu": {"name": "EPYC"}}
    monkeypatch.setattr(environment, "hardware", lambda *_: facts)
    said = run(tmp_path)
    where = tmp_path / "benchspec/probe"
    kept = {device: cache.recall(facts[device], where) or {} for device in TWINS}
    assert {d: figures["gpu"]["name"] for d, figures in kept.items()} == {
        "gpu0": "card 1",
        "gpu1": "card 0",
    }
    assert kept["gpu0"]["links"][0]["name"] == "gpu1 to gpu0"
    ids = [line.split()[-1] for line in said.splitlines() if line.startswith("  - id: gpu")]
    assert ids == ["gpu0", "gpu1"]
    assert '  - id: gpu0\n    name: "card 1"' in said
    assert "between: [gpu1, gpu0]" in said


def test_a_card_that_nobody_can_tell_is_not_kept_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu, "WARM_UP_S", 0.0)
    monkeypatch.setattr(gpu, "installed", lambda: iter([Library(1)]))
    monkeypatch.setattr(HostMemory, "quiet", True)
    monkeypatch.setattr(environment, "hardware", lambda *_: {**TWINS, "cpu": {"name": "EPYC"}})
    done = CliRunner().invoke(
        command,
        ["--size-max", "1MiB", "--seconds", "1"],
        env={"XDG_CACHE_HOME": str(tmp_path)},
    )
    assert done.exit_code == 0
    assert len(list((tmp_path / "benchspec/probe").glob("*.json"))) == 1
    assert "warning: the figures of GPU 0, card 0, were not kept" in done.stderr


# --- what is kept --------------------------------------------------------------------------------


def test_figures_belong_to_a_device_and_to_no_other(tmp_path: Path) -> None:
    card = {"name": "A100", "pci_id": "10de:20b2", "memory_mib": 81_920, "driver": "595"}
    cache.keep(card, {"gpu": {"read": {"best": 1.9e12}}}, tmp_path)
    newer = {**card, "driver": "600", "memory_used_mib": 5}
    assert (cache.recall(newer, tmp_path) or {})["gpu"]["read"]["best"] == 1.9e12
    assert cache.recall({**card, "pci_id": "10de:20b5"}, tmp_path) is None


def test_two_cards_of_one_model_do_not_share_a_file(tmp_path: Path) -> None:
    for device, each in TWINS.items():
        cache.keep(each, {"gpu": {"name": device}}, tmp_path)
    found = [(cache.recall(each, tmp_path) or {})["gpu"]["name"] for each in TWINS.values()]
    assert found == ["gpu0", "gpu1"]


def test_a_damaged_file_is_no_figure(tmp_path: Path) -> None:
    path = cache.keep({"name": "x"}, {}, tmp_path)
    for damage in ("{", "[]", "x" * (cache.LIMIT_BYTES + 1)):
        path.write_text(damage)
        assert cache.recall({"name": "x"}, tmp_path) is None


def test_what_was_probed_is_part_of_the_identity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    before = hardware((), {})["cpu"]
    assert "probed_read_gb_s" not in before
    largest = {"size_bytes": 2**30, "read": {"best": 27.04e9, "median": 25.5e9}}
    points = [{"size_bytes": 2**23, "read": {"best": 61e9, "median": 60e9}}, largest]
    cache.keep(before, {"host": {"points": points, "settled": True}})
    found = {
        "probed_read_gb_s": 27.0,
        "probed_read_median_gb_s": 25.5,
        "probed_buffer_mib": 1024,
        "probed_curve": "8 MiB: 60.0..61.0 GB/s, 1024 MiB: 25.5..27.0 GB/s",
    }
    assert hardware((), {})["cpu"] == {**before, **found}
    cache.keep(before, {"host": {"points": points, "settled": False}})
    assert hardware((), {})["cpu"]["probed_still_falls"] == "yes"


def test_copies_of_a_card_are_recalled_without_the_names_of_other_cards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    before = hardware((), {})["cpu"]
    card = {
        "from_host": {"median": 12.04e9},
        "to_host": {"median": 13e9},
        "to_card": {"1": {"median": 11e9}, "2": {"median": 9e9}, "3": None},
    }
    cache.keep(before, {"gpu": card})
    assert hardware((), {})["cpu"] == {
        **before,
        "probed_from_host_gb_s": 12.0,
        "probed_into_host_gb_s": 13.0,
        "probed_between_cards_gb_s": 9.0,
    }


@pytest.mark.parametrize(
    "kept",
    [
        {"host": None},
        {"host": {"points": [7]}},
        {"host": {"points": {}}},
        {"gpu": [1]},
        {"gpu": {"read": None}},
        {"gpu": {"read": {"best": "fast"}}},
    ],
)
def test_kept_figures_that_cannot_be_read_are_passed_over(
    kept: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    before = hardware((), {})["cpu"]
    cache.keep(before, kept)
    assert hardware((), {})["cpu"] == before


# --- the command ---------------------------------------------------------------------------------


def run(tmp_path: Path, *arguments: str) -> str:
    done = CliRunner().invoke(
        command,
        ["--size-max", "16MiB", "--seconds", "5", *arguments],
        env={"XDG_CACHE_HOME": str(tmp_path)},
        catch_exceptions=False,
    )
    assert done.exit_code == 0
    return done.stdout


def test_its_lines_are_hardware_of_a_spec(tmp_path: Path) -> None:
    said = run(tmp_path)
    _, _, lines = said.partition("for the spec, hardware.devices:\n")
    text = f"benchspec: 1\nstudy: {{title: x}}\nhardware:\n  devices:\n{lines}"
    loaded = load(parse(text.encode(), "spec.yaml"))
    assert loaded.problems == []
    assert loaded.spec is not None
    (cpu,) = [device for device in loaded.spec.hardware.devices if device.kind == "cpu"]
    assert cpu.source == "measured"
    assert list(cpu.bandwidth_curve) == ["8 MiB", "16 MiB"]
    assert cpu.memory_bandwidth is not None
    assert cpu.memory_bandwidth.low <= cpu.memory_bandwidth.high
    assert "GPU" in said


def test_links_are_lines_of_a_spec_and_of_an_audit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu, "WARM_UP_S", 0.0)
    monkeypatch.setattr(link, "LONGEST_S", 0.0)
    monkeypatch.setattr(gpu, "installed", lambda: iter([Slow(2)]))
    said = run(tmp_path)
    _, _, lines = said.partition("for the spec, hardware.devices:\n")
    devices, _, lines = lines.partition("for the spec, hardware.links:\n")
    links, _, probes = lines.partition("for an audit, observations.link_probes:\n")
    text = (
        f"benchspec: 1\nstudy: {{title: x}}\nhardware:\n  devices:\n{devices}  links:\n{links}"
        f"observations:\n  link_probes:\n{probes}"
    )
    loaded = load(parse(text.encode(), "spec.yaml"))
    assert loaded.problems == []
    assert loaded.spec is not None
    (pair,) = loaded.spec.hardware.links
    assert pair.measured is not None
    assert pair.latency is not None
    assert pair.latency.low > 0.01
    seen = observations_of(loaded.spec).link_probes
    assert [round(probe.bytes) for probe in seen] == list(link.SIZES)
    assert "through the host" in said


def test_json_is_one_object_and_only_a_quiet_machine_is_remembered(tmp_path: Path) -> None:
    said = json.loads(run(tmp_path, "--json"))
    assert said["format_version"] == 1
    assert [p["size_bytes"] // MIB for p in said["host"]["points"]] == [8, 16]
    assert said["gpu"]["cards"] or said["gpu"]["not_measured"]
    kept = list((tmp_path / "benchspec/probe").glob("*.json"))
    assert bool(kept) is said["host"]["quiet"]


@pytest.mark.parametrize("size", ["1", "fast", "3 parsec", "10KiB", "-1GiB", ""])
def test_a_size_needs_a_unit_and_some_room(size: str) -> None:
    done = CliRunner().invoke(command, ["--size-max", size])
    assert done.exit_code == 2
