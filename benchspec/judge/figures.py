"""The figures of one step, computed from its requests or, without them, as someone stated them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import pairwise

from pydantic import BaseModel

from benchspec.judge.interval import Interval
from benchspec.observations.model import Request, Step
from benchspec.observations.node import Bounds, Number
from benchspec.observations.quantiles import median


def stated(value: Number | None) -> Interval | None:
    """A stated figure as an interval."""
    return None if value is None else Interval.of(value)


def succeeded(step: Step) -> list[Request]:
    """The requests that were answered."""
    return [r for r in step.requests if r.ok]


def completions_s(step: Step) -> list[float]:
    """When answers ended, seconds from the first dispatch, in order."""
    ends = [r.end_s for r in succeeded(step) if r.end_s is not None]
    return sorted(ends or step.completions_s)


def wall_s(step: Step) -> Interval | None:
    """T: first dispatch to last completion."""
    if step.wall_s is not None:
        return Interval.of(step.wall_s)
    ends = completions_s(step)
    return Interval.of(ends[-1]) if ends else None


def tokens(step: Step) -> float | None:
    """Completion tokens of the answered requests; None unless all are known."""
    counts = [r.tokens for r in succeeded(step)]
    if counts:
        return float(sum(c for c in counts if c is not None)) if None not in counts else None
    if step.tokens_total is not None:
        return step.tokens_total
    if step.tokens_per_request is not None and step.concurrency is not None:
        return step.tokens_per_request * (step.planned_requests or step.concurrency)
    return None


def sent(step: Step) -> int | None:
    """How many requests were sent; None of an open loop that nobody counted."""
    return len(step.requests) or step.planned_requests or step.concurrency


def sent_per_s(step: Step) -> float | None:
    """Requests per second as they were sent: gaps / time from the first to the last dispatch; as
    recorded where the dispatches are not known."""
    starts = [r.start_s for r in step.requests if r.start_s is not None]
    if len(starts) > 1 and max(starts) > min(starts):
        return (len(starts) - 1) / (max(starts) - min(starts))
    return step.achieved_rate


def failed(step: Step) -> int:
    """How many were not answered."""
    return sum(1 for r in step.requests if not r.ok) if step.requests else step.errors or 0


def prompt_tokens(step: Step) -> float | None:
    """Prompt tokens of a request: the median, or as stated."""
    counts = [float(r.prompt_tokens) for r in succeeded(step) if r.prompt_tokens]
    if counts:
        return median(counts)
    return None if step.prompt_tokens is None else Interval.of(step.prompt_tokens).mid


def ttft_ms(step: Step) -> Interval | None:
    """Time to first token: the median over the requests, or as stated."""
    times = [r.ttft_ms for r in succeeded(step) if r.ttft_ms is not None]
    return Interval.of(median(times)) if times else stated(step.ttft_ms)


def latency_s(step: Step) -> Interval | None:
    """Dispatch to completion of one request: the median; as stated; or first-token time + the
    tokens after it x time per token. Of a single request the wall time."""
    if step.requests and (times := latencies_s(step)):
        return Interval.of(median(times))
    if step.latency_s is not None:
        return Interval.of(step.latency_s)
    first, each, count = ttft_ms(step), stated(step.tpot_ms), _stated_length(step)
    if first is not None and each is not None and count is not None:
        return (first + each * max(count - 1, 0)) * 1e-3
    return wall_s(step) if step.concurrency == 1 and sent(step) == 1 else None


def _stated_length(step: Step) -> float | None:
    """Tokens of an answer as stated, by itself or as a total."""
    if step.tokens_per_request is not None:
        return step.tokens_per_request
    count = sent(step)
    return step.tokens_total / count if step.tokens_total is not None and count else None


def tokens_per_request(step: Step) -> float | None:
    """Mean completion tokens of an answer; without counts X T / requests (of a burst: C)."""
    total = tokens(step)
    sent_out = step.planned_requests or step.concurrency
    answered = len(succeeded(step)) or (sent_out - failed(step) if sent_out else None)
    if total is not None:
        return total / answered if answered and answered > 0 else None
    rate, wall, count = stated(step.aggregate_tok_s), wall_s(step), counted_requests(step)
    if rate is not None and wall is not None and count and count > 0:
        return (rate * wall / count).mid
    return _streamed(step)


def counted_requests(step: Step) -> int | None:
    """How many answers a stated throughput is of; None where clients kept sending, and nobody
    counted."""
    count = step.planned_requests or (step.concurrency if step.mode != "sustained" else None)
    return None if count is None else count - failed(step)


def _streamed(step: Step) -> float | None:
    """Tokens of an answer from its rate and the time after its first token."""
    rate, first, latency = stated(step.stream_tok_s), stated(step.ttft_ms), stated(step.latency_s)
    if rate is None or first is None or latency is None:
        return None
    return (rate * (latency - first * 1e-3)).mid


def recomputed_tok_s(step: Step) -> Interval | None:
    """X. Burst: all tokens / T. Sustained and open loop: tokens in the window / its length; of a
    report without single requests all tokens / T, as the usual clients print it."""
    if step.window is not None and step.window.end_s > step.window.start_s:
        return Interval.of(step.window.tokens / (step.window.end_s - step.window.start_s))
    if step.mode == "sustained" and (step.requests or not step.planned_requests):
        return None
    total, wall = tokens(step), wall_s(step)
    return total / wall if total and wall is not None else None


def aggregate_tok_s(step: Step) -> Interval | None:
    """X: from the requests; without requests as stated, since printed times are rounded."""
    if step.aggregate_tok_s is not None and not step.requests:
        return Interval.of(step.aggregate_tok_s)
    found = recomputed_tok_s(step)
    return found if found is not None else stated(step.aggregate_tok_s)


def request_stream_tok_s(request: Request) -> float | None:
    """Decode rate of one answer: (tokens - 1) / (last token - first token)."""
    first, last, count = request.first_token_s, _last(request), request.tokens
    if first is None or last is None or count is None or count < 2 or last <= first:
        return None
    return (count - 1) / (last - first)


def stream_tok_s(step: Step) -> Interval | None:
    """r: the median decode rate of a stream."""
    rates = [r for r in map(request_stream_tok_s, succeeded(step)) if r is not None]
    if rates:
        return Interval.of(median(rates))
    return stated(step.stream_tok_s if step.stream_tok_s is not None else step.decode_tok_s)


def decode_tok_s(step: Step) -> Interval | None:
    """A single stream's rate as its author states it, else r, else from the time per token."""
    if step.decode_tok_s is not None:
        return stated(step.decode_tok_s)
    rate, each = stream_tok_s(step), stated(step.tpot_ms)
    return 1e3 / each if rate is None and each is not None and each.low > 0 else rate


