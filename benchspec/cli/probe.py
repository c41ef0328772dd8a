"""`benchspec probe`: how fast the memory and the links of this machine are, for a spec's hardware."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from benchspec.cli.console import emit_json, err, examples, out
from benchspec.errors import StorageFailure

if TYPE_CHECKING:
    from benchspec.telemetry.probe.gpu import GpuMemory, Gpus
    from benchspec.telemetry.probe.host import HostMemory, Rates
    from benchspec.telemetry.probe.link import Link, Waits

SMALLEST_BYTES = 2**20


def _size(context: click.Context, parameter: click.Parameter, value: str) -> int:
    """`1GiB` or `1 GiB` in bytes."""
    from benchspec.spec.quantity import QuantityError, parse_quantity

    digits = len(value) - len(value.lstrip("0123456789."))
    try:
        size = int(parse_quantity(f"{value[:digits]} {value[digits:].strip()}", "size").low)
    except QuantityError as error:
        raise click.BadParameter(f"{error}; {error.fix}", context, parameter) from error
    if size < SMALLEST_BYTES:
        raise click.BadParameter("at least 1 MiB is needed", context, parameter)
    return size


@click.command(epilog=examples("benchspec probe --size-max 4GiB"))
@click.option(
    "--size-max", default="1GiB", show_default=True, callback=_size, help="Largest buffer."
)
@click.option("--threads", type=click.IntRange(1, 1024), help="Default: one per physical core.")
@click.option(
    "--seconds", default=12.0, type=click.FloatRange(1, 600), show_default=True, help="How long."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def command(size_max: int, threads: int | None, seconds: float, as_json: bool) -> None:
    """Measure memory bandwidth by size of the buffer, and links between GPUs by size of the message.

    Prints the lines for `hardware` of a spec, where the figures are then of source `measured`. GPUs
    are measured through torch or cupy, where one of them is installed; with two of them also how
    long a message takes, directly and through the host's memory.

    Later runs on this machine use what a quiet one gave: the check bandwidth-ceiling divides by it
    where the spec states no bandwidth of its own or a datasheet's, link-probe judges the messages.
    """
    from benchspec.run.environment import hardware
    from benchspec.telemetry.probe import gpu, host, match

    err(f"measuring for at most {seconds:g} s; the machine should have nothing else to do ...")
    facts = hardware((), {})
    found = host.measure(size_max_bytes=size_max, threads=threads, seconds=seconds)
    cards = gpu.measure()
    known = match.devices_of(cards.cards, facts)
    kept = _keep(facts, found, cards, known)
    if as_json:
        emit_json(_as_json(facts, found, cards, kept))
        return
    for line in (*_host_lines(found, facts["cpu"]), "", *_gpu_lines(cards)):
        out(line)
    out()
    for line in _spec_lines(found, cards, match.names_of(cards.cards, known)):
        out(line)
    _warn(found)
    if found.quiet:
        _warn_of_cards(cards, known)
    err("next: paste the lines above into a spec, then benchspec lint SPEC")


def _keep(
    facts: dict[str, Any], found: HostMemory, cards: Gpus, known: Mapping[int, str]
) -> list[str]:
    """Keep what was measured on a quiet machine; a busy one's figures would outlive their reason.
    Of cards only those that are `known`: the library's number -> the device in `facts`."""
    from benchspec.telemetry.probe import cache, link, match

    if not found.quiet:
        return []
    names = match.names_of(cards.cards, known)
    utc = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    figures: dict[str, dict[str, Any]] = {"cpu": {"utc": utc, "host": dataclasses.asdict(found)}}
    for card in cards.cards:
        if card.index in known:
            figures[known[card.index]] = {
                "utc": utc,
                "gpu": dataclasses.asdict(card),
                "links": link.figures(cards.links, f"benchspec probe, {utc}", names),
            }
    try:
        return [str(cache.keep(facts[d], f)) for d, f in figures.items() if d in facts]
    except StorageFailure as failure:
        err(f"warning: {failure.message}")
        return []


def _as_json(
    facts: dict[str, Any], found: HostMemory, cards: Gpus, kept: list[str]
) -> dict[str, Any]:
    return {
        "format_version": 1,
        "devices": facts,
        "host": {**dataclasses.asdict(found), "quiet": found.quiet},
        "gpu": dataclasses.asdict(cards),
        "kept": kept,
        "unit": "bytes per second",
        "unit_of_links": "seconds",
    }


def _host_lines(found: HostMemory, cpu: dict[str, Any]) -> Iterator[str]:
    yield f"memory of the host: {cpu['name']}, {found.cores} cores, {found.threads} threads"
    yield f"{'buffer':>9}  {'read, best / median':>22}  {'copy, best / median':>22}"
    for point in found.points:
        read, copy = _pair(point.read), _pair(point.copy)
        yield f"{_bytes(point.size_bytes):>9}  {read:>22}  {copy:>22}"


