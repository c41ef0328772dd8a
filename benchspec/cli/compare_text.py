"""A comparison for people: what differs, then the figures, then the hypotheses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from benchspec.judge.comparability import Comparability, Side
from benchspec.judge.interval import Figure as Value
from benchspec.judge.interval import show
from benchspec.judge.reproduction import BandLine, BandStep, Reproduction
from benchspec.judge.side_by_side import Asked, Comparison, Figure, FigureLine, Ratio, StepLines
from benchspec.judge.thresholds import limit
from benchspec.report.material import place_of
from benchspec.report.text import one_line

Paint = Callable[[str, str], str]
Row = tuple[str, ...]

_DIGITS = 3
_VERDICTS = {"supported": "good", "refuted": "strong", "invalid": "error"}
_READINGS = {"inside": "good", "differs": "strong", "below": "error", "above": "error"}
_ANSWERS = {"inside": "good", "outside": "error", "undecided": "warning"}
_LONGEST = 400


def render(
    sides: Sequence[Side], found: Sequence[Comparison], asked: Sequence[Asked], paint: Paint
) -> Iterator[str]:
    """The lines of every comparison with the first run, and the hypotheses of all."""
    yield from _head(sides)
    for side, one in zip(sides[1:], found, strict=True):
        a, b = sides[0].label, side.label
        yield ""
        if len(found) > 1:
            yield paint(f"{b} beside {a}", "strong")
        yield from _comparability(one.comparability, paint)
        yield from _steps(one, ("", a, b, f"{b} / {a}", "quotable", ""), paint)
        yield from (f"only {a} has {_text(place)}" for place in one.only_a)
        yield from (f"only {b} has {_text(place)}" for place in one.only_b)
        yield from _note(one)
    if asked:
        yield ""
        yield paint("Hypotheses", "strong")
        yield from _hypotheses(sides, asked, paint)


def render_reproduction(sides: Sequence[Side], found: Reproduction, paint: Paint) -> Iterator[str]:
    """The lines of a rerun against its band; the answer stands last."""
    yield from _head(sides)
    yield ""
    yield from _comparability(found.comparability, paint)
    titles = ("", "published", "band", "rerun", "")
    rows = [[_band_row(line) for line in step.figures] for step in found.steps]
    widths = _widths([titles, *(row for step in rows for row in step)])
    for step, lines in zip(found.steps, rows, strict=True):
        yield ""
        yield f"{_place(step)}: {paint(step.reading, _ANSWERS[step.reading])}"
        yield _row(titles, widths, "", paint)
        for line, row in zip(step.figures, lines, strict=True):
            yield _row(row, widths, line.reading, paint)
        yield from _reasons([line.why for line in step.figures if line.why])
    yield ""
    yield paint(_text(found.sentence), _ANSWERS[found.answer])


def _head(sides: Sequence[Side]) -> Iterator[str]:
    width = max(len(side.label) for side in sides)
    for side in sides:
        by = f"benchspec {side.version}" if side.version else "as its author states it"
        told = f"{_text(side.name)}: {_text(side.verdicts.study)} ({_text(by)})"
        yield f"{side.label:<{width}}  {told}"
        yield from (f"{'':<{width}}  {_text(remark)}" for remark in side.remarks)


def _comparability(found: Comparability, paint: Paint) -> Iterator[str]:
    yield paint(_text(found.why), "good" if found.comparable else "error")
    for one in found.differences:
        said = "differs" if one.declared else "found different"
        yield f"  {one.axis} {paint(said, 'warning')}: {_text(one.text)} ({_text(', '.join(one.arms))})"
    yield from (f"  {_text(fact)}" for fact in found.facts)


def _steps(found: Comparison, titles: Row, paint: Paint) -> Iterator[str]:
    rows = [[_figure_row(line) for line in step.figures] for step in found.steps]
    widths = _widths([titles, *(row for step in rows for row in step)])
    for step, lines in zip(found.steps, rows, strict=True):
        yield ""
        yield paint(_place(step), "strong")
        yield _row(titles, widths, "", paint)
        for line, row in zip(step.figures, lines, strict=True):
            yield _row(row, widths, line.reading, paint)
        told = found.comparability.why
        yield from _reasons([why for line in step.figures for why in line.why if why != told])


def _reasons(all_of_a_step: Sequence[str]) -> Iterator[str]:
    """Each reason once: five figures of a disturbed step have one."""
    yield from (f"    ! {_text(why)}" for why in dict.fromkeys(all_of_a_step))


def _place(step: StepLines | BandStep) -> str:
    return _text(" ".join(word for word in (step.arm, place_of(step.at)) if word))


def _figure_row(line: FigureLine) -> Row:
    return (
        _name(line.metric, line.unit),
        _figure(line.a),
        _figure(line.b),
        _ratio(line.ratio),
        line.quotable,
        line.reading.replace("-", " "),
    )


def _band_row(line: BandLine) -> Row:
    return (
        _name(line.metric, line.unit),
        _figure(line.published),
        show(line.band, _DIGITS) if line.band else "-",
        _figure(line.mine),
        line.reading.replace("-", " "),
    )


def _name(metric: str, unit: str) -> str:
    words = metric.removesuffix("_tok_s").removesuffix(f"_{unit}")
    return f"{words} {unit}"


def _figure(figure: Figure | None) -> str:
    return "-" if figure is None else f"{_with_range(figure.median, figure.range)} n={figure.n}"


def _ratio(ratio: Ratio | None) -> str:
    return "-" if ratio is None else _with_range(ratio.median, ratio.range)


def _with_range(middle: Value, ends: Value | None) -> str:
    return show(middle, _DIGITS) + (f" ({show(ends, _DIGITS)})" if ends is not None else "")


def _widths(rows: Sequence[Row]) -> list[int]:
    return [max(map(len, column)) for column in zip(*rows, strict=True)]


def _row(row: Row, widths: Sequence[int], reading: str, paint: Paint) -> str:
    *cells, last = row
    aligned = "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=False))
    said = paint(_text(last), _READINGS[reading]) if reading in _READINGS else _text(last)
    return f"  {aligned}  {said}".rstrip()


def _note(found: Comparison) -> Iterator[str]:
    needed = int(limit("repeats.unregistered"))
    figures = [f for step in found.steps for line in step.figures for f in (line.a, line.b) if f]
    if any(figure.n < needed for figure in figures):
        yield ""
        yield (
            f"A difference that nobody registered is shown from {needed} repeats of each on, by "
            "complete separation."
        )


def _hypotheses(sides: Sequence[Side], asked: Sequence[Asked], paint: Paint) -> Iterator[str]:
    for one in asked:
        words = ", ".join(
            f"{side.label} {_verdict(verdict, paint)}"
            for side, verdict in zip(sides, one.verdicts, strict=True)
        )
        yield f"  {_text(one.id)}  {words}: {_text(one.claim)}"


def _verdict(verdict: str | None, paint: Paint) -> str:
    return "not asked" if verdict is None else paint(verdict, _VERDICTS.get(verdict, "warning"))


def _text(value: str) -> str:
    return one_line(value, _LONGEST)
