"""How it was measured, and how wrong the instrument may be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from benchspec.judge.place import Place
from benchspec.judge.prompt_lengths import PromptLength, prompt_length
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Client, Step
from benchspec.report.material import Material
from benchspec.report.numbers import count, figure, percent
from benchspec.report.parts import Cell, Method, Table


def method(material: Material) -> Method:
    """Sentences on the load, and the worst figures of the client over all steps."""
    steps = [s for s in material.observations.steps if s.client]
    return Method(
        sentences=tuple(_sentences(material)),
        instrument=_instrument(material, [s.client for s in steps if s.client]),
        instrument_note=_note(material, steps),
    )


def _sentences(material: Material) -> Iterator[str]:
    spec, done = material.spec, material.observations.steps
    if material.audited:
        yield "Nothing was measured by benchspec: these are figures that someone else published."
    mode = next((s.mode for s in done if s.mode), spec.load.mode)
    if mode:
        yield _MODES[mode]
    label = spec.workload.label
    if label:
        named = label.model_dump(exclude_none=True)
        yield "Workload: " + ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in named.items()) + "."
    yield from _prompts(material)
    finished = sum(s.state == "done" for s in done)
    if not done:
        return
    yield (
        f"{count(finished, 'cell')} of {len(done)} finished; a cell is one arm at one load, once. "
        f"{count(spec.repeats, 'repeat')} of each, order {spec.order}."
    )
    if not material.audited:
        yield (
            "A check divides within a repeat; the value is the median over repeats, with the "
            "smallest and largest beside it. Times are on one monotonic clock; tokens are counted "
            "by the server, never by chunks; failed requests are counted, not dropped."
        )


_MODES = {
    "burst": "Load: burst. C requests are sent at once and nothing after them.",
    "sustained": "Load: sustained. C requests are kept in flight; each that ends is replaced.",
    "open": "Load: open loop. Requests are sent on a schedule; waiting counts from the schedule.",
}


def _prompts(material: Material) -> Iterator[str]:
    prompt, output = material.spec.workload.prompt, material.spec.workload.output
    unique = ", no two alike" if prompt.unique else ""
    counted = _counted(material)
    asked = sorted(counted) or ([prompt.tokens] if prompt.tokens else [])
    for tokens in asked:
        told, off = counted.get(tokens, ("", []))
        yield f"Prompts of {count(tokens, 'token')}{unique}{told}."
        if off:
            more = f" and {len(off) - 1} more" if len(off) > 1 else ""
            yield (
                f"Caveat: that is more than {percent(limit('tokens.length'))} from what was asked for "
                f"({off[0]}{more}): read times to a first token as of the length counted."
            )
    if output.tokens:
        how = "forced: every answer has that length" if output.forced else "not forced"
        yield f"Answers of {count(output.tokens, 'token')}, {how}."


def _counted(material: Material) -> dict[int, tuple[str, list[str]]]:
    """Prompt tokens asked for -> what the server counted in all such steps, in words, and the places
    where that is another length."""
    steps = [(s, prompt_length(material.case, s)) for s in material.observations.steps]
    lengths: dict[int, list[tuple[str, PromptLength]]] = {}
    for step, length in steps:
        if length is not None:
            lengths.setdefault(length.asked, []).append((str(Place.of(step)), length))
    return {asked: _in_words(asked, found) for asked, found in lengths.items()}


def _in_words(asked: int, found: list[tuple[str, PromptLength]]) -> tuple[str, list[str]]:
    fewest, most = min(one.fewest for _, one in found), max(one.most for _, one in found)
    off = list(dict.fromkeys(place for place, one in found if one.off))
    return f"; the server counted {PromptLength(asked, fewest, most).counted}", off


Row = tuple[str, Callable[[Client], float | None], Callable[[Iterable[float]], float], str | None]

_ROWS: tuple[Row, ...] = (
    ("Arrivals stamped by the kernel, smallest share", lambda c: c.kernel_stamp_share, min, "%"),
    ("Send later than intended, worst p99", lambda c: c.send_lateness_ms_p99, max, "ms"),
    ("Read later than arrived, worst p99", lambda c: c.read_lag_ms_p99, max, "ms"),
    ("Reads that held more than one event, largest share", lambda c: c.coalesced_share, max, "%"),
    ("Processor of the client, largest share of a core", lambda c: c.cpu_share, max, "%"),
    ("Processor of the sampled counters, largest share", lambda c: c.telemetry_share, max, "%"),
    ("Events per second, highest step", lambda c: c.events_per_s, max, "1/s"),
    ("Events per second that this client can carry", lambda c: c.ceiling_events_s, min, "1/s"),
)


_CALIBRATED = {
    "first_token_error_ms_p50": "First token against a server of known timing, median error",
    "first_token_error_ms_p99": "First token against a server of known timing, p99 error",
    "gap_error_ms_p50": "Time between tokens against that server, median error",
}


def _instrument(material: Material, clients: list[Client]) -> Table | None:
    known = material.facts.calibration
    rows = [
        (Cell(label), Cell(figure(_short(known[name]), "ms"), "measured"))
        for name, label in _CALIBRATED.items()
        if known.get(name) is not None
    ]
    for label, read, worst, unit in _ROWS:
        values = [v for c in clients if (v := read(c)) is not None]
        if values:
            value = worst(values)
            text = percent(value) if unit == "%" else figure(_short(value), unit)
            rows.append((Cell(label), Cell(text, "measured")))
    head = ("Instrument", "Over all steps")
    return Table("The instrument's own error", head, tuple(rows), frozenset({1})) if rows else None


def _short(value: float) -> float:
    return float(f"{value:.3g}")


def _note(material: Material, steps: list[Step]) -> str:
    if material.audited:
        return "The instrument of an audit is the author's; its error is not known here."
    if not steps:
        return "The client recorded nothing about its own error."
    sources = sorted({s.client.stamp_source for s in steps if s.client and s.client.stamp_source})
    return f"Stamps came from: {', '.join(sources) or 'not recorded'}. Check client judges them."
