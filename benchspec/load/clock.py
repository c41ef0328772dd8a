"""When bytes arrived: the kernel's stamp, on the one monotonic clock that everything else uses."""

from __future__ import annotations

import socket
import struct
import sys
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

# asm-generic/socket.h; Python's socket module does not name it.
SO_TIMESTAMPNS = 35
_TIMESPEC = struct.Struct("@ll")
ANCILLARY_BYTES = socket.CMSG_SPACE(_TIMESPEC.size) if hasattr(socket, "CMSG_SPACE") else 0

# Two clocks read further apart than this were read across a preemption; read them again.
_PAIR_SPREAD_NS = 50_000
# Conversions of two stamps of one connection differ by the spread of their clock pairs only.
_ORDER_SLACK_NS = 2 * _PAIR_SPREAD_NS

now_ns = time.monotonic_ns
Ancillary = Sequence[tuple[int, int, bytes]]


def enable_stamps(sock: socket.socket) -> bool:
    """Ask the kernel to stamp what arrives on `sock`; False where it cannot."""
    if sys.platform != "linux":
        return False
    try:
        sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    except OSError:
        return False
    return True


def kernel_stamp_ns(ancillary: Ancillary) -> int | None:
    """The CLOCK_REALTIME stamp that came with a read, or None when there was none."""
    for level, kind, data in ancillary:
        if kind == SO_TIMESTAMPNS and level == socket.SOL_SOCKET and len(data) >= _TIMESPEC.size:
            seconds, nanoseconds = _TIMESPEC.unpack_from(data)
            return int(seconds) * 1_000_000_000 + int(nanoseconds)
    return None


def clock_pair_ns() -> tuple[int, int]:
    """CLOCK_MONOTONIC and CLOCK_REALTIME at the same moment, to within 50 us."""
    for _ in range(4):
        before = time.monotonic_ns()
        real = time.time_ns()
        after = time.monotonic_ns()
        if after - before <= _PAIR_SPREAD_NS:
            break
    return before, real


def arrival_ns(stamp_ns: int, not_before_ns: int, mono_ns: int, real_ns: int) -> int | None:
    """Turn a CLOCK_REALTIME stamp into monotonic time by its age at the moment of the read.

    Converting every read by itself keeps steps and slews of the wall clock out of the result. A
    stamp from the future, or older than `not_before_ns` (what this connection is known to have
    sent or received), means that the clock was stepped in between: None.
    """
    lag = real_ns - stamp_ns
    arrival = mono_ns - lag
    if lag < 0 or arrival < not_before_ns - _ORDER_SLACK_NS:
        return None
    return max(arrival, not_before_ns)


@dataclass
class ReadStats:
    """Every socket read of a cell: how many, how stamped, how long after arrival they were read."""

    reads: int = 0
    kernel_stamps: int = 0
    lag_ns: array[int] = field(default_factory=lambda: array("q"))

    def arrival_ns(self, ancillary: Ancillary, not_before_ns: int) -> int:
        """The arrival of what was just read, and count how it was had.

        Without a believable kernel stamp it is the moment of this call, which is late by however
        long the loop was busy.
        """
        mono, real = clock_pair_ns()
        self.reads += 1
        stamp = kernel_stamp_ns(ancillary)
        arrival = None if stamp is None else arrival_ns(stamp, not_before_ns, mono, real)
        if arrival is None:
            return mono
        self.kernel_stamps += 1
        self.lag_ns.append(mono - arrival)
        return arrival
