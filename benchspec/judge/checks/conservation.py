"""conservation: do the step's own numbers add up?

Needs: the requests of a step, or its throughput and wall time.

Division: tokens per answer = X [tok/s] x T [s] / C, equal over C within 2 % where the length was
forced. Little: mean in flight = sum of latencies [s] / T [s], equal to C within 10 % in sustained
mode only (a burst drains: its mean in flight is a measure of shape, not an error).

Readings
  violated   the engine restarted inside the cell; sent is not answered + failed; more in flight
             than C; a forced length was not kept; the mean in flight is not C (sustained); tokens /
             time is not the throughput that is stated (5 %: it may count the prompts too); the
             throughput is more than C streams of the stated rate can give (one of the two is of
             something else); a latency longer than the run
  holds      none of these

Of an open loop, besides: a caveat where the rate that was sent is off the one asked for by more
than its schedule explains: two standard deviations of n random gaps (poisson 2 / sqrt(n)), 5 % of
equal ones.

Where a prompt length was asked for, the division names it beside the fewest and most prompt tokens
that the server counted (of conversations: in first turns); more than 5 % apart is a caveat, because a
chat template is counted, too, and times to a first token are then of another length.

Silent when: neither requests nor throughput and wall time are known.

Value: tokens per answer. Source: Little, A proof for the queuing formula L = lambda W (1961).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from benchspec.judge import completions as shape
from benchspec.judge import figures
from benchspec.judge.arrivals import stray
from benchspec.judge.case import Case, measured
from benchspec.judge.interval import Interval, counted, show
from benchspec.judge.lines import Line, lacking, not_applicable
from benchspec.judge.prompt_lengths import PromptLength, prompt_length
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Step
from benchspec.observations.quantiles import median

NAME = "conservation"
READINGS = ("holds", "violated")
NEEDS = "the requests of a step, or its throughput and wall time"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per arm and step."""

    def divide(line: Line, step: Step) -> CheckResult:
        if not case.setup(step.arm).counts_tokens and not step.requests:
            raise not_applicable("a command gives seconds, not tokens")
        each = figures.tokens_per_request(step)
        broken = list(_violations(case, step, each))
        if each is None and not step.requests and not broken and _in_flight_text(step) is None:
            raise lacking("requests, or throughput and wall time")
        length = prompt_length(case, step)
        parts = [_division(step, each), *_counts(step), *_prompts(length), *_little(step, broken)]
        return line.judged(
            "violated" if broken else "holds",
            "; ".join([*parts, *broken]),
            each,
            "tokens",
            inputs=[
                *([measured("tokens per answer", each, "tokens", step)] if each else []),
                *_rates(step),
            ],
            caveats=[*([why] if (why := stray(step, case.spec.load)) else []), *_caveats(length)],
        )

    return case.per_repeat(NAME, divide, worst="violated", anyway=True)


def _division(step: Step, each: float | None) -> str:
    if each is None:
        return "tokens not counted"
    total = figures.tokens(step)
    answered = len(figures.succeeded(step))
    if total is not None and answered:
        return (
            f"{show(total)} tokens / {counted(answered, 'answer')} = {show(each)} tokens per answer"
        )
    rate, wall = figures.aggregate_tok_s(step), figures.wall_s(step)
    if rate is None or wall is None:
        return f"{show(each)} tokens per answer as stated"
    count = figures.counted_requests(step)
    if not count:
        return f"{show(each)} tokens per answer"
    return f"{show(rate)} tok/s x {show(wall)} s / {count} = {show(each)} tokens per answer"


def _in_flight_text(step: Step) -> str | None:
    """Requests/s x latency against C, where a report gives all three of a step that kept C going."""
    rate, latency = figures.stated(step.requests_per_s), figures.stated(step.latency_s)
    kept = step.mode == "sustained" or (figures.sent(step) or 0) > (step.concurrency or 0)
    if rate is None or latency is None or not step.concurrency or not kept or step.requests:
        return None
    return (
        f"{show(rate)} requests/s x {show(latency)} s = {show(rate * latency)} in flight of "
        f"{step.concurrency}"
    )


def _little(step: Step, broken: list[str]) -> list[str]:
    text = _in_flight_text(step)
    return [text] if text is not None and not any("mean in flight" in b for b in broken) else []


def _counts(step: Step) -> list[str]:
    if not step.requests:
        return []
    sent = len(step.requests)
    failed = sent - len(figures.succeeded(step))
    return [f"{sent} sent = {sent - failed} ok + {failed} failed"]


def _rates(step: Step) -> list[Input]:
    """Of an open loop: asked for, and sent. Inputs, since every repeat is sent at its own rate."""
    achieved = figures.sent_per_s(step)
    if not step.rate or achieved is None:
        return []
    return [
        measured("rate sent", achieved, "requests/s", step),
        Input(name="rate asked", value=step.rate, unit="requests/s", provenance="declared"),
    ]


def _prompts(length: PromptLength | None) -> list[str]:
    if length is None:
        return []
    return [f"prompts of {length.counted} tokens, {length.asked} asked"]


