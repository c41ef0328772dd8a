"""identities: do an author's own figures agree with each other?

Needs: figures of one thing that are bound by arithmetic, as they were printed.

Division, each figure taken as its rounding interval (39.2 is 39.15..39.25):
  rate-and-time    tok/s x ms per token / 1000 = 1
  rounds           1000 / ms per pass x (1 + k x acceptance) / tok/s = 1, within 5 %; where it misses,
                   the neighbouring k are tried: a block of k + 1 is often called k
  parts-and-whole  sum of the parts / whole = 1
  ratio            over / under / ratio = 1, or against a percentage
  kv               KV bytes from geometry / as stated = 1
  probe            probe / datasheet at most 1.02

Readings
  agree      the interval of the quotient holds 1
  violated   it does not: one of the figures is wrong, or is of something else

Silent when: no identity has all its figures.

Value: the quotient. Source: arithmetic. It finds slips before a reader does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from benchspec.judge import figures as of_step
from benchspec.judge import geometry
from benchspec.judge.case import Case
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, invalid
from benchspec.judge.place import Place
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Figures

NAME = "identities"
READINGS = ("agree", "violated")
NEEDS = "figures of one thing that are bound by arithmetic"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per identity that has all its figures."""
    return [r for f in case.observations.figures for r in _tried(case, f)]


def printed(value: float) -> Interval:
    """The numbers that round to `value` as it is written: half a unit of its last digit each way."""
    text = str(int(value)) if value == int(value) else repr(value)
    places = len(text.partition(".")[2]) if "." in text and "e" not in text else 0
    half = 0.5 * 10.0**-places
    return Interval(value - half, value + half)


def _tried(case: Case, f: Figures) -> Iterator[CheckResult]:
    for name, tried in _IDENTITIES.items():
        line = Line(NAME, f.arm, {"name": f.name, "identity": name})
        if why := of_step.unsound(f):
            yield line.silent(invalid(why))
            return
        with suppress(ZeroDivisionError):  # a figure of zero is bound by no quotient
            result = tried(case, f, line)
            if result is not None:
                yield result


def _judged(
    line: Line, quotient: Interval, text: str, used: Mapping[str, float | None], *caveats: str
) -> CheckResult:
    holds = quotient.low <= 1 <= quotient.high
    inputs = [
        Input(name=name, value=value, provenance="declared")
        for name, value in used.items()
        if value
    ]
    return line.judged(
        "agree" if holds else "violated",
        text,
        quotient.mid,
        "ratio",
        inputs=inputs,
        caveats=caveats,
    )


def _rate_and_time(case: Case, f: Figures, line: Line) -> CheckResult | None:
    if f.tok_s is None or f.ms_per_token is None:
        return None
    quotient = printed(f.tok_s) * printed(f.ms_per_token) / 1000
    text = (
        f"1000 / {show(f.tok_s)} tok/s = {show(1000 / f.tok_s, 3)} ms against "
        f"{show(f.ms_per_token)} ms, which is {show(1000 / f.ms_per_token, 3)} tok/s"
    )
    fits = _nearest(case, 1000 / f.ms_per_token) if not quotient.low <= 1 <= quotient.high else []
    used = {"tok/s": f.tok_s, "ms per token": f.ms_per_token}
    return _judged(line, quotient, text, used, *fits)


def _nearest(case: Case, rate: float) -> list[str]:
    """A step whose stream rate the figure would fit."""
    for place in case.places:
        for step in case.steps(place):
            stream = of_step.stated(step.stream_tok_s)
            if stream is not None and abs(stream.mid / rate - 1) <= limit("ceiling.impossible") - 1:
                return [f"it fits the {show(stream)} tok/s of {Place.of(step)}"]
    return []


