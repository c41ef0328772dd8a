"""`benchspec import`: another tool's file as `observations:`, to paste into a spec and audit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from benchspec.cli.console import emit_json, err, out
from benchspec.errors import UsageError

MOST_BYTES = 64 * 1024 * 1024

Reader = Callable[[list[str], float], list[dict[str, Any]]]


@click.command(
    "import",
    epilog="Example: nvidia-smi dmon -s ut -o T > dmon.log; benchspec import dmon dmon.log",
)
@click.argument("kind", type=click.Choice(["dmon", "query"]))
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--interval",
    default=1.0,
    type=click.FloatRange(0.001, 3600),
    show_default=True,
    help="Seconds between lines that carry no time.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def command(kind: str, file: Path, interval: float, as_json: bool) -> None:
    """Read FILE and print its counters as `observations.series`.

    KIND is dmon (a saved log of `nvidia-smi dmon`, any columns) or query (`nvidia-smi
    --query-gpu=... --format=csv`). Counters that only answered N/A are printed as not measured.
    """
    series = _READERS[kind](_lines(file), interval)
    if not series:
        raise UsageError(
            f"{file} holds no samples that nvidia-smi {kind} prints.",
            hint="a dmon log begins with `# gpu`, a query log with a header line of column names",
        )
    if as_json:
        emit_json({"format_version": 1, "observations": {"series": series}})
        return
    for line in _yaml(series):
        out(line)
    err("next: paste this into a spec, say which arm and step it belongs to, benchspec audit SPEC")


def _lines(file: Path) -> list[str]:
    try:
        with file.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from error
    if len(data) > MOST_BYTES:
        raise UsageError(f"{file} is longer than {MOST_BYTES // 2**20} MiB; cut it to the run.")
    return data.decode("utf-8", "replace").splitlines()


def _dmon(lines: list[str], interval_s: float) -> list[dict[str, Any]]:
    from benchspec.telemetry.dmon_saved import tracks

    return [
        _without_nothing(
            counter=track.counter.name,
            unit=track.counter.unit,
            device=track.counter.device,
            interval_s=interval_s,
            source="nvidia-smi dmon",
            values=track.values,
            times_s=[at_ns / 1e9 for at_ns in track.at_ns],
            not_measured=track.counter.not_measured,
        )
        for track in tracks(lines, interval_s=interval_s)
    ]


_QUERY = {
    "utilization.gpu": ("utilization", "%"),
    "utilization.memory": ("utilization_memory", "%"),
    "power.draw": ("power", "W"),
    "temperature.gpu": ("temperature", "°C"),
    "temperature.memory": ("temperature_memory", "°C"),
    "clocks.sm": ("clocks_sm", "MHz"),
    "clocks.mem": ("clocks_memory", "MHz"),
    "memory.used": ("memory_used", "MiB"),
    "pcie.link.gen.current": ("pcie_gen", "1"),
    "pcie.link.width.current": ("pcie_lanes", "1"),
}
"""Column of `nvidia-smi --query-gpu` -> (counter, unit)."""


def _query(lines: list[str], interval_s: float) -> list[dict[str, Any]]:
    from benchspec.telemetry.smi_text import parse_query

    found: dict[tuple[str, str], list[float | None]] = {}
    for row in parse_query(lines):
        device = f"gpu{row.get('index', 0):g}" if not isinstance(row.get("index"), str) else "gpu0"
        for column in _QUERY.keys() & row.keys():
            value = row[column]
            kept = value if isinstance(value, float) else None
            found.setdefault((device, column), []).append(kept)
    return [
        _without_nothing(
            counter=_QUERY[column][0],
            unit=_QUERY[column][1],
            device=device,
            interval_s=interval_s,
            source="nvidia-smi --query-gpu",
            values=values if any(value is not None for value in values) else [],
            not_measured=None if any(v is not None for v in values) else "it answered N/A",
        )
        for (device, column), values in sorted(found.items())
    ]


_READERS: dict[str, Reader] = {"dmon": _dmon, "query": _query}


def _without_nothing(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, [])}


def _yaml(series: Iterable[dict[str, Any]]) -> Iterable[str]:
    """Flow style, one series a line, as a person would paste it (JSON strings are YAML)."""
    import json

    yield "observations:"
    yield "  series:"
    for one in series:
        fields = ", ".join(
            f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in one.items()
        )
        yield f"    - {{{fields}}}"
