"""What spoils a step's rates: foreign work on the machine, or the measuring client itself.

The client's share of a figure is its possible error divided by the figure:

* of an arrival: the p99 of the read lag where stamps are not the kernel's or reads carried several
  events (the kernel's own stamp is late by 0.05 ms at most);
* of a dispatch: the p99 of the send lateness, which counts for the wall time (for one latency where
  requests are replaced as they end), and for the first token where it counts from the schedule;
* of everything: the client's part of the processor time, where it and the engine together need all
  cores (what foreign processes need is contamination).
"""

from __future__ import annotations

from benchspec.judge import figures
from benchspec.judge.interval import Interval, show
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Client, Step
from benchspec.observations.quantiles import median

FIGURES = ("wall", "ttft", "itl")

NOT_IDLE = "counter not idle"
"""Name of the input of a `baseline` that says that somebody else used a device."""


def contamination(step: Step) -> str | None:
    """Why foreign processes spoil the step's rates, or None."""
    share = step.quiet.foreign_share if step.quiet else None
    if share is None or share <= limit("baseline.foreign"):
        return None
    return (
        f"contaminated: foreign processes took {show(100 * share, 3)} % of the processor time that "
        f"engine and client needed (limit {show(100 * limit('baseline.foreign'))} %)"
    )


def failures(step: Step) -> str | None:
    """Why a step is of another load than was asked for, or None: too many requests failed."""
    failed, sent = figures.failed(step), figures.sent(step)
    if not sent or failed <= limit("failed.share") * sent:
        return None
    return f"{failed} of {sent} requests failed: what the others got is of a smaller load"


def client_shares(step: Step) -> dict[str, float]:
    """Figure -> the client's share of it; only for figures and errors that are known."""
    client = step.client
    if client is None:
        return {}
    arrival, dispatch = _arrival_error_ms(client), client.send_lateness_ms_p99
    shares = {}
    for name, size_ms in _sizes_ms(step).items():
        counts = name == "wall" or (name == "ttft" and step.mode == "open")
        errors = [arrival, dispatch if counts else 0.0]
        known = [e for e in errors if e is not None]
        if arrival is not None or (counts and dispatch is not None):
            shares[name] = sum(known) / size_ms
    return shares


def competition(step: Step) -> float | None:
    """The client's part of the processor time, where all cores are busy; 0 where they are not."""
    quiet = step.quiet
    if quiet is None or quiet.client_share is None or quiet.busy_share is None:
        return None
    return quiet.client_share if quiet.busy_share >= limit("client.busy") else 0.0


def load_share(step: Step) -> float | None:
    """Events per second / what this client was calibrated to bear."""
    client = step.client
    if client is None or not client.ceiling_events_s or client.events_per_s is None:
        return None
    return client.events_per_s / client.ceiling_events_s


def client_limit(step: Step, figure: str) -> str | None:
    """Why the client spoils `figure` of the step, or None."""
    load, share, cores = load_share(step), client_shares(step).get(figure), competition(step)
    if load is not None and load > limit("client.load"):
        return f"client-limited: the load is {show(100 * load, 3)} % of the client's ceiling"
    if share is not None and share > limit("client.share"):
        return f"client-limited: {show(100 * share, 3)} % of {figure} may be the client's own"
    core = step.client.cpu_share if step.client else None
    if core is not None and core > limit("client.core"):
        return f"client-limited: the client kept {show(100 * core, 3)} % of one core busy"
    if cores is not None and cores > limit("client.share"):
        return (
            f"client-limited: the client took {show(100 * cores, 3)} % of the processor time on "
            "cores that were all busy"
        )
    return None


def unfit(step: Step, figure: str = "wall") -> str | None:
    """Why no rate may be read from the step, or None."""
    return contamination(step) or client_limit(step, figure)


def _arrival_error_ms(client: Client) -> float | None:
    stamped, coalesced = client.kernel_stamp_share, client.coalesced_share
    inexact = 1.0 if stamped is None else 1 - stamped + (coalesced or 0.0)
    if inexact > limit("client.inexact"):
        return client.read_lag_ms_p99
    return limit("client.kernel-ms")


def _sizes_ms(step: Step) -> dict[str, float]:
    """The smallest figure of each kind that the step offers to divide, in ms."""
    wall, latencies = figures.wall_s(step), figures.latencies_s(step)
    if step.mode == "sustained" and latencies:
        wall = Interval.of(median(latencies))
    ttfts = [r.ttft_ms for r in figures.succeeded(step) if r.ttft_ms]
    sizes = {
        "wall": wall.low * 1e3 if wall else None,
        "ttft": median(ttfts) if ttfts else None,
        "itl": step.itl_ms.p50 if step.itl_ms else None,
    }
    return {name: size for name, size in sizes.items() if size}
