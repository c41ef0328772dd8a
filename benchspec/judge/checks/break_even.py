"""break-even: where do two arms cross?

Needs: for both arms a decode rate, and either a prefill rate or a first-token time, at one place.

Division, from rates: prompt : output = (1/d_b - 1/d_a) / (1/p_a - 1/p_b) [s per token over s per
token]. From first-token times: output tokens = (ttft_a - ttft_b) [s] / (1/d_b - 1/d_a) [s/token].

Readings
  crossing   one arm wins prefill, the other decode: the value is where they cross
  never      one arm wins both

Silent when: a rate is missing; the ranges of three repeats overlap, so that nobody wins a phase.

Value: tokens of prompt per token of output, or output tokens. Source: total time = prefill + decode.
A winner named without the crossing answers for one workload only.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from benchspec.judge import figures, metrics
from benchspec.judge.case import Case
from benchspec.judge.hardware import as_input
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, attempt
from benchspec.judge.place import Place
from benchspec.judge.result import CheckResult, Input
from benchspec.observations.quantiles import median

NAME = "break-even"
READINGS = ("crossing", "never")
NEEDS = "decode rate and prefill rate (or first-token time) of two arms at one place"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per pair of arms and place, for single streams."""
    return [r for a, b in _pairs(case) for r in _judge(case, a, b)]


def _pairs(case: Case) -> Iterator[tuple[Place, Place]]:
    single = [p for p in case.places if p.concurrency in (None, 1)]
    for a, b in combinations(single, 2):
        if a.arm != b.arm and a.at == b.at:
            yield a, b


def _judge(case: Case, one: Place, two: Place) -> Iterator[CheckResult]:
    decode = _both(case, one, two, "decode_tok_s")
    if decode is None:
        return
    slow, fast = (one, two) if decode[0] < decode[1] else (two, one)
    line = Line(NAME, fast.arm, {**fast.at, "against": slow.arm})
    d_fast, d_slow = max(decode), min(decode)
    saved = 1 / d_slow - 1 / d_fast
    inputs = [
        _rate(f"decode of {fast.arm}", d_fast, "tok/s"),
        _rate(f"decode of {slow.arm}", d_slow, "tok/s"),
    ]
    prefill = _both(case, fast, slow, "prefill_tok_s")
    waits = _both(case, fast, slow, "ttft_ms") if prefill is None else None
    arms = (fast.arm, slow.arm)
    if prefill is not None:
        yield attempt(line, lambda: _by_rate(line, arms, prefill, saved, inputs))
    elif waits is not None:
        yield attempt(line, lambda: _by_wait(line, arms, waits, saved, inputs))


def _by_rate(
    line: Line,
    arms: tuple[str, str],
    prefill: tuple[float, float],
    saved: float,
    inputs: list[Input],
) -> CheckResult:
    fast, slow = arms
    p_fast, p_slow = prefill
    inputs += [
        _rate(f"prefill of {fast}", p_fast, "tok/s"),
        _rate(f"prefill of {slow}", p_slow, "tok/s"),
    ]
    if p_fast > p_slow:
        return line.judged("never", f"arm {fast} is faster in prefill and in decode", inputs=inputs)
    lost = 1 / p_fast - 1 / p_slow
    return line.judged(
        "crossing",
        f"{show(1e3 * saved, 3)} ms saved per output token / {show(1e3 * lost, 3)} ms lost per "
        f"prompt token = {show(saved / lost, 3)}: arm {fast} wins unless the prompt is over "
        f"{show(saved / lost, 2)} times the answer",
        saved / lost,
        "prompt tokens per output token",
        inputs=inputs,
    )


def _by_wait(
    line: Line, arms: tuple[str, str], waits: tuple[float, float], saved: float, inputs: list[Input]
) -> CheckResult:
    fast, slow = arms
    w_fast, w_slow = waits
    inputs += [
        _rate(f"first token of {fast}", w_fast, "ms"),
        _rate(f"first token of {slow}", w_slow, "ms"),
    ]
    if w_fast < w_slow:
        return line.judged(
            "never", f"arm {fast} is faster to the first token and after it", inputs=inputs
        )
    tokens = (w_fast - w_slow) / 1e3 / saved
    return line.judged(
        "crossing",
        f"({show(w_fast / 1e3)} s - {show(w_slow / 1e3)} s) / {show(1e3 * saved, 3)} ms saved per "
        f"token = {show(tokens)} output tokens before arm {fast} overtakes arm {slow}",
        tokens,
        "tokens",
        inputs=inputs,
    )


def _rate(name: str, value: float, unit: str) -> Input:
    return as_input(name, Interval.of(value), unit, "measured", "median over repeats")


def _both(case: Case, one: Place, two: Place, name: str) -> tuple[float, float] | None:
    """Medians of a figure at two places; None where it is missing or the ranges overlap."""
    read = figures.decode_tok_s if name == "decode_tok_s" else metrics.METRICS[name].whole
    hulls, middles = [], []
    for place in (one, two):
        values = [v for s in case.sound(place) if (v := read(s)) is not None]
        if not values or min(v.low for v in values) <= 0:
            return None
        hulls.append(Interval.hull(values))
        middles.append(median([v.mid for v in values]))
    apart = hulls[0].high < hulls[1].low or hulls[1].high < hulls[0].low
    return (middles[0], middles[1]) if apart else None