def _gpu_lines(cards: Gpus) -> Iterator[str]:
    if cards.not_measured:
        yield f"GPU: not measured, {cards.not_measured}"
    for card in cards.cards:
        place = f" at {card.bus}" if card.bus else ""
        yield f"GPU {card.index}: {card.name}{place}, buffer of {_bytes(card.buffer_bytes)}, {cards.library}"
        rows = {
            "read": card.read,
            "copy": card.copy,
            "from the host": card.from_host,
            "to the host": card.to_host,
            **{f"to GPU {other}": rates for other, rates in card.to_card.items()},
        }
        for name, rates in rows.items():
            yield f"  {name:<14}{_pair(rates):>22}"
    if cards.cards and cards.links_not_measured:
        yield f"links: not measured, {cards.links_not_measured}"
    for link in cards.links:
        one, two = link.cards
        yield f"GPU {one} to GPU {two}: time until a message has arrived, least / median"
        yield f"{'size':>9}  {'directly':>22}  {'through the host':>22}"
        for message in link.messages:
            direct, host = _times(message.direct), _times(message.host)
            yield f"{_bytes(message.size_bytes):>9}  {direct:>22}  {host:>22}"


def _spec_lines(found: HostMemory, cards: Gpus, names: Mapping[int, str]) -> Iterator[str]:
    """What to paste under `hardware.devices`: median to best, so that the verdicts carry both.
    `names` are the ids of the library's cards, which a spec lists in the order of the bus."""
    last = found.points[-1]
    curve = ", ".join(f"{_bytes(p.size_bytes)}: {_gb(p.read.best)} GB/s" for p in found.points)
    yield "for the spec, hardware.devices:"
    yield "  - id: cpu0"
    yield "    kind: cpu"
    yield f"    memory_bandwidth: {_gb(last.read.median)}..{_gb(last.read.best)} GB/s"
    yield "    source: measured"
    yield f"    bandwidth_curve: {{{curve}}}"
    for card in sorted(cards.cards, key=lambda card: (card.bus or "", card.index)):
        yield f"  - id: {names[card.index]}"
        yield f"    name: {json.dumps(card.name)}"
        yield f"    memory_bandwidth: {_gb(card.read.median)}..{_gb(card.read.best)} GB/s"
        yield "    source: measured"
    if cards.links:
        yield "for the spec, hardware.links:"
        yield from (_link_line(link, cards.cards[link.cards[0]], names) for link in cards.links)
        yield "for an audit, observations.link_probes:"
        yield from (line for link in cards.links for line in _message_lines(link, names))


def _link_line(link: Link, first: GpuMemory, names: Mapping[int, str]) -> str:
    """Copy bandwidth, and the latency of the smallest message, as a direct copy has them."""
    one, two = link.cards
    copy, least = first.to_card[two], link.messages[0].direct
    return (
        f"  - {{between: [{names[one]}, {names[two]}], kind: other, "
        f"measured: {_gb(copy.median)}..{_gb(copy.best)} GB/s, latency: {_us(least.median)} us}}"
    )


def _message_lines(link: Link, names: Mapping[int, str]) -> Iterator[str]:
    one, two = link.cards
    for m in link.messages:
        yield (
            f"  - {{name: {names[one]} to {names[two]}, bytes: {_bytes(m.size_bytes)}, "
            f"direct_s: {_us(m.direct.median)} us, direct_least_s: {_us(m.direct.least)} us, "
            f"host_s: {_us(m.host.median)} us, host_least_s: {_us(m.host.least)} us}}"
        )


def _warn(found: HostMemory) -> None:
    if not found.quiet:
        err(
            f"warning: {found.load_before:.1f} processes wanted {found.cores} cores before this "
            "began: the figures are too low, and were not kept"
        )
    if not found.settled:
        err(
            "warning: the last two sizes do not agree, or are no larger than the caches: the "
            "memory itself is slower. Give --size-max and --seconds more"
        )


def _warn_of_cards(cards: Gpus, known: Mapping[int, str]) -> None:
    for card in cards.cards:
        if card.index not in known:
            err(
                f"warning: the figures of GPU {card.index}, {card.name}, were not kept: "
                f"{cards.library} {f'says {card.bus}' if card.bus else 'does not say where it is'}, "
                "and no one card of the driver is certainly this. Paste its lines into a spec"
            )


def _pair(rates: Rates | Any) -> str:
    return f"{_gb(rates.best)} / {_gb(rates.median)} GB/s"


def _times(waits: Waits) -> str:
    return f"{_us(waits.least)} / {_us(waits.median)} us"


def _us(seconds: float) -> str:
    return f"{seconds * 1e6:.4g}" if seconds < 1e-2 else f"{seconds * 1e6:.0f}"


def _gb(rate: float) -> str:
    return f"{rate / 1e9:.4g}"


def _bytes(size: int) -> str:
    units = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))
    unit, factor = next((u for u in units if size >= u[1]), units[-1])
    return f"{size / factor:.4g} {unit}"
