"""What more requests bring, and whose plateau it is."""

from __future__ import annotations

import pytest

from tests.judge.published import four_slots, serial_engine
from tests.judge.world import burst, result, seen, spec, sweep, verdicts


def test_four_streams_give_2_14_and_rise() -> None:
    r = result(verdicts(*four_slots()), "scaling", concurrency=4)
    assert r.reading == "scales"
    assert r.value == pytest.approx(2.143, abs=0.0005)
    assert "49.14 / 22.93 = 2.143" in (r.arithmetic or "")


def test_the_plateau_above_the_slots_is_the_slots() -> None:
    r = result(verdicts(*four_slots()), "scaling", concurrency=8)
    assert r.reading == "plateau-at-slots"
    assert "X(8) / X(4) = 0.9972" in (r.arithmetic or "")
    assert "says nothing about the hardware" in r.caveats[0]


def test_a_serial_engine_is_flat_up_to_the_slots_it_was_told() -> None:
    r = result(verdicts(*serial_engine()), "scaling", concurrency=4)
    assert r.reading == "flat"
    assert "(max - min) / mean = 2.4 %" in (r.arithmetic or "")


def test_hardware_that_stops_inside_the_slots() -> None:
    steps = sweep("main", 8, (1, 2, 4, 8), token_s=lambda b: 0.02 * max(1, b / 4))
    r = result(verdicts(spec(), seen(*steps, slots={"main": 8})), "scaling", concurrency=8)
    assert (r.reading, r.caveats) == ("plateau-below-slots", [])


def test_a_small_rise_outside_the_spread_is_not_flat() -> None:
    def readings(spread: float) -> str | None:
        steps = [
            burst("main", c, 4, repeat=r, prefill_s=0, token_s=lambda b: 0.02 * b * 0.97 ** (b > 1))
            for r in (1, 2, 3)
            for c in (1, 4)
        ]
        loose = [
            s.model_copy(update={"wall_s": (s.wall_s or 0) * (1 + spread * (s.repeat - 2))})  # type: ignore[operator]
            for s in steps
        ]
        observed = seen(*loose, slots={"main": 4})
        return result(verdicts(spec(), observed), "scaling", concurrency=4).reading

    assert readings(0.03) == "flat"
    assert readings(0.0) == "plateau-below-slots"


def test_without_a_single_stream_there_is_no_scaling() -> None:
    r = result(verdicts(spec(), seen(*sweep("main", 4, (2, 4)))), "scaling", concurrency=4)
    assert r.missing == ["X(1) of the same repeat"]


def test_a_plateau_needs_slots_to_be_placed() -> None:
    attached = spec(engine={"kind": "openai", "attach": "http://127.0.0.1:1"})
    steps = sweep("main", 4, (1, 4), token_s=lambda b: 0.02 * b)
    observed = seen(*[s.model_copy(update={"wall_s": 10.0 * (s.concurrency or 1)}) for s in steps])
    reading = result(verdicts(attached, observed), "scaling", concurrency=4)
    assert (reading.state, reading.reading) == ("judged", "flat")  # flat needs no slots
    slower = [burst("main", c, 8, token_s=lambda b: 0.02 * max(1, b / 2)) for c in (1, 2, 4, 8)]
    r = result(verdicts(attached, seen(*slower)), "scaling", concurrency=8)
    assert r.state == "insufficient"
    assert "S, the number of server slots" in r.missing[0]
