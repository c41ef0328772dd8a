"""aggregate: the throughput of a step, and how far summed per-request rates overstate it.

Needs: completion tokens and times of the requests (or a stated aggregate).

Division, burst: X = completion tokens of answered requests / (last completion - first dispatch)
[tok/s]. Sustained: tokens stamped between the moment C are first in flight and the last dispatch /
that time; with ramp and drain X would be low by about C / 2n. Open loop: tokens stamped between the
first and the last arrival of the schedule / that time; without stamps, or where that is shorter
than an answer takes, all tokens / all time, which ramp and drain make low by up to latency / T.
Beside it the inflation: the sum of the rates that the requests report of themselves / X. A
request's own rate leaves out its wait and its prefill, so the sum counts the same second several
times: inflation / inflation at C = 1 is about the number of batches.

Readings
  rate       X, with the inflation beside it
  inflated   the summed rates are >= 1.25 X, or > 1.1 times the inflation at C = 1: never quote them

Silent when: no tokens or no times; no request was answered; the step was disturbed (foreign work,
or the client was the limit).

Where more than 5 % of the requests failed, X is of another load than was asked for: not quotable.
Nor is the X of degenerate text (see output-sanity).

Value: X in tok/s. Source: total work / total time, the only mean of rates that adds up (Patil and
Lilja, Using resampling techniques to compute confidence intervals for the harmonic mean, 2010).
"""

from __future__ import annotations

import math

from benchspec.judge import figures
from benchspec.judge.case import Case, measured, need
from benchspec.judge.conditions import failures
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, invalid, not_applicable
from benchspec.judge.result import CheckResult
from benchspec.judge.texts import garbage
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Step

NAME = "aggregate"
READINGS = ("rate", "inflated")
NEEDS = "completion tokens and times of the requests, or a stated aggregate rate"
RATE = True


def check(case: Case) -> list[CheckResult]:
    """One result per arm and step."""

    def divide(line: Line, step: Step) -> CheckResult:
        answered = len(figures.succeeded(step))
        if not case.setup(step.arm).counts_tokens:
            raise not_applicable("a command gives seconds, not tokens")
        if step.requests and not answered:
            raise invalid(f"none of {len(step.requests)} requests was answered")
        rate = need(
            figures.recomputed_tok_s(step) or figures.aggregate_tok_s(step),
            "completion tokens and the time they took",
        )
        inflation = inflation_of(step)
        text = _division(step, rate)
        inputs = [measured("X", rate, "tok/s", step)]
        summed = figures.self_reported_tok_s(step)
        if inflation is not None and summed is not None:
            text += f"; per-request rates sum to {show(summed)} = {show(inflation)} x that"
            inputs.append(measured("sum of per-request rates", summed, "tok/s", step))
        inflated = inflation is not None and _inflated(case, step, inflation)
        spoilt = garbage(case, [step])
        return line.judged(
            "inflated" if inflated else "rate",
            text,
            rate,
            "tok/s",
            inputs=inputs,
            quotable="no" if failures(step) or spoilt else "yes",
            caveats=[*_failed(step), *_ramp(step), *([spoilt] if spoilt else [])],
        )

    return case.per_repeat(NAME, divide, rate=RATE)


def _failed(step: Step) -> list[str]:
    failed, sent = figures.failed(step), figures.sent(step)
    text = f"{failed} of {sent} requests failed: they took time and gave no tokens"
    return [text] if failed else []


def _ramp(step: Step) -> list[str]:
    """What ramp and drain take away from X, where they are in it."""
    if step.mode == "open" or (step.mode is None and step.rate is not None):
        return _open_ramp(step)
    sent, most = step.planned_requests, step.concurrency
    if step.mode != "sustained" or step.window or not sent or not most or sent < most:
        return []
    return [f"ramp and drain are in it: low by up to {show(50 * most / sent, 2)} % (C / 2n)"]


def _open_ramp(step: Step) -> list[str]:
    """Of an open loop: its window begins with an empty server, its whole time has the drain, too."""
    latency, wall = _mean_latency_s(step), figures.wall_s(step)
    if latency is None or wall is None or figures.recomputed_tok_s(step) is None:
        return []
    if step.window is None:
        share = latency / wall.low
        return [f"ramp and drain are in it: low by up to {show(100 * share, 2)} % (latency / T)"]
    share = latency / (step.window.end_s - step.window.start_s) / 2
    if share <= limit("repeats.stable"):
        return []
    return [
        f"the server is empty when the window begins: low by up to {show(100 * share, 2)} % "
        "(latency / twice the window)"
    ]


def _mean_latency_s(step: Step) -> float | None:
    each = figures.latencies_s(step)
    if each:
        return math.fsum(each) / len(each)
    stated = figures.latency_s(step)
    return None if stated is None else stated.mid


def inflation_of(step: Step) -> Interval | None:
    """Sum of self-reported per-request rates / X; about 1.1 for one stream, whose prefill is in T."""
    summed, rate = figures.self_reported_tok_s(step), figures.aggregate_tok_s(step)
    return summed / rate if summed is not None and rate is not None and rate.low > 0 else None


def _inflated(case: Case, step: Step, inflation: Interval) -> bool:
    single = case.single(step)
    alone = inflation_of(single) if single else None
    over_single = alone is not None and (
        inflation.low > limit("inflation.over-single") * alone.high
    )
    return inflation.low >= limit("inflation.flag") or over_single


def _division(step: Step, rate: Interval) -> str:
    window, total, wall = step.window, figures.tokens(step), figures.wall_s(step)
    if window is not None and window.end_s > window.start_s:
        length = window.end_s - window.start_s
        when = "from the first to the last arrival" if step.mode == "open" else "with C in flight"
        return f"{window.tokens} tokens in {show(length)} s {when} = {show(rate)} tok/s"
    if total and wall is not None and figures.recomputed_tok_s(step) is not None:
        return f"{show(total)} tokens / {show(wall)} s = {show(rate)} tok/s"
    return f"{show(rate)} tok/s as stated"
