"""`benchspec model FILE.gguf`: what must be read from memory for every decoded token."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchspec.cli.console import emit_json, err, examples, out

if TYPE_CHECKING:
    from benchspec.gguf.bytes_per_token import Reads

_CACHE_TYPES = ("f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "iq4_nl", "q5_0", "q5_1")


@click.command(epilog=examples("benchspec model model.gguf --context 8192 --kv-type q8_0"))
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--context", default=0, type=click.IntRange(0), help="Tokens already in the context.")
@click.option(
    "--kv-type", default="f16", type=click.Choice(_CACHE_TYPES), help="Type of the KV cache."
)
@click.option("--streams", default=1, type=click.IntRange(1), help="Sequences decoded together.")
@click.option("--speculation", type=click.Choice(["none", "mtp"]), default="none", help="Drafting.")
@click.option("--drafts", default=3, type=click.IntRange(1, 64), help="Drafted tokens per round.")
@click.option("--tensors", is_flag=True, help="One line for each tensor.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def command(
    file: Path,
    context: int,
    kv_type: str,
    streams: int,
    speculation: str,
    drafts: int,
    tensors: bool,
    as_json: bool,
) -> None:
    """Bytes read per decoded token of FILE, a GGUF model; of a split model, its first part.

    Lookup tables count by the row, experts by their share, draft layers only when speculating.
    Bandwidth divided by this number is the ceiling of the decode rate.
    """
    from benchspec.gguf.bytes_per_token import Round, reads
    from benchspec.gguf.header import read_model

    drafting = drafts if speculation == "mtp" else 0
    asked = Round(streams * (drafting + 1), streams, context, kv_type, kv_type, drafting)
    found = reads(read_model(file), asked)
    if as_json:
        emit_json(_as_json(file, asked, found))
        return
    for line in _tensor_lines(found) if tensors else _use_lines(found):
        out(line)
    out()
    for name, size in _totals(found).items():
        out(f"{name.replace('_', ' '):<28}{_size(size)}")
    if asked.tokens > 1:
        out(f"{'per token of the round':<28}{_size(found.read_bytes / asked.tokens)}")
    for note in found.notes:
        err(f"note: {note}")
    err("next: bandwidth / bytes = the most tokens per second that one stream can reach")


def _totals(found: Reads) -> dict[str, float]:
    return {
        "stored": found.stored_bytes,
        "weights_read": found.weight_bytes,
        "cache_read": found.cache_read_bytes,
        "cache_written": found.cache_written_bytes,
        "read_per_round": found.read_bytes,
    }


def _as_json(file: Path, asked: object, found: Reads) -> dict[str, object]:
    return {
        "format_version": 1,
        "file": file.name,
        "round": dataclasses.asdict(asked),  # type: ignore[call-overload]
        "totals_bytes": _totals(found),
        "tensors": [dataclasses.asdict(tensor) for tensor in found.tensors],
        "caches": [dataclasses.asdict(cache) for cache in found.caches],
        "notes": list(found.notes),
    }


def _use_lines(found: Reads) -> Iterable[str]:
    """One line per use: how many tensors or layers, bytes stored and bytes read."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0, 0, 0])
    for tensor in found.tensors:
        _add(sums[tensor.use], tensor.stored_bytes, tensor.read_bytes)
    for cache in found.caches:
        _add(sums[f"cache: {cache.use}"], 0, cache.read_bytes)
    yield f"{'use':<28}{'tensors':>8}  {'stored':>24}  {'read in a round':>24}"
    for use, (count, stored, read) in sorted(sums.items(), key=lambda item: -item[1][2]):
        yield f"{use:<28}{count:>8.0f}  {_size(stored):>24}  {_size(read):>24}"


def _add(sums: list[float], stored: float, read: float) -> None:
    sums[0] += 1
    sums[1] += stored
    sums[2] += read


def _tensor_lines(found: Reads) -> Iterable[str]:
    yield f"{'tensor':<40}{'type':<8}{'use':<24}{'stored':>24}  {'read in a round':>24}"
    for t in found.tensors:
        read = _size(t.read_bytes)
        yield f"{t.name:<40}{t.type_name:<8}{t.use:<24}{_size(t.stored_bytes):>24}  {read:>24}"


def _size(size: float) -> str:
    """Both units, because they differ by 7 % and are often mixed."""
    return f"{size / 1e9:10.4f} GB {size / 2**30:8.4f} GiB"
