"""latency-share: does a request spend its time before its first token, or decoding?

Needs: first-token time and the latency of a request (or its time per token and length).

Division: first-token time [s] / latency [s]. Latency where it is not known: first-token time +
(tokens - 1) x time per token; of a burst of which only the wall time is known, at most that. Beside
it Little's law, requests/s x latency = mean in flight, and prompt tokens per second.

Readings
  first-token-bound   half or more: prompts are worked on, or wait for their turn; more requests in
                      flight only lengthen the wait, and short answers make it worse
  decode-bound        a tenth or less
  mixed               between

Silent when: the first-token time, or what comes after it, is not known.

Value: the share. In a closed loop with short answers nearly all clients stand before their first
token, so its time grows with the load and falls when answers get longer: that is no property of the
first token. Source: Little (1961); definition.
"""

from __future__ import annotations

from benchspec.judge import figures
from benchspec.judge.case import Case, measured, need
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, invalid, not_applicable
from benchspec.judge.result import CheckResult
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Step

NAME = "latency-share"
READINGS = ("first-token-bound", "decode-bound", "mixed")
NEEDS = "first-token time and the latency of a request"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per arm and step of which a first-token time is known."""

    def divide(line: Line, step: Step) -> CheckResult:
        if not case.setup(step.arm).counts_tokens:
            raise not_applicable("a command gives seconds, not tokens")
        first = need(figures.ttft_ms(step), "the first-token time") * 1e-3
        whole, wall = figures.latency_s(step), figures.wall_s(step)
        longer = _longer_than_the_run(step, whole, wall)
        at_least = whole is None or longer is not None
        whole = need(wall if at_least else whole, "the latency of a request, or time per token")
        share = first / whole
        if share.low > 1:
            raise invalid(
                f"the first token ({show(first)} s) comes after the end ({show(whole)} s)"
            )
        return line.judged(
            _read(share),
            f"first token {show(first)} s / latency {show(whole)} s = "
            f"{'at least ' if at_least else ''}{show(100 * share, 3)} %{_beside(step, whole)}",
            share,
            "ratio",
            inputs=[
                measured("first-token time", first, "s", step),
                measured("latency", whole, "s", step),
            ],
            quotable="bound" if at_least else "yes",
            caveats=[*([longer] if longer else []), *_caveats(step, share)],
        )

    found = case.per_repeat(NAME, divide)
    return [r for r in found if r.state != "insufficient" or "first-token" not in str(r.reason)]


def _longer_than_the_run(step: Step, found: Interval | None, wall: Interval | None) -> str | None:
    """Why a latency made of a mean time per token cannot be right, or None."""
    made = step.latency_s is None and not step.requests
    if not made or found is None or wall is None or found.low <= wall.high:
        return None
    return (
        f"time per token x length gives a latency of {show(found)} s in a run of {show(wall)} s: "
        "means over unequal answers do not multiply"
    )


def _read(share: Interval) -> str:
    if share.mid >= limit("latency.first-token"):
        return "first-token-bound"
    return "decode-bound" if share.mid <= limit("latency.decode") else "mixed"


def _beside(step: Step, latency: Interval) -> str:
    words = ""
    rate, wall = figures.stated(step.requests_per_s), figures.wall_s(step)
    if rate is not None:
        words += (
            f"; {show(rate)} requests/s x {show(latency)} s = {show(rate * latency, 3)} in flight"
        )
        words += f" of {step.concurrency}" if step.concurrency else ""
    prompt, sent = figures.prompt_tokens(step), figures.sent(step)
    if prompt is not None and wall is not None and sent and step.mode != "open":
        words += f"; prompts {show(prompt)} x {sent} / {show(wall)} s = "
        words += f"{show(prompt * sent / wall, 3)} tok/s"
    return words


def _caveats(step: Step, share: Interval) -> list[str]:
    if share.mid < limit("latency.first-token") or (step.concurrency or 1) < 2:
        return []
    return ["prompt processing and its queue set the pace: more requests in flight wait longer"]
