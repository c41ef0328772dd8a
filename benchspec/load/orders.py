"""What measuring processes are told, and what they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchspec.load.cell import Load, Progress, Work
from benchspec.load.limits import Limits
from benchspec.load.target import Target
from benchspec.load.trace import Share


@dataclass(frozen=True)
class Job:
    """A part of a cell. `secure` stands for the TLS context, which cannot be sent."""

    target: Target
    secure: bool
    work: Sequence[Work]
    load: Load
    origin_ns: int
    limits: Limits


@dataclass(frozen=True)
class Ready:
    """Connections are open; the part starts when everybody is told to go."""


@dataclass(frozen=True)
class Go:
    """Start at this moment of CLOCK_MONOTONIC, which is one clock for all processes of a machine."""

    at_ns: int


@dataclass(frozen=True)
class Halt:
    """One request to stop."""


@dataclass(frozen=True)
class Broke:
    """The process cannot go on, and ends."""

    reason: str


Order = Job | Go | Halt
Result = Ready | Progress | Share | Broke
