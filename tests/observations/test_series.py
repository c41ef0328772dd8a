"""From raw readings of counters to series of a cell: windows, wraps, phases, idle time, reasons."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchspec.observations.from_bundle import reduce
from benchspec.observations.model import Series
from benchspec.observations.series import joules, not_measured, phases, series_of, windows
from benchspec.store.records import TelemetryRecord
from benchspec.store.tracks import CounterRecord, Raw, Track
from tests.observations.test_from_bundle import MS, T0, cell, request

S = 1000 * MS
WRAP = 2**32


def counter(name: str = "pcie_rx", **rest: Any) -> CounterRecord:
    base: dict[str, Any] = {
        "name": name,
        "unit": "MB/s",
        "kind": "cumulative",
        "source": "nvml",
        "device": "gpu0",
        "scale": 1e-6,
        "read_as": "NVML field 198",
    }
    return CounterRecord(**base | rest)


def track(readings: Sequence[tuple[float, Raw]], trouble: str | None = None, **rest: Any) -> Track:
    """Readings as (ms from T0, raw value)."""
    return Track(
        counter=counter(**rest),
        at_ns=[T0 + round(ms * MS) for ms, _ in readings],
        values=[raw for _, raw in readings],
        trouble=trouble,
    )


def decoding(begin_ms: int = 0, end_ms: int = 1000, **rest: Any) -> Any:
    """A cell of one request that is decoded from `begin_ms` to `end_ms`."""
    return cell(request(0, begin_ms - 1, [begin_ms, end_ms]), **rest)


def only(found: Sequence[Series], phase: str | None) -> Series:
    (series,) = [s for s in found if s.phase == phase]
    return series


# --- a burst series, exactly ---------------------------------------------------------------------


def test_a_burst_series_gives_the_mean_and_the_total_exactly() -> None:
    """One second of twelve carries 1111 MB, the others 13: the total is 1254 MB over 12 s."""
    moved = [13, 13, 13, 13, 13, 1111, 13, 13, 13, 13, 13, 13]
    totals = np.concatenate([[0], np.cumsum(moved)]) * 10**6
    readings = [(1000.0 * i, int(total)) for i, total in enumerate(totals)]
    series = only(series_of(decoding(0, 12_000), [track(readings)], T0), "decode")
    assert series.values == moved
    assert series.total == sum(moved) == 1254
    assert series.mean == 1254 / 12
    assert (series.interval_s, series.duration_s, series.window_s) == (1.0, 12.0, None)
    assert series.times_s == [float(s) for s in range(1, 13)]
    assert (series.source, series.unit) == ("NVML field 198", "MB/s")


def test_late_readings_move_no_byte() -> None:
    """However the readings jitter, the mean is total / time; the mean of the rates is not."""
    draw = random.Random(1)
    moments = sorted({0, 60_000, *(draw.randrange(1, 60_000) for _ in range(200))})
    burst = {ms: (10**9 if 30_000 <= ms < 30_400 else 10**4) for ms in moments}
    raw = np.cumsum([burst[ms] for ms in moments]).tolist()
    series = only(
        series_of(decoding(0, 60_000), [track(list(zip(moments, raw, strict=True)))], T0), "decode"
    )
    moved = (raw[-1] - raw[0]) * 1e-6
    assert series.total == pytest.approx(moved, rel=1e-12)
    assert series.mean == pytest.approx(moved / 60.0, rel=1e-12)
    unweighted = sum(v for v in series.values if v is not None) / len(series.values)
    assert unweighted != pytest.approx(series.mean, rel=0.05)


# --- counters that wrap --------------------------------------------------------------------------


def test_a_wrap_at_2_to_the_32_is_unwrapped_at_12_gb_per_s() -> None:
    """12 GB/s read every 200 ms: 2.4 GB a reading, a wrap in every second one."""
    moved = [(200.0 * i, (4_000_000_000 + i * 2_400_000_000) % WRAP) for i in range(51)]
    assert sum(b < a for (_, a), (_, b) in pairwise(moved)) > 20
    narrow = track(moved, wraps_at=WRAP, most_per_s=15.754e9)
    series = only(series_of(decoding(0, 10_000), [narrow], T0), "decode")
    assert series.values == [12_000.0] * 50
    assert series.total == pytest.approx(120_000, rel=1e-12)


def test_readings_further_apart_than_one_turn_cannot_be_told_apart() -> None:
    """At 63 GB/s a 32-bit counter turns in 68 ms; after 200 ms nobody knows how often it did."""
    narrow = track([(0, 0), (200, 100), (250, 200)], wraps_at=WRAP, most_per_s=63e9)
    assert [w.value for w in windows(narrow)] == [None, pytest.approx(0.002)]


def test_a_number_beyond_the_wrap_proves_a_wider_counter() -> None:
    wide = track([(0, WRAP + 1), (1000, 3 * WRAP + 1)], wraps_at=WRAP, most_per_s=63e9)
    assert [w.amount for w in windows(wide)] == [pytest.approx(2 * WRAP * 1e-6)]


def test_a_counter_that_starts_again_says_nothing_about_that_moment() -> None:
    restarted = track([(0, 500_000_000), (100, 600_000_000), (200, 1_000), (300, 100_001_000)])
    assert [w.value for w in windows(restarted)] == [1000.0, None, 1000.0]
    series = only(series_of(decoding(), [restarted], T0), "decode")
    assert series.values == [1000.0, None, 1000.0]
    assert series.total == 200.0
    assert series.mean == 1000.0


@given(
    steps=st.lists(st.integers(0, WRAP - 1), min_size=1, max_size=40),
    start=st.integers(0, WRAP - 1),
)
def test_unwrapping_gives_back_what_was_counted(steps: list[int], start: int) -> None:
    totals = [start, *(start + int(x) for x in np.cumsum(np.array(steps, dtype=object)))]
    readings = [(10.0 * i, total % WRAP) for i, total in enumerate(totals)]
    grown = [w.amount for w in windows(track(readings, wraps_at=WRAP, scale=1.0))]
    assert grown == steps


# --- what a reading looks at ---------------------------------------------------------------------


def test_a_polled_window_looks_at_its_own_20_ms() -> None:
    polled = track([(100, 7), (200, 9)], kind="window", window_s=0.02, scale=1.0)
    spans = [((w.begin_ns - T0) / MS, (w.end_ns - T0) / MS, w.value) for w in windows(polled)]
    assert spans == [(80, 100, 7.0), (180, 200, 9.0)]
    assert only(series_of(decoding(), [polled], T0), "decode").window_s == 0.02


def test_a_buffered_mean_looks_back_to_the_one_before() -> None:
    """What the driver has averaged before the first reading that is known has no beginning."""
    means = track([(0, 1), (200, 50), (400, 60)], kind="window", name="utilization", scale=1.0)
    assert [w.value for w in windows(means)] == [50.0, 60.0]


def test_a_failed_reading_is_no_zero_and_loses_no_byte() -> None:
    gap = track([(0, 0), (100, None), (200, 20_000_000), (300, 30_000_000)])
    assert [w.amount for w in windows(gap)] == [20.0, 10.0]
    gauge = track([(0, 5), (100, None), (200, 7)], kind="gauge", scale=1.0)
    assert [w.value for w in windows(gauge)] == [5.0, None, 7.0]


def test_infinities_and_backward_clocks_are_passed_over() -> None:
    odd = track([(0, 0.0), (100, float("inf")), (100, 5.0), (50, 6.0), (200, 8.0)])
    assert all(w.value is None or abs(w.value) < 1e9 for w in windows(odd))


# --- phases --------------------------------------------------------------------------------------


def test_only_windows_wholly_inside_a_phase_count() -> None:
    """Sent at 0, first token at 450 ms, last at 1050: 4 windows of prefill, 5 of decode; the one
    that saw both belongs to neither."""
    one = cell(request(0, 0, [450, 700, 1050]))
    readings = [(100.0 * i, i * 10_000_000 if i <= 4 else 10**9 + i) for i in range(13)]
    found = series_of(one, [track(readings)], T0)
    assert only(found, "prefill").values == [100.0] * 4
    assert only(found, "decode").times_s == [0.6, 0.7, 0.8, 0.9, 1.0]
    assert max(v or 0 for v in only(found, "decode").values) < 1


def test_waiting_while_others_decode_is_decode() -> None:
    """Two requests, one slot: the second waits for a first token while the first is decoded."""
    queued = cell(request(0, 0, [100, 500]), request(1, 0, [600, 900]))
    when = {k: [((a - T0) // MS, (b - T0) // MS) for a, b in v] for k, v in phases(queued).items()}
    assert when == {
        "prefill": [(0, 100), (500, 600)],
        "decode": [(100, 500), (600, 900)],
        None: [(0, 901)],
    }


def test_power_and_host_counters_are_of_the_whole_step() -> None:
    readings = [(float(ms), 200) for ms in range(0, 1000, 100)]
    power = track(readings, name="power", unit="W", kind="gauge", scale=1.0)
    cpu = track(readings, name="cpu", unit="%", kind="gauge", scale=1.0, device=None, source="host")
    found = series_of(decoding(), [power, cpu], T0)
    assert [(s.counter, s.device, s.phase) for s in found] == [
        ("power", "gpu0", None),
        ("cpu", None, None),
    ]


def test_a_series_says_where_it_belongs() -> None:
    key = {"concurrency": 4, "context_tokens": 8192, "cache": "warm", "repeat": 2}
    (series,) = series_of(decoding(key=key), [track([(100, 0), (200, 1)])], T0)
    assert (series.arm, series.concurrency, series.repeat) == ("A", 4, 2)
    assert (series.context_tokens, series.cache, series.rate) == (8192, "warm", None)


def test_missing_samples_show_against_the_duration() -> None:
    readings = [(100.0 * i, i) for i in range(11) if i not in (4, 5)]
    series = only(series_of(decoding(0, 1000), [track(readings)], T0), "decode")
    assert (series.interval_s, series.duration_s) == (0.1, 1.0)
    assert len(series.values) == 8


def test_no_window_no_series() -> None:
    assert series_of(decoding(0, 90), [track([(0, 0), (100, 1)])], T0) == []
    assert series_of(cell(), [track([(0, 0), (100, 1)])], T0) == []


def test_evidence_that_is_not_judged_is_no_series() -> None:
    assert series_of(decoding(), [track([(0, 0), (100, 1)], judged=False)], T0) == []


# --- idle time before and after ------------------------------------------------------------------


def test_the_idle_time_before_and_after_is_kept_apart() -> None:
    record = TelemetryRecord(
        file="telemetry/c1.jsonl",
        sha256="",
        idle_before_ns=(T0 - 2 * S, T0 - S),
        idle_after_ns=(T0 + 2 * S, T0 + 3 * S),
    )
    readings = [
        (float(ms), 0 if ms < 2000 else (ms - 2000) * 150_000) for ms in range(-2000, 3500, 500)
    ]
    series = only(series_of(decoding(telemetry=record), [track(readings)], T0), "decode")
    assert series.idle_before == [0.0, 0.0]
    assert series.idle_after == [150.0, 150.0]
    assert series.values == [0.0, 0.0]


# --- what was not measured -----------------------------------------------------------------------


def lacking(name: str, why: str, device: str | None = "gpu0") -> Track:
    return Track(counter=counter(name, device=device, not_measured=why), at_ns=[], values=[])


def test_what_answers_na_is_not_measured_and_never_zero() -> None:
    na = lacking("nvlink_rx", "NVML answers: Not Supported (field 139)")
    assert series_of(decoding(), [na], T0) == []
    (series,) = not_measured([(decoding(), [na]), (decoding(name="c2"), [na])])
    assert (series.counter, series.device, series.values, series.mean) == (
        "nvlink_rx",
        "gpu0",
        [],
        None,
    )
    assert series.not_measured == "NVML answers: Not Supported (field 139)"
    assert (series.arm, series.repeat) == (None, None)


def test_what_only_one_arm_lacks_names_the_arm() -> None:
    na, other = lacking("energy", "no counter"), decoding(key={"arm": "B"}, name="b1")
    assert [s.arm for s in not_measured([(decoding(), [na]), (other, [])])] == ["A"]


def test_a_card_that_falls_off_the_bus_says_when_it_stopped() -> None:
    lost = "NVML answers: GPU is lost"
    half = track([(0, 0), (100, 10**6), (200, None)], trouble=lost)
    gone = Track(counter=counter(), at_ns=[], values=[], trouble=lost)
    texts = [s.not_measured for s in not_measured([(decoding(), [half]), (decoding(), [gone])])]
    assert texts == [f"some readings failed: {lost}", lost]
    assert only(series_of(decoding(), [half], T0), "decode").total == 1.0


# --- energy --------------------------------------------------------------------------------------


def watts(name: str, power: float, source: str = "nvml", **rest: Any) -> Track:
    """Millijoules that grow by `power` W, from before the step to after it."""
    readings = [(float(ms), round(power * ms)) for ms in range(-200, 1400, 200)]
    return track(readings, name="energy", unit="W", scale=1e-3, device=name, source=source, **rest)


def test_energy_per_token_is_power_times_time_over_tokens() -> None:
    one = decoding()
    cards = [watts("gpu0", 200.0), watts("gpu1", 100.0), watts("cpu0", 50.0, source="host")]
    step_s = 1.002  # sent 1 ms before the first token, ended 1 ms after the last
    assert joules(one, cards) == pytest.approx(300.0 * step_s)
    assert joules(one, cards[2:]) == pytest.approx(50.0 * step_s)
    assert joules(one, []) is None
    assert joules(one, [*cards, track([(0, 0)], name="energy", device="gpu2")]) is None


def test_the_whole_way_through_reduce() -> None:
    record = TelemetryRecord(file="telemetry/c1.jsonl", sha256="", cpu_share=0.004)
    files = {"telemetry/c1.jsonl": [watts("gpu0", 200.0), lacking("nvlink_tx", "N/A")]}
    seen = reduce([decoding(telemetry=record)], lambda _: np.empty(0, np.int64), files.__getitem__)
    assert [s.counter for s in seen.series] == ["energy", "nvlink_tx"]
    assert seen.steps[0].joules_per_token == pytest.approx(200.0 * 1.002 / 2)
    assert seen.series[0].mean == pytest.approx(200.0)
    assert seen.series[0].total == pytest.approx(200.0)
