"""identities: do an author's own figures agree with each other?

Needs: figures of one thing that are bound by arithmetic, as they were printed.

Division, each figure taken as its rounding interval (39.2 is 39.15..39.25):
  rate-and-time    tok/s x ms per token / 1000 = 1; or n / (n - 1), where the rate counts the first
                   of n tokens and the time, being that after the first, does not
  rounds           1000 / ms per pass x (1 + k x acceptance) / tok/s = 1, within 5 %; where it misses,
                   the neighbouring k are tried: a block of k + 1 is often called k
  tokens-per-pass  (1 + k x acceptance) / tokens per pass as stated = 1, in the same way
  parts-and-whole  sum of the parts / whole = 1
  ratio            over / under / ratio = 1, or against a percentage
  maximum, minimum, mean, median, sum, range, sd
                   of a list of the author's own figures (or, for the first two, of its ends) / as
                   stated = 1
  one-of           a figure that is quoted as one of a list lies between its ends
  kv               KV bytes from geometry / as stated = 1
  probe            probe / datasheet at most 1.02

Readings
  agree      the interval of the quotient holds 1
  violated   it does not: one of the figures is wrong, or is of something else

Silent when: no identity has all its figures.

Value: the quotient. Source: arithmetic. It finds slips before a reader does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial

from benchspec.judge import figures as of_step
from benchspec.judge import geometry
from benchspec.judge.case import Case
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, invalid
from benchspec.judge.place import Place
from benchspec.judge.printed import STATISTICS, printed
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
    if f.tokens is not None and f.tokens > 1 and quotient.low > 1:
        quotient = quotient * (f.tokens - 1) / f.tokens
    text = (
        f"1000 / {show(f.tok_s)} tok/s = {show(1000 / f.tok_s, 3)} ms against "
        f"{show(f.ms_per_token)} ms, which is {show(1000 / f.ms_per_token, 3)} tok/s"
    )
    holds = quotient.low <= 1 <= quotient.high
    fits = [] if holds else [*_nearest(case, 1000 / f.ms_per_token), *_first_counted(f, quotient)]
    used = {"tok/s": f.tok_s, "ms per token": f.ms_per_token}
    return _judged(line, quotient, text, used, *fits)


_FEWEST_TOKENS = 16
"""An answer of fewer is no benchmark: a first token more or less does not explain a gap."""


def _first_counted(f: Figures, quotient: Interval) -> list[str]:
    """How long an answer must be for a rate with, and a time without, its first token to agree."""
    if f.tokens is not None or quotient.low <= 1:
        return []
    fewest, most = (math.ceil(q / (q - 1)) for q in (quotient.high, quotient.low))
    if fewest < _FEWEST_TOKENS:
        return []
    return [
        f"an answer of {fewest} to {most} tokens would explain it: the rate counts the first token "
        "and the time per token does not"
    ]


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
    used = {"tok/s": f.tok_s, "ms per pass": t, "acceptance": a, "drafts": float(k)}
    interval = Interval(quotient - off, quotient + off)
    return _judged(line, interval, text, used, *([] if holds else _other_k(rate, k, f.tok_s)))


def _other_k(figure: Callable[[int], float], k: int, said: float) -> list[str]:
    """The neighbours of k that fit what was said."""
    off = limit("identity.off")
    others = [n for n in (k - 1, k + 1) if n > 0 and abs(figure(n) / said - 1) <= off]
    return [f"k = {n} gives {show(figure(n))}: {k} may count the block" for n in others]


def _tokens_per_pass(_case: Case, f: Figures, line: Line) -> CheckResult | None:
    if f.tokens_per_round is None or f.acceptance is None or f.drafts is None:
        return None
    a, k, said, off = f.acceptance, f.drafts, f.tokens_per_round, limit("identity.off")

    def each(drafts: int) -> float:
        return 1 + drafts * a

    quotient = each(k) / said
    text = f"1 + {k} x {show(a)} = {show(each(k))} against {show(said)} tokens per pass as stated"
    used = {"tokens per pass": said, "acceptance": a, "drafts": float(k)}
    fits = [] if abs(quotient - 1) <= off else _other_k(each, k, said)
    return _judged(line, Interval(quotient - off, quotient + off), text, used, *fits)


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
    used = {"over": f.over, "under": f.under}
    return _judged(line, found / expected, text, used, *_rounded_otherwise(f, found, expected))


def _rounded_otherwise(f: Figures, found: Interval, expected: Interval) -> list[str]:
    """How else the author may have rounded, where a quotient is just beside what was stated."""
    if found.low <= expected.high and found.high >= expected.low:
        return []
    said = next(s for s in (f.ratio, f.percent, f.percent_more) if s is not None)
    scale = 1.0 if f.ratio is not None else 0.01
    unit = expected.high - expected.low
    # a figure is cut towards zero: 16.9 becomes 16, and -16.9 becomes -16
    cut = expected + (unit / 2 if said >= 0 else -unit / 2)
    if found.low <= cut.high and found.high >= cut.low:
        return ["it fits where the figure was cut, not rounded"]
    tens = 5 * scale
    if said and said % 10 == 0 and abs(found.mid - expected.mid) <= tens:
        return ["it fits where the figure was rounded to tens"]
    return []


def _expected(f: Figures) -> Interval | None:
    """What over / under should be, by whichever figure states it."""
    if f.ratio is not None:
        return printed(f.ratio)
    if f.percent is not None:
        return printed(f.percent) / 100
    return 1 + printed(f.percent_more) / 100 if f.percent_more is not None else None


def _statistic(name: str, _case: Case, f: Figures, line: Line) -> CheckResult | None:
    said = getattr(f, name)
    if said is None or not f.values:
        return None
    found = STATISTICS[name](f.values)
    text = f"{name} of {_listed(f.values)} = {show(found.mid)} against {show(said)} as stated"
    return _judged(line, found / printed(said), text, {name: said})


def _one_of(_case: Case, f: Figures, line: Line) -> CheckResult | None:
    """Inside the ends the quotient is 1; outside that of the nearest end."""
    if f.one_of is None or not f.values:
        return None
    low, high, said = STATISTICS["minimum"](f.values), STATISTICS["maximum"](f.values), f.one_of
    quotient = Interval.of(1.0)
    if printed(said).low > high.high or printed(said).high < low.low:
        quotient = (high if said > high.high else low) / printed(said)
    text = f"{_listed(f.values)} lie in {show(low.mid)}..{show(high.mid)}, {show(said)} as stated"
    return _judged(line, quotient, text, {"one of them": said})


_MOST_LISTED = 8


def _listed(values: list[float]) -> str:
    shown = ", ".join(show(v, 6) for v in values[:_MOST_LISTED])
    return shown + (f", ... ({len(values)})" if len(values) > _MOST_LISTED else "")


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


_IDENTITIES: Mapping[str, Callable[[Case, Figures, Line], CheckResult | None]] = {
    "rate-and-time": _rate_and_time,
    "rounds": _rounds,
    "tokens-per-pass": _tokens_per_pass,
    "parts-and-whole": _parts_and_whole,
    "ratio": _ratio,
    **{name: partial(_statistic, name) for name in STATISTICS},
    "one-of": _one_of,
    "kv": _kv,
    "probe": _probe,
}
