"""Sampling beside a measurement: one clock, a thread per source, what each one costs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

import pytest

from benchspec.store.tracks import CounterRecord, Track
from benchspec.telemetry.base import Clock, Families, Reading, absent, unavailable
from benchspec.telemetry.meters import Meters
from benchspec.telemetry.sampler import OWN, Sampler, cpu_share

LIMIT_S = 20.0
"""How long a test waits on a very busy machine before it gives up."""


def counter(name: str, source: str = "fake", device: str | None = None) -> CounterRecord:
    return CounterRecord(name=name, unit="", kind="gauge", source=source, device=device)


class Fake:
    """Counts how often it was asked; `act` may block or answer otherwise."""

    def __init__(
        self,
        *records: CounterRecord,
        name: str = "fake",
        act: Callable[[int], Iterable[Reading]] | None = None,
    ) -> None:
        self.name = name
        self.records = records
        self.asked = 0
        self.closed = False
        self.threads: set[int] = set()
        self._act = act

    def open(self, clock: Clock) -> Sequence[CounterRecord]:
        return self.records

    def interval_s(self, asked_s: float) -> float:
        return asked_s

    def sample(self, clock: Clock) -> Iterator[Reading]:
        self.asked += 1
        self.threads.add(threading.get_ident())
        if self._act is not None:
            yield from self._act(clock())
        else:
            yield from (Reading(i, clock(), self.asked) for i in range(len(self.records)))

    def close(self) -> None:
        self.closed = True


def sampler(*sources: Fake, families: Families | None = None, interval_s: float = 0.01) -> Sampler:
    return Sampler(
        sources, families or Families(), origin_ns=time.monotonic_ns(), interval_s=interval_s
    )


def wait_until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT_S
    while not true():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.005)


def by_name(tracks: Iterable[Track]) -> dict[str, Track]:
    return {track.counter.name: track for track in tracks}


def test_every_source_has_its_own_thread_and_all_one_clock() -> None:
    one, two = Fake(counter("a")), Fake(counter("b"), name="two")
    with sampler(one, two) as running:
        wait_until(lambda: min(one.asked, two.asked) >= 5)
        found = by_name(running.cut(0, running.clock()))
    assert one.threads.isdisjoint(two.threads)
    assert threading.get_ident() not in one.threads | two.threads
    for name in "ab":
        assert found[name].at_ns == sorted(found[name].at_ns)
        assert 0 <= found[name].at_ns[0] <= found[name].at_ns[-1] <= running.clock()
    assert (one.closed, two.closed) == (True, True)


def test_a_source_that_blocks_holds_up_no_other() -> None:
    gate = threading.Event()

    def block(_: int) -> Iterable[Reading]:
        gate.wait(LIMIT_S)
        return ()

    stuck, free = Fake(counter("a"), act=block), Fake(counter("b"), name="free")
    with sampler(stuck, free):
        wait_until(lambda: free.asked >= 10)
        assert stuck.asked == 1
        gate.set()


def test_a_cut_has_both_its_ends_and_nothing_else() -> None:
    moments = iter([[100, 200, 300, 400]])

    def once(_: int) -> Iterable[Reading]:
        return [Reading(0, at_ns, at_ns) for at_ns in next(moments, [])]

    source = Fake(counter("a"), act=once)
    with sampler(source) as running:
        wait_until(lambda: source.asked >= 2)
        assert by_name(running.cut(200, 300))["a"].at_ns == [200, 300]
        running.forget(300)
        assert by_name(running.cut(0, 10**9))["a"].values == [300, 400]


def test_repetitions_and_backward_stamps_are_dropped() -> None:
    answers = iter([[Reading(0, 10, 1), Reading(0, 10, 2), Reading(0, 5, 3), Reading(0, 20, 4)]])
    source = Fake(counter("a"), act=lambda _: next(answers, []))
    with sampler(source) as running:
        wait_until(lambda: source.asked >= 2)
        track = by_name(running.cut(0, 10**9))["a"]
    assert (track.at_ns, track.values) == ([10, 20], [1, 4])


def test_what_failed_keeps_its_reason_also_when_nothing_more_comes() -> None:
    answers = iter([[Reading(0, 10, 1)], [Reading(0, 20, None, "GPU is lost")]])
    source = Fake(counter("a"), act=lambda _: next(answers, []))
    with sampler(source) as running:
        wait_until(lambda: source.asked >= 3)
        cut = {span: by_name(running.cut(*span))["a"] for span in [(0, 15), (0, 30), (25, 30)]}
    assert [(t.values, t.trouble) for t in cut.values()] == [
        ([1], None),
        ([1, None], "GPU is lost"),
        ([], "GPU is lost"),
    ]


def test_a_defect_in_a_source_is_a_reason_and_does_not_end_its_thread(
    capfd: pytest.CaptureFixture[str],
) -> None:
    rounds = iter(range(100_000))

    def act(now_ns: int) -> Iterator[Reading]:
        turn = next(rounds)
        yield Reading(0, now_ns, turn)
        if turn == 1:
            raise TypeError("a defect\nof ours")
        yield Reading(1, now_ns, turn)

    source = Fake(counter("a"), counter("b"), absent("c", "fake", "no driver"), act=act)
    with sampler(source) as running:
        wait_until(lambda: source.asked >= 4)
        found = by_name(running.cut(0, running.clock()))
    why = "the source fake broke off: TypeError, a defect of ours"
    assert (found["a"].values[:4], found["a"].trouble) == ([0, 1, None, 2], why)
    assert (found["b"].values[:3], found["b"].trouble) == ([0, None, 2], why)
    assert (found["c"].counter.not_measured, found["c"].values) == ("no driver", [])
    assert len(found["sampling_fake"].values) >= 3
    assert capfd.readouterr().err == ""


def test_a_source_that_names_a_counter_it_does_not_have_is_a_reason() -> None:
    source = Fake(counter("a"), act=lambda now_ns: [Reading(7, now_ns, 1)])
    with sampler(source) as running:
        wait_until(lambda: source.asked >= 3)
        track = by_name(running.cut(0, running.clock()))["a"]
    assert set(track.values) == {None}
    assert (track.trouble or "").startswith("the source fake broke off: IndexError")


def test_the_cost_of_sampling_is_measured() -> None:
    def work(_: int) -> Iterable[Reading]:
        end = time.thread_time_ns() + 2_000_000
        while time.thread_time_ns() < end:
            pass
        return ()

    busy = Fake(counter("a"), act=work)
    with sampler(busy) as running:
        wait_until(lambda: busy.asked >= 20)
        tracks = running.cut(0, running.clock())
    own = by_name(tracks)["sampling_fake"]
    assert (own.counter.source, own.counter.judged) == (OWN, False)
    used_ns = (own.values[-1] or 0) - (own.values[0] or 0)
    assert used_ns >= 2_000_000 * (len(own.values) - 1)
    assert cpu_share(tracks) == pytest.approx(used_ns / (own.at_ns[-1] - own.at_ns[0]))


class Starts(Fake):
    """A source whose program takes a tenth of a second for each reading."""

    def child_ns(self) -> int:
        return self.asked * 100_000_000


def test_a_program_that_a_source_runs_is_a_cost_of_sampling() -> None:
    source = Starts(counter("a"))
    with sampler(source) as running:
        wait_until(lambda: source.asked >= 4)
        tracks = running.cut(0, running.clock())
    own = by_name(tracks)["sampling_fake"]
    used_ns = (own.values[-1] or 0) - (own.values[0] or 0)
    assert used_ns >= 100_000_000 * (len(own.values) - 1)
    assert "program" in own.counter.read_as


def test_without_sources_there_is_nothing() -> None:
    before = threading.active_count()
    with sampler() as running:
        assert threading.active_count() == before
        assert running.cut(0, 10**9) == []
    assert cpu_share([]) is None


def test_a_source_with_nothing_to_read_has_no_thread() -> None:
    before = threading.active_count()
    source = Fake(absent("nvlink", "fake", "no driver"))
    with sampler(source) as running:
        assert threading.active_count() == before
        assert [t.counter.not_measured for t in running.cut(0, 1)] == ["no driver"]
    assert source.closed


# --- what is not measured ------------------------------------------------------------------------


def names(*sources: Fake, families: Families | None = None) -> list[tuple[str, str | None]]:
    with sampler(*sources, families=families) as running:
        tracks = running.cut(0, running.clock())
    return [(t.counter.name, t.counter.not_measured) for t in tracks if t.counter.source != OWN]


def test_what_one_source_lacks_and_another_reads_is_measured() -> None:
    lacks = Fake(absent("pcie", "dmon", "not installed"), name="dmon")
    reads = Fake(counter("pcie_rx", "nvml", "gpu0"), name="nvml")
    assert names(lacks, reads) == [("pcie_rx", None)]


def test_what_one_card_lacks_is_not_made_good_by_another() -> None:
    lost = absent("pcie_rx", "nvml", "GPU is lost", device="gpu1")
    both = Fake(counter("pcie_rx", "nvml", "gpu0"), lost, name="nvml")
    assert names(both) == [("pcie_rx", None), ("pcie_rx", "GPU is lost")]


def test_a_family_that_no_source_has_is_named() -> None:
    found = names(Fake(counter("pcie_rx")), families=Families(("pcie", "fan")))
    assert found == [
        ("pcie_rx", None),
        ("fan", "no source that this spec names has such a counter"),
    ]


@pytest.mark.parametrize(
    ("named", "counter_name", "wanted"),
    [
        ((), "anything", True),
        (("pcie",), "pcie_rx", True),
        (("pcie_rx",), "pcie_rx", True),
        (("pcie_rx",), "pcie_tx", False),
        (("pci",), "pcie_rx", False),
        (("cpu",), "waiting", True),
    ],
)
def test_families_are_beginnings_of_names(
    named: tuple[str, ...], counter_name: str, wanted: bool
) -> None:
    assert Families(named, also=("waiting",)).want(counter_name) is wanted


def test_only_what_is_named_is_judged() -> None:
    some = Families(("cpu",), also=("waiting",))
    assert some.judge("cpu_steal", of_device=False)
    assert not some.judge("waiting", of_device=False)
    assert Families().judge("utilization", of_device=True)
    assert not Families().judge("cpu", of_device=False)


def test_a_source_that_is_not_there_says_what_it_would_have_had() -> None:
    offered = ("pcie_rx", "energy")
    named = unavailable("nvml", offered, Families(("pcie", "cpu", "energy")), "no driver")
    assert [record.name for record in named] == ["pcie", "energy"]
    (whole,) = unavailable("nvml", offered, Families(), "no driver")
    assert (whole.name, whole.not_measured, whole.judged) == ("nvml", "no driver", True)


# --- meters --------------------------------------------------------------------------------------


def test_a_number_that_is_missing_at_the_start_is_not_asked_for() -> None:
    meters = Meters((OSError,), str)
    assert meters.add([counter("a"), counter("b")], lambda: [1, None])
    assert [record.not_measured for record in meters.records] == [None, "it is not offered here"]
    assert [reading.counter for reading in meters.sample(lambda: 0)] == [0]


def test_only_the_expected_failures_are_reasons() -> None:
    def broken() -> list[float | int | None]:
        raise TypeError("a defect of ours")

    with pytest.raises(TypeError):
        Meters((OSError,), str).add([counter("a")], broken)
