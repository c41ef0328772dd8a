"""`benchspec calibrate`: how fast and how exact the measuring client is, here and now."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from benchspec.cli.console import emit_json, err, examples, out

if TYPE_CHECKING:
    from benchspec.load.calibration import Calibration, Paced

GAP_MS = 20.0
"""50 tokens a second on every stream, a common rate of decoding."""

BEARABLE = 0.5
"""Share of its ceiling that a client may be loaded with; verdicts are withheld above it."""


@click.command(epilog=examples("benchspec calibrate --streams 64 --streams 256"))
@click.option(
    "--streams",
    multiple=True,
    default=(64,),
    type=click.IntRange(1, 4096),
    show_default=True,
    help="Requests in flight; may be given several times.",
)
@click.option(
    "--seconds",
    default=2.0,
    type=click.FloatRange(0.2, 60),
    show_default=True,
    help="How long, for each of them.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def command(streams: Sequence[int], seconds: float, as_json: bool) -> None:
    """Measure the client's own error and its ceiling against a built-in server of known timing.

    Every stream gets 50 tokens a second. A run does the same, shorter, before its first cell;
    verdicts are withheld where the load exceeds half the ceiling or the client's share of a figure
    exceeds 5 %.
    """
    from benchspec.load.calibration import calibrate

    err(f"measuring for about {seconds * len(streams):g} s against a server of known timing ...")
    found = calibrate(seconds, streams, GAP_MS)
    clock = time.get_clock_info("monotonic")
    if as_json:
        emit_json(
            {
                "format_version": 1,
                "clock": {"source": clock.implementation, "resolution_ns": clock.resolution * 1e9},
                "cpu_us_per_event": found.cpu_us_per_event,
                "ceiling_events_s": found.ceiling_events_s,
                "no_ceiling": _no_ceiling(found),
                **asdict(found),
            }
        )
        return
    _print_table(found)
    out("")
    for name, value in [
        ("processor time per event", f"{found.cpu_us_per_event:.1f} us"),
        *_ceiling(found),
        ("flat out (events coalesce)", f"{found.flat_out_events_s:,.0f} events/s"),
        ("clock", f"{clock.implementation}, steps of {clock.resolution * 1e9:g} ns"),
    ]:
        out(f"{name:<28}{value}")
    if why := _no_ceiling(found):
        err(why)
    err("an error is what the client says minus what the server did; its lateness is in none")
    err("next: benchspec run SPEC")


def _ceiling(found: Calibration) -> Sequence[tuple[str, str]]:
    ceiling = found.ceiling_events_s
    if ceiling is None:
        return [("ceiling of one process", "not known")]
    bearable = int(BEARABLE * ceiling * GAP_MS / 1e3)
    return [
        ("ceiling of one process", f"{ceiling:,.0f} events/s"),
        ("bears, at half of it", f"{bearable:,} streams of 50 tokens/s"),
    ]


def _no_ceiling(found: Calibration) -> str | None:
    """Why there is no ceiling, and what to do; None where there is one."""
    from benchspec.load.calibration import CEILING_STREAMS

    if found.ceiling_events_s is not None:
        return None
    most = max(one.streams for one in found.paced)
    return (
        f"no ceiling is given: it follows from the processor time per event of {CEILING_STREAMS} "
        f"streams or more, and the most here was {most}; add --streams 64"
    )


_COLUMNS = (
    "streams",
    "load",
    "first token",
    "gap",
    "stamp",
    "send late",
    "read lag",
    "coalesced",
    "kernel",
    "cpu",
    "server late",
)
_UNITS = (
    "",
    "% of ceiling",
    "ms p50/p99",
    "ms p50/p99",
    "ms p50/p99",
    "ms p99",
    "ms p99",
    "% of reads",
    "% of reads",
    "% of a core",
    "ms p99",
)


def _print_table(found: Calibration) -> None:
    rows = [_COLUMNS, _UNITS, *(_row(one, found.ceiling_events_s) for one in found.paced)]
    for row in rows:
        out("  ".join(f"{text:>13}" for text in row))


def _row(one: Paced, ceiling_events_s: float | None) -> Sequence[str]:
    lag = one.read_lag_ms_p99
    return (
        str(one.streams),
        "not known" if ceiling_events_s is None else f"{100 * one.events_s / ceiling_events_s:.1f}",
        f"{one.errors.first_token_ms_p50:.2f}/{one.errors.first_token_ms_p99:.2f}",
        f"{one.errors.gap_ms_p50:.2f}/{one.errors.gap_ms_p99:.2f}",
        f"{one.errors.stamp_ms_p50:.2f}/{one.errors.stamp_ms_p99:.2f}",
        f"{one.send_lateness_ms_p99:.2f}",
        "not measured" if lag is None else f"{lag:.2f}",
        f"{100 * one.coalesced_share:.1f}",
        f"{100 * one.kernel_stamp_share:.1f}",
        f"{100 * one.cpu_share:.1f}",
        f"{one.server_late_ms_p99:.2f}",
    )
