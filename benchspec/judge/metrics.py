"""The metrics that a hypothesis may name, each a figure of one step.

Without a percentile a metric is the median over the step's requests (a step's own figures,
`aggregate_tok_s` and `wall_s`, have no requests to take one over). `ttft_ms.p95` is a percentile.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from benchspec.judge import figures
from benchspec.judge.interval import Interval
from benchspec.observations.model import Request, Step
from benchspec.observations.quantiles import quantile

PerStep = Callable[[Step], Interval | None]
PerRequest = Callable[[Request], float | None]


@dataclass(frozen=True)
class Metric:
    """`whole` gives it from the step, `each` from one request; `figure` is what the client's error
    is compared with: wall, ttft or itl."""

    name: str
    unit: str
    figure: str
    whole: PerStep
    each: PerRequest | None = None


@dataclass(frozen=True)
class Reading:
    """A metric's value in one step; `requests` is how many it is a statistic of."""

    value: Interval
    requests: int | None = None
    caveat: str | None = None


def latency_s(request: Request) -> float | None:
    """From the scheduled moment of an open loop, else from the send, to the end of the answer."""
    start = request.scheduled_s if request.scheduled_s is not None else request.start_s
    return None if start is None or request.end_s is None else request.end_s - start


def _prefill(request: Request) -> float | None:
    """Prompt tokens computed / the server's prefill time, else / the first-token time."""
    time_ms = request.server_prefill_ms or request.ttft_ms
    if request.prompt_tokens is None or not time_ms:
        return None
    return (request.prompt_tokens - (request.cached_tokens or 0)) / time_ms * 1e3


def _acceptance(request: Request) -> float | None:
    if not request.draft_tokens or request.accepted_tokens is None:
        return None
    return request.accepted_tokens / request.draft_tokens


def _or_stated(each: PerRequest, name: str) -> PerStep:
    """The median over the requests, or the figure that the step states."""

    def whole(step: Step) -> Interval | None:
        values = _values(step, each)
        if values:
            return Interval.of(quantile(values, 0.5))
        return figures.stated(getattr(step, name, None))

    return whole


def _values(step: Step, each: PerRequest) -> list[float]:
    values = [v for r in figures.succeeded(step) if (v := each(r)) is not None]
    return [v for v in values if math.isfinite(v)]


def _itl(step: Step) -> Interval | None:
    if step.itl_ms is not None:
        return figures.stated(step.itl_ms.p50)
    gaps = _values(step, lambda r: r.itl_ms)
    return Interval.of(quantile(gaps, 0.5)) if gaps else None


_TABLE = (
    Metric("aggregate_tok_s", "tok/s", "wall", figures.aggregate_tok_s),
    Metric("stream_tok_s", "tok/s", "itl", figures.stream_tok_s, figures.request_stream_tok_s),
    Metric("prefill_tok_s", "tok/s", "ttft", _or_stated(_prefill, "prefill_tok_s"), _prefill),
    Metric(
        "ttft_ms", "ms", "ttft", _or_stated(lambda r: r.ttft_ms, "ttft_ms"), lambda r: r.ttft_ms
    ),
    Metric("itl_ms", "ms", "itl", _itl, lambda r: r.itl_ms),
    Metric("e2e_s", "s", "wall", _or_stated(latency_s, "seconds"), latency_s),
    Metric("wall_s", "s", "wall", figures.wall_s),
    Metric("seconds", "s", "wall", figures.wall_s, latency_s),
    Metric("round_ms", "ms", "itl", lambda s: figures.stated(s.round_ms)),
    Metric("acceptance", "ratio", "none", figures.overall_acceptance, _acceptance),
    Metric(
        "cached_tokens",
        "tokens",
        "none",
        _or_stated(lambda r: r.cached_tokens, "cached_tokens"),
        lambda r: r.cached_tokens,
    ),
    Metric("joules_per_token", "J", "wall", lambda s: figures.stated(s.joules_per_token)),
)

METRICS = {metric.name: metric for metric in _TABLE}


def find(name: str) -> tuple[Metric, float | None] | None:
    """The metric `name` and its quantile (`ttft_ms.p95` -> 0.95, None without), or None."""
    base, _, suffix = name.partition(".")
    metric = METRICS.get(base)
    if metric is None or not suffix:
        return None if metric is None else (metric, None)
    if suffix == "max":
        return metric, 1.0
    digits = suffix.removeprefix("p")
    if suffix[:1] != "p" or not digits.replace(".", "", 1).isdigit() or float(digits) > 100:
        return None
    return metric, float(digits) / 100


def read(step: Step, metric: Metric, q: float | None) -> Reading | None:
    """The metric in a step, or None when the step does not hold it."""
    if q is None:
        value = metric.whole(step)
        return None if value is None else Reading(value, len(figures.succeeded(step)) or None)
    if metric.name == "itl_ms" and step.itl_ms is not None:
        return _pooled(step, q)
    values = _values(step, metric.each) if metric.each else []
    if not values:
        return None
    return Reading(Interval.of(quantile(values, q)), len(values), tail_caveat(q, len(values)))


def _pooled(step: Step, q: float) -> Reading | None:
    """A percentile of the pooled times between tokens: those that were kept."""
    name = "max" if q == 1.0 else f"p{q * 100:g}"
    value = getattr(step.itl_ms, name, None)
    count = (step.itl_ms.n if step.itl_ms else None) or 0
    if value is None:
        return None
    caveat = tail_caveat(q, count) if count else f"how many values {name} is of is not said"
    return Reading(Interval.of(value), count or None, caveat)


def tail_caveat(q: float, n: int) -> str | None:
    """What `n` values say of a high quantile: a one-sided 95 % upper bound needs ln 0.05 / ln q of
    them (order statistics: 59 for p95, 299 for p99)."""
    if q <= 0.5 or q >= 1:
        return None
    needed = math.ceil(math.log(0.05) / math.log(q))
    if n >= needed:
        return None
    return f"p{q * 100:g} of {n} values has no upper bound; {needed} would give one"
