"""How much one request may take, and what ends it as a failure; how many sockets may be open."""

from __future__ import annotations

import resource
from dataclasses import dataclass

# Standard streams, the loop's own descriptors, journal and telemetry files.
_OTHER_FILES = 256


@dataclass(frozen=True)
class Limits:
    """Bounds on one request; the server is not trusted to end anything.

    `first_byte_s` is long because a queued request waits for whole requests before it and a long
    prompt is computed for minutes; `idle_s` is the longest silence once bytes have come;
    `drain_s` is how long requests in flight may go on after the cell was asked to stop.
    """

    connect_s: float = 10.0
    first_byte_s: float = 1800.0
    idle_s: float = 300.0
    total_s: float = 3600.0
    drain_s: float = 30.0
    header_bytes: int = 64 * 1024
    line_bytes: int = 1024 * 1024
    response_bytes: int = 64 * 1024 * 1024


def allow_sockets(sockets: int) -> None:
    """Raise the soft limit of open files for so many, as far as the hard one lets us."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = sockets + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        top = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (top, hard))