def _rounds(_case: Case, f: Figures, line: Line) -> CheckResult | None:
    if f.tok_s is None or f.round_ms is None or f.acceptance is None or f.drafts is None:
        return None
    a, t, k = f.acceptance, f.round_ms, f.drafts

    def rate(drafts: int) -> float:
        return 1000 / t * (1 + drafts * a)

    off = limit("identity.off")
    quotient = rate(k) / f.tok_s
    holds = abs(quotient - 1) <= off
    text = f"1000 / {show(t)} ms x (1 + {k} x {show(a)}) = {show(rate(k))} against {show(f.tok_s)}"
    others = [n for n in (k - 1, k + 1) if n > 0 and abs(rate(n) / f.tok_s - 1) <= off]
    fits = [f"k = {n} gives {show(rate(n))}: {k} may count the block" for n in others]
    used = {"tok/s": f.tok_s, "ms per pass": t, "acceptance": a, "drafts": float(k)}
    interval = Interval(quotient - off, quotient + off)
    return _judged(line, interval, text, used, *([] if holds else fits))


def _parts_and_whole(_case: Case, f: Figures, line: Line) -> CheckResult | None:
    if not f.parts or f.whole is None:
        return None
    total = sum((printed(p) for p in f.parts), Interval(0.0, 0.0))
    text = f"{' + '.join(show(p) for p in f.parts)} = {show(sum(f.parts))} against {show(f.whole)}"
    return _judged(line, total / printed(f.whole), text, {"whole": f.whole})


def _ratio(_case: Case, f: Figures, line: Line) -> CheckResult | None:
    if f.over is None or f.under is None:
        return None
    expected = _expected(f)
    if expected is None:
        return None
    found = printed(f.over) / printed(f.under)
    text = (
        f"{show(f.over, 5)} / {show(f.under, 5)} = {show(f.over / f.under)} "
        f"against {show(expected.mid)} as stated"
    )
    return _judged(line, found / expected, text, {"over": f.over, "under": f.under})


def _expected(f: Figures) -> Interval | None:
    """What over / under should be, by whichever figure states it."""
    if f.ratio is not None:
        return printed(f.ratio)
    if f.percent is not None:
        return printed(f.percent) / 100
    return 1 + printed(f.percent_more) / 100 if f.percent_more is not None else None


def _kv(case: Case, f: Figures, line: Line) -> CheckResult | None:
    if f.kv_bytes is None or f.context_tokens is None:
        return None
    model = case.setup(f.arm).model if f.arm else case.spec.model
    size = geometry.kv_from_geometry(model, f.context_tokens)
    if size is None:
        return None
    off = limit("identity.off")
    quotient = size / f.kv_bytes
    text = (
        f"{model.attention_layers or model.layers} layers x {model.kv_heads} x {model.head_size} "
        f"x 2 x {show(model.kv_bytes_per_element or 0)} B x {f.context_tokens} tokens = "
        f"{show(size * 1e-9, 2)} GB against {show(f.kv_bytes * 1e-9, 2)} GB"
    )
    interval = Interval(quotient.low - off, quotient.high + off)
    return _judged(line, interval, text, {"KV bytes": f.kv_bytes})


def _probe(_case: Case, f: Figures, line: Line) -> CheckResult | None:
    if f.probe is None or f.datasheet is None:
        return None
    quotient = f.probe / f.datasheet
    allowed = limit("ceiling.impossible")
    text = f"probe {show(f.probe)} / datasheet {show(f.datasheet)} = {show(quotient)}"
    low = quotient if quotient > allowed else min(quotient, 1.0)
    return _judged(
        line,
        Interval(low, max(quotient, 1.0) if quotient <= allowed else quotient),
        text,
        {"probe": f.probe, "datasheet": f.datasheet},
        *(
            ["faster than its datasheet: not the device of that name?"]
            if quotient > allowed
            else []
        ),
    ).model_copy(update={"value": quotient})


_IDENTITIES = {
    "rate-and-time": _rate_and_time,
    "rounds": _rounds,
    "parts-and-whole": _parts_and_whole,
    "ratio": _ratio,
    "kv": _kv,
    "probe": _probe,
}
