"""`benchspec import`: another tool's file as `observations:`, to paste into a spec and audit."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import islice, pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import click

from benchspec.cli.console import emit_json, err, examples, out
from benchspec.errors import UsageError

if TYPE_CHECKING:
    from benchspec.observations.importers.file_times import Response

MOST_BYTES = 64 * 1024 * 1024
MOST_FILES = 10_000

_log = click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
_json = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
_interval = click.option(
    "--interval",
    default=1.0,
    type=click.FloatRange(0.001, 3600),
    show_default=True,
    help="Seconds between lines that carry no time.",
)

_LOG_EXAMPLES = examples(
    "journalctl -u llama-server -o cat > server.log",
    "benchspec import log server.log",
    "vllm bench serve ... | tee result.txt",
    "benchspec import log result.txt --arm tuned",
)


@click.group(
    "import",
    epilog=examples("nvidia-smi dmon -s ut -o T > dmon.log", "benchspec import dmon dmon.log"),
)
def command() -> None:
    """Read what another tool left, and print it as `observations` of a spec."""


@command.command("dmon", epilog=examples("benchspec import dmon dmon.log"))
@_log
@_interval
@_json
def dmon(file: Path, interval: float, as_json: bool) -> None:
    """Counters from a saved log of `nvidia-smi dmon`, any columns.

    Counters that only answered N/A are printed as not measured.
    """
    _series(file, _dmon(_lines(file), interval), "dmon", as_json)


@command.command("query", epilog=examples("benchspec import query smi.csv --interval 2"))
@_log
@_interval
@_json
def query(file: Path, interval: float, as_json: bool) -> None:
    """Counters from a saved log of `nvidia-smi --query-gpu=... --format=csv`.

    Counters that only answered N/A are printed as not measured.
    """
    _series(file, _query(_lines(file), interval), "query", as_json)


@command.command(
    "files",
    epilog=examples("benchspec import files --mtime responses --start started.txt"),
)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--mtime",
    is_flag=True,
    required=True,
    help="Take the time of a file's last change as the end of its answer.",
)
@click.option(
    "--start",
    required=True,
    help="When the first request was sent: a time (2026-11-29T03:17:52), or a file that changed then.",
)
@_json
def files(folder: Path, mtime: bool, start: str, as_json: bool) -> None:
    """Completion times from the files of FOLDER, one answer in each, sent together.

    Copies, editors and archives change such times; what follows is no finer than the file system
    keeps them, and the printed source says how fine that is. Empty files count as failed.
    """
    from benchspec.observations.importers.file_times import BeforeTheStart, step_of

    try:
        step = step_of(_responses(folder), _moment_ns(start))
    except BeforeTheStart as early:
        raise UsageError(
            f"{early}.",
            hint="give the time of the first request as --start, or take that file away",
        ) from early
    if len(set(step["completions_s"])) == 1 and step["concurrency"] > 1:
        err("warning: all files changed at one time; they may have been copied since")
    _print({"steps": [step]}, as_json)


@command.command("nsys", epilog=examples("benchspec import nsys kernels.csv --total 93"))
@_log
@click.option(
    "--total",
    type=click.FloatRange(min=0, min_open=True),
    help="Milliseconds that the profiled work took; without it, the kernels together.",
)
@_json
def nsys(file: Path, total: float | None, as_json: bool) -> None:
    """A time budget from a kernel summary of Nsight Systems, the most expensive kernel first.

    FILE is what `nsys stats --report cuda_gpu_kern_sum --format csv` printed.
    """
    from benchspec.observations.importers.nsys import budget_of, kernels

    found = kernels(_lines(file))
    if not found or sum(found.values()) <= 0:
        raise UsageError(
            f"{file} holds no kernel summary of Nsight Systems.",
            hint="nsys stats --report cuda_gpu_kern_sum --format csv REPORT > kernels.csv",
        )
    whole = sum(found.values()) if total is None else total
    for name, ms in list(found.items())[:3]:
        err(f"{100 * ms / whole:.1f} % {name}")
    if total is None:
        err("these are shares of the kernels' time; --total gives shares of all time")
    _print({"budgets": [budget_of(found, total, "GPU kernels")]}, as_json)


@command.command("log", epilog=_LOG_EXAMPLES)
@_log
@click.option("--arm", help="Id of the arm that ran; without it, that of a spec without arms.")
@_json
def log(file: Path, arm: str | None, as_json: bool) -> None:
    """Throughputs and timings from the log of a server, or from what a client printed.

    Of each request where the log tells of requests, else averages over the log's interval. Read are
    the timings of llama.cpp and llama-server, throughput lines of vLLM and SGLang, Ollama's requests
    and --verbose, tabbyAPI's metrics, the result block of `vllm bench serve` and
    `sglang.bench_serving`, tables of llama-bench, and mlx_lm's timings; with or without the prefixes
    of journald, docker and compose. What no key holds is named on stderr and left out.
    """
    from benchspec.observations.importers.logs.formats import FORMATS, read_log

    found, names = read_log([_unwrapped(line) for line in _lines(file)], file.name)
    if not names:
        known = "; ".join(f"{form.name} ({form.sign})" for form in FORMATS)
        raise UsageError(f"{file} holds no line of a log that is read.", hint=f"known: {known}")
    err(f"read: {', '.join(names)}")
    if found.left_out:
        err(f"left out, as no key holds it or it is not certain: {'; '.join(found.left_out)}")
    if not (found.steps or found.series or found.arm):
        raise UsageError(f"{file} holds no figure that a key holds.", hint="see what was left out")
    whose = {"arm": arm} if arm else {}
    arms = {"arms": {arm or "main": found.arm}} if found.arm else {}
    parts = {"steps": found.steps, "series": found.series}
    _print(
        arms | {name: [whose | one for one in all_] for name, all_ in parts.items() if all_},
        as_json,
    )


@command.command("perf", epilog=examples("benchspec import perf performance.txt"))
@_log
@_json
def perf(file: Path, as_json: bool) -> None:
    """Which limits held the clocks down, from a saved `nvidia-smi -q -d PERFORMANCE`.

    A reason that was set is 100 %, one that was not is 0 %, at each look (`-l` looks again and again).
    """
    from benchspec.telemetry.smi_text import reasons_by_device

    series = [
        {
            "counter": counter,
            "unit": "%",
            "device": device,
            "source": f"nvidia-smi -q -d PERFORMANCE, looks: {len(looks)}",
            "values": [100.0 * look[counter] for look in looks if counter in look],
        }
        for device, looks in reasons_by_device(_lines(file)).items()
        for counter in dict.fromkeys(name for look in looks for name in look)
    ]
    if not series:
        raise UsageError(
            f"{file} holds no reason that nvidia-smi prints for a lower clock.",
            hint="while the load runs: nvidia-smi -q -d PERFORMANCE > performance.txt",
        )
    _print({"series": series}, as_json)


def _unwrapped(line: str) -> str:
    from benchspec.knowledge.wrapped import unwrapped, without_colour

    return without_colour(unwrapped(line))


def _series(file: Path, series: list[dict[str, Any]], kind: str, as_json: bool) -> None:
    if not series:
        raise UsageError(
            f"{file} holds no samples that nvidia-smi {kind} prints.",
            hint="a dmon log begins with `# gpu`, a query log with a header line of column names",
        )
    _print({"series": series}, as_json)


def _print(observations: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        emit_json({"format_version": 1, "observations": observations})
        return
    for line in _yaml(observations):
        out(line)
    err(
        "next: paste this into a spec, say which arm and step it belongs to, then benchspec audit SPEC"
    )


def _responses(folder: Path) -> list[Response]:
    """The files of a folder, without hidden ones, links and folders."""
    from benchspec.observations.importers.file_times import Response

    try:
        paths = (path for path in folder.iterdir() if path.name[0] != ".")
        found = [(path.name, path.lstat()) for path in islice(paths, MOST_FILES + 1)]
    except OSError as error:
        raise UsageError(f"{folder} cannot be read: {error.strerror}.") from error
    files = [
        Response(name, seen.st_mtime_ns, seen.st_size)
        for name, seen in found
        if stat.S_ISREG(seen.st_mode)
    ]
    if not any(response.size_bytes for response in files):
        raise UsageError(f"{folder} holds no file with an answer.", hint="name the folder of them")
    if len(found) > MOST_FILES:
        raise UsageError(f"{folder} holds more than {MOST_FILES} files.", hint="give one wave")
    return files


def _moment_ns(text: str) -> int:
    """A time, or the time of change of the file that it names; local time where no zone is said."""
    try:
        return round(datetime.fromisoformat(text).timestamp() * 1e9)
    except (ValueError, OverflowError, OSError):
        pass
    try:
        return Path(text).stat().st_mtime_ns
    except (OSError, ValueError) as error:
        raise UsageError(
            f"--start {text!r} is neither a time nor a file that can be read.",
            hint="write 2026-11-29T03:17:52 (local time, or with +01:00), or a file's name",
        ) from error


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
            interval_s=_apart_s([at_ns / 1e9 for at_ns in track.at_ns]) or interval_s,
            window_s=track.counter.window_s,
            source="nvidia-smi dmon",
            values=track.values,
            times_s=[at_ns / 1e9 for at_ns in track.at_ns],
            not_measured=track.counter.not_measured,
        )
        for track in tracks(lines, interval_s=interval_s)
    ]


def _query(lines: list[str], interval_s: float) -> list[dict[str, Any]]:
    from benchspec.telemetry.query_saved import first_moment, saved

    found = saved(lines)
    first, series = first_moment(found), []
    for one in found:
        answered = any(value is not None for value in one.values)
        times_s = one.times_s(first) if first else []
        series.append(
            _without_nothing(
                counter=one.counter,
                unit=one.unit,
                device=one.device,
                interval_s=_apart_s(times_s) or interval_s,
                source="nvidia-smi --query-gpu",
                values=one.values if answered else [],
                times_s=times_s if answered else [],
                not_measured=None if answered else "it answered N/A",
            )
        )
    return series


def _apart_s(times_s: list[float]) -> float | None:
    """The median time from one line to the next; None below two."""
    gaps = [later - earlier for earlier, later in pairwise(times_s)]
    return round(median(gaps), 6) if gaps else None


def _without_nothing(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, [])}


def _yaml(observations: Mapping[str, Any]) -> Iterable[str]:
    """Flow style, one item a line, as a person would paste it (JSON strings are YAML).

    The requests of a step stand on lines of their own.
    """
    yield "observations:"
    for part, items in observations.items():
        yield f"  {part}:"
        for one in items:
            if isinstance(items, dict):
                yield f"    {json.dumps(one)}: {_flow(items[one])}"
                continue
            fields = dict(one)
            requests = fields.pop("requests", [])
            if not requests:
                yield f"    - {_flow(fields)}"
                continue
            yield f"    - {_flow(fields)[:-1]}, requests: ["
            yield from (f"        {_flow(request)}," for request in requests[:-1])
            yield f"        {_flow(requests[-1])}]}}"


def _flow(fields: Mapping[str, Any]) -> str:
    written = (f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items())
    return f"{{{', '.join(written)}}}"