def tokens_per_round(step: Step, drafts: int | None) -> Interval | None:
    """Tokens that one forward pass gives a stream: as stated, else 1 + k x acceptance; 1 without
    speculation; None where something was drafted and too little is known."""
    if step.tokens_per_round is not None:
        return Interval.of(step.tokens_per_round)
    acceptance = overall_acceptance(step)
    if acceptance is None:
        return Interval.of(1.0) if not drafts else None
    return 1 + acceptance * drafts if drafts else None


def overall_acceptance(step: Step) -> Interval | None:
    """All accepted / all drafted tokens: work over work, never the mean of shares."""
    drafted = [r for r in succeeded(step) if r.draft_tokens and r.accepted_tokens is not None]
    if not drafted:
        return stated(step.acceptance)
    accepted = sum(r.accepted_tokens or 0 for r in drafted)
    return Interval.of(accepted / sum(r.draft_tokens or 0 for r in drafted))


def step_ms(step: Step, drafts: int | None = None) -> Interval | None:
    """Time of one forward pass: as stated, else tokens per pass x 1000 / rate of a stream."""
    if step.round_ms is not None:
        return Interval.of(step.round_ms)
    rate, each = decode_tok_s(step), tokens_per_round(step, drafts)
    return 1e3 * each / rate if rate is not None and each is not None and rate.low > 0 else None


