"""compute-ceiling: how much of the devices' arithmetic does prefill reach?

Needs: active parameters, prompt tokens and the time of the prefill, and the devices' peak at the
precision in use; layers, heads and head size for the attention part.

Division: (2 P n + 2 n^2 L H d) [FLOP] / time [s] / peak [FLOP/s]. The second term is causal
attention; at long prompts it is as large as the first.

Readings
  fraction     of the peak
  at-least     without geometry only the linear part is counted
  impossible   above 1: an input is wrong

Silent when: parameters, prompt length, prefill time or peak are not known.

Value: the fraction. Source: two operations per weight and token; scores and values of causal
attention.
"""

from __future__ import annotations

from benchspec.judge import figures, geometry, metrics
from benchspec.judge.case import Case, measured, need
from benchspec.judge.hardware import as_input
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, lacking
from benchspec.judge.result import CheckResult
from benchspec.judge.setup import Setup
from benchspec.observations.model import Step

NAME = "compute-ceiling"
READINGS = ("fraction", "at-least", "impossible")
NEEDS = "active parameters, prompt length, prefill time and peak compute of the devices"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per arm and step where a device's peak is declared."""
    peaks = {arm: _peak(case.setup(arm)) for arm in case.arm_ids}

    def divide(line: Line, step: Step) -> CheckResult:
        peak = need(peaks.get(step.arm), "peak compute of every device")
        tokens = _prompt(case.setup(step.arm), step)
        if tokens is None:
            raise lacking("the prompt length")
        flop = geometry.prefill_flop(case.setup(step.arm).model, tokens)
        if flop is None:
            raise lacking("active parameters")
        return _divide(line, step, tokens, flop, peak)

    if not any(peaks.values()):
        return []
    return [r for r in case.per_repeat(NAME, divide) if peaks.get(r.arm or "")]


def _divide(
    line: Line, step: Step, tokens: float, flop: tuple[float, float | None], peak: Interval
) -> CheckResult:
    time = need(_prefill_s(step, tokens), "the time of the prefill")
    linear, attention = flop
    total = linear + (attention or 0.0)
    rate = total / time
    fraction = rate / peak
    reading = "at-least" if attention is None else "fraction"
    if fraction.low > 1:
        reading = "impossible"
    second = "" if attention is None else f" + {show(attention / 1e12)}"
    return line.judged(
        reading,
        f"({show(linear / 1e12)}{second}) TFLOP / {show(time)} s = {show(rate * 1e-12)} TFLOP/s "
        f"(linear part {show(linear / time * 1e-12)}), / {show(peak * 1e-12)} = "
        f"{show(100 * fraction, 3)} %",
        fraction,
        "ratio",
        inputs=[
            measured("prefill time", time, "s", step),
            as_input("peak", peak, "FLOP/s", "declared", "the devices"),
        ],
        bound="at-least" if attention is None else None,
        caveats=["linear part only: attention is not counted"] if attention is None else [],
    )


def _peak(setup: Setup) -> Interval | None:
    known = [Interval.of(d.compute) for d in setup.devices if d.compute is not None]
    if not known or len(known) < len(setup.devices):
        return None
    return sum(known, Interval(0.0, 0.0))


def _prompt(setup: Setup, step: Step) -> float | None:
    seen = figures.prompt_tokens(step)
    if seen is not None:
        return seen
    if step.context_tokens is not None:
        return step.context_tokens
    return setup.resolved.workload.prompt.tokens if setup.resolved else None


def _prefill_s(step: Step, tokens: float) -> Interval | None:
    ttft = metrics.METRICS["ttft_ms"].whole(step)
    if ttft is not None and step.prefill_tok_s is None:
        return ttft * 1e-3
    rate = metrics.METRICS["prefill_tok_s"].whole(step)
    return tokens / rate if rate is not None and rate.low > 0 else None
