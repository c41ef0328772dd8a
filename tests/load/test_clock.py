"""A kernel stamp becomes monotonic time by its age at the read, or is not believed."""

from __future__ import annotations

import socket
import struct
import time

from hypothesis import given
from hypothesis import strategies as st

from benchspec.load.clock import (
    SO_TIMESTAMPNS,
    ReadStats,
    arrival_ns,
    clock_pair_ns,
    kernel_stamp_ns,
)

SECOND = 1_000_000_000
moments = st.integers(min_value=0, max_value=2**62)
ages = st.integers(min_value=0, max_value=100 * SECOND)


def stamped(stamp_ns: int) -> list[tuple[int, int, bytes]]:
    timespec = struct.pack("@ll", *divmod(stamp_ns, SECOND))
    return [(socket.SOL_SOCKET, SO_TIMESTAMPNS, timespec)]


@given(stamp=moments)
def test_the_stamp_is_read_from_its_own_item(stamp: int) -> None:
    other = (socket.SOL_SOCKET, SO_TIMESTAMPNS + 1, b"\1" * 16)
    assert kernel_stamp_ns([other, *stamped(stamp)]) == stamp


def test_no_item_or_a_short_one_is_no_stamp() -> None:
    assert kernel_stamp_ns([]) is None
    assert kernel_stamp_ns([(socket.SOL_SOCKET, SO_TIMESTAMPNS, b"\1" * 8)]) is None


@given(mono=moments, real=moments, age=ages, before=moments)
def test_an_arrival_lies_between_what_is_known_and_now(
    mono: int, real: int, age: int, before: int
) -> None:
    arrival = arrival_ns(real - age, before, mono, real)
    if arrival is not None and before <= mono:
        assert before <= arrival <= mono


@given(mono=moments, real=moments, age=ages, offset=st.integers(-(10**12), 10**12))
def test_the_wall_clock_itself_does_not_matter(mono: int, real: int, age: int, offset: int) -> None:
    """Only the stamp's age counts, so a clock that is wrong by any amount gives the same."""
    plain = arrival_ns(real - age, 0, mono, real)
    assert arrival_ns(real + offset - age, 0, mono, real + offset) == plain


def test_a_clock_stepped_back_is_noticed() -> None:
    """The stamp is then in the future."""
    assert arrival_ns(1000 * SECOND, 0, 50 * SECOND, 999 * SECOND) is None


def test_a_clock_stepped_forward_is_noticed() -> None:
    """The stamp is then older than the request it answers."""
    assert arrival_ns(1000 * SECOND, 49 * SECOND, 50 * SECOND, 1005 * SECOND) is None


def test_stamps_of_one_connection_do_not_go_back_by_the_spread_of_the_clocks() -> None:
    assert arrival_ns(1000 * SECOND, 50 * SECOND, 50 * SECOND, 1000 * SECOND + 30_000) == (
        50 * SECOND
    )


def test_every_read_is_counted_by_how_it_was_stamped() -> None:
    reads = ReadStats()
    _, real = clock_pair_ns()
    believed = reads.arrival_ns(stamped(real), 0)
    absent = reads.arrival_ns([], believed)
    stepped = reads.arrival_ns(stamped(real + 3600 * SECOND), absent)
    assert believed <= absent <= stepped <= time.monotonic_ns()
    assert (reads.reads, reads.kernel_stamps) == (3, 1)
    assert len(reads.lag_ns) == 1
    assert reads.lag_ns[0] >= 0