def _caveats(length: PromptLength | None) -> list[str]:
    if length is None or not length.off:
        return []
    return [
        f"prompts are not of the length asked for: the server counted {length.counted} tokens, "
        f"{length.asked} were asked for"
    ]


def _violations(case: Case, step: Step, each: float | None) -> Iterator[str]:
    if step.engine_restarted:
        yield "the engine restarted inside the cell"
    if step.requests and step.planned_requests and step.planned_requests != len(step.requests):
        yield f"{step.planned_requests} planned, {len(step.requests)} accounted for"
    if each is not None and case.forced(step):
        yield from _lengths(case, step, each)
    yield from _throughput(step)
    yield from _too_long(step)
    yield from _in_flight(step)


def _too_long(step: Step) -> Iterator[str]:
    """No request takes longer than the run that it is in."""
    latency, wall = figures.stated(step.latency_s), figures.stated(step.wall_s)
    if (
        latency is not None
        and wall is not None
        and latency.low > wall.high * (1 + limit("identity.off"))
    ):
        yield f"a latency of {show(latency)} s is longer than the run of {show(wall)} s"


def _throughput(step: Step) -> Iterator[str]:
    """The stated throughput against tokens / time."""
    said, found = figures.stated(step.aggregate_tok_s), figures.recomputed_tok_s(step)
    if said is None or said.low <= 0:
        return
    yield from _streams(step, said)
    if found is None:
        return
    off, ratio = limit("identity.off"), found / said
    if ratio.low > 1 + off or ratio.high < 1 - off:
        yield f"tokens / time = {show(found)} tok/s, not {show(said)} as stated{_instead(step, said)}"


def _instead(step: Step, said: Interval) -> str:
    """What a stated throughput is of, where it is not that of the completion tokens."""
    done, wall, sent = figures.tokens(step), figures.wall_s(step), figures.sent(step)
    prompt, off = figures.prompt_tokens(step), limit("identity.off")
    if done is None or wall is None or not sent:
        return ""
    every = (done + prompt * sent) / wall if prompt is not None else None
    if every is not None and abs((every / said).mid - 1) <= off:
        return f": that counts the prompts too, ({show(done)} + {show(prompt or 0)} x {sent}) / T"
    if sent > 1 and abs((done / sent / wall / said).mid - 1) <= off:
        return f": that is the rate of one answer of {sent}"
    return ""


def _lengths(case: Case, step: Step, each: float) -> Iterator[str]:
    tolerance = limit("conservation.tokens")
    known = [t for s in case.siblings(step) if (t := figures.tokens_per_request(s))]
    usual = median(known) if known else each
    if abs(each / usual - 1) > tolerance:
        yield f"{show(each)} tokens per answer against {show(usual)} at the other steps"
    arm = case.arms.get(step.arm)
    asked = step.tokens_asked or (arm.workload.output.tokens if arm and step.requests else None)
    if asked and abs(each / asked - 1) > tolerance:
        yield f"{show(asked)} tokens were forced, {show(each)} came"
    if shape.equal_lengths(step) is False:
        yield "answers of forced length differ by more than 2 %"


def _streams(step: Step, throughput: Interval) -> Iterator[str]:
    """C streams add up to their rates at most; waiting and prefill only take away."""
    each = figures.stated(step.stream_tok_s)
    if each is None or step.concurrency is None or step.requests:
        return
    most = each * step.concurrency
    if throughput.low > most.high * (1 + limit("identity.off")):
        yield (
            f"{show(throughput)} tok/s is more than {step.concurrency} x {show(each)} = "
            f"{show(most)} tok/s"
        )


def _stated_in_flight(step: Step) -> Iterator[str]:
    """Requests/s x latency against C, of a step that kept C in flight."""
    rate, latency = figures.stated(step.requests_per_s), figures.latency_s(step)
    kept = step.mode == "sustained" or (figures.sent(step) or 0) > (step.concurrency or 0)
    if rate is None or latency is None or not kept or not step.concurrency:
        return
    mean, off = rate * latency / step.concurrency, limit("conservation.in-flight")
    if mean.low > 1 + off or mean.high < 1 - off:
        yield (
            f"mean in flight = {show(rate)} requests/s x {show(latency)} s = "
            f"{show(rate * latency)}, not C = {step.concurrency}"
        )


def _in_flight(step: Step) -> Iterator[str]:
    spans = [
        (r.start_s, r.end_s) for r in step.requests if r.start_s is not None and r.end_s is not None
    ]
    if step.concurrency is None:
        return
    if not spans:
        yield from _stated_in_flight(step)
        return
    deepest = shape.depth(spans)
    if deepest > step.concurrency:
        yield f"{deepest} were in flight, {step.concurrency} allowed"
    wall = max(end for _, end in spans) - min(start for start, _ in spans)
    if step.mode == "sustained" and wall > 0:
        mean = math.fsum(end - start for start, end in spans) / wall
        if abs(mean / step.concurrency - 1) > limit("conservation.in-flight"):
            yield (
                f"mean in flight = sum of latencies / T = {show(mean)}, not C = {step.concurrency}"
            )
