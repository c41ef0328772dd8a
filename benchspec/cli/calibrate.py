"""`benchspec calibrate`: how fast and how exact the measuring client is, here and now."""

from __future__ import annotations

import dataclasses

import click

from benchspec.cli.console import emit_json, err, out


@click.command(epilog="Example: benchspec calibrate --seconds 5")
@click.option(
    "--seconds", default=2.0, type=click.FloatRange(0.2, 60), show_default=True, help="How long."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def command(seconds: float, as_json: bool) -> None:
    """Measure the client's own error and its ceiling against a built-in server of known timing.

    A run does the same, shorter, before its first cell; verdicts are withheld where the load
    exceeds half the ceiling or the client's share of a figure exceeds 5 %.
    """
    from benchspec.load.calibration import calibrate

    err(f"measuring for about {seconds:g} s against a built-in server of known timing ...")
    found = calibrate(seconds)
    if as_json:
        emit_json({"format_version": 1, **dataclasses.asdict(found)})
        return
    rows = [
        ("processor time per event", f"{found.cpu_us_per_event:.1f} us"),
        ("ceiling of one client process", f"{found.ceiling_events_s:,.0f} events/s"),
        ("flat out (events coalesce)", f"{found.flat_out_events_s:,.0f} events/s"),
        ("reads stamped by the kernel", f"{100 * found.kernel_stamp_share:.1f} %"),
        ("send lateness, p99", f"{found.send_lateness_ms_p99:.2f} ms"),
        ("read lag, p99", _ms(found.read_lag_ms_p99)),
        ("error of first-token time, p50 / p99", _pair(found.errors, "first_token")),
        ("error of inter-token time, p50 / p99", _pair(found.errors, "gap")),
    ]
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        out(f"{name:<{width}}  {value}")
    err("the errors include the built-in server's own lateness: they are upper bounds")
    err("next: benchspec run SPEC")


def _ms(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.2f} ms"


def _pair(errors: object, name: str) -> str:
    p50, p99 = getattr(errors, f"{name}_ms_p50"), getattr(errors, f"{name}_ms_p99")
    return f"{p50:.2f} / {p99:.2f} ms"