def self_reported_tok_s(step: Step) -> Interval | None:
    """The sum of the rates that the requests report of themselves."""
    rates = [r.self_reported_tok_s for r in succeeded(step) if r.self_reported_tok_s is not None]
    if rates and len(rates) == len(succeeded(step)):
        return Interval.of(math.fsum(rates))
    if step.self_reported_tok_s is not None:
        return Interval.of(step.self_reported_tok_s)
    each = stream_tok_s(step)
    return None if each is None or step.concurrency is None else each * step.concurrency


def latencies_s(step: Step) -> list[float]:
    """Dispatch to completion of every answered request."""
    pairs = [(r.start_s or 0.0, r.end_s) for r in succeeded(step)]
    ends = [end - start for start, end in pairs if end is not None]
    return ends or list(step.completions_s)


def decode_intervals_s(step: Step) -> list[tuple[float, float]]:
    """(first token, last token) of every answer; empty unless all have both."""
    pairs = [(r.first_token_s, _last(r)) for r in succeeded(step)]
    whole = [(a, b) for a, b in pairs if a is not None and b is not None]
    return whole if len(whole) == len(pairs) else []


def _last(request: Request) -> float | None:
    return request.last_token_s if request.last_token_s is not None else request.end_s


_LARGEST = 1e30
"""No time, count or rate of this world is larger; beyond it squares and products overflow."""


def believable(value: float) -> bool:
    """Whether a figure is a finite number of this world."""
    return math.isfinite(value) and abs(value) < _LARGEST


def unsound(node: object, name: str = "a figure") -> str | None:
    """Why a node of the observations cannot be right, or None: a number in it is not finite."""
    if isinstance(node, int | float) and not believable(node):
        return f"{name} is {node}, which is no figure"
    if isinstance(node, BaseModel):
        return _first_unsound((getattr(node, part), part) for part in type(node).model_fields)
    if isinstance(node, dict):
        return _first_unsound((value, str(part)) for part, value in node.items())
    if isinstance(node, list):
        return _first_unsound((item, name) for item in node)
    return None


def _first_unsound(parts: Iterable[tuple[object, str]]) -> str | None:
    return next((why for part, name in parts if (why := unsound(part, name))), None)


def defect(step: Step) -> str | None:
    """Why the step's numbers cannot be right, or None: not finite, negative, or out of order."""
    for name, value in _numbers(step):
        if not believable(value):
            return f"{name} is {value}, which is no figure"
        if value < 0:
            return f"{name} is {value}, and no time, count or rate is negative"
    wall = wall_s(step)
    if wall is not None and wall.low == 0:
        return "the step took no time at all"
    return next((why for r in step.requests if (why := _disorder(r))), None)


def _numbers(step: Step) -> Iterator[tuple[str, float]]:
    for name in type(step).model_fields:
        value = getattr(step, name)
        if isinstance(value, Bounds):
            yield from ((name, value.low), (name, value.high))
        elif isinstance(value, int | float) and not isinstance(value, bool) and name != "seed":
            yield name, value
    yield from (("a completion time", t) for t in step.completions_s)
    for request in step.requests:
        for name in ("start_s", "first_token_s", "last_token_s", "end_s", "ttft_ms", "tokens"):
            value = getattr(request, name)
            if value is not None:
                yield f"{name} of a request", value


def _disorder(request: Request) -> str | None:
    moments = [
        ("dispatch", request.start_s),
        ("first token", request.first_token_s),
        ("last token", request.last_token_s),
        ("end", request.end_s),
    ]
    known = [(name, at) for name, at in moments if at is not None]
    for (earlier, a), (later, b) in pairwise(known):
        if b < a:
            return f"a request's {later} ({b} s) comes before its {earlier} ({a} s)"
    if request.ok and request.start_s is not None and request.end_s == request.start_s:
        return "a request took no time at all"
    return None
