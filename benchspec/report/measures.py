"""Figures per step that charts and tables show. Absent inputs give None, never 0."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import median

from benchspec.observations.model import Bounds, Number, Request, Step


def middle(value: Number | None) -> float | None:
    """A figure as one number, for a plot: the middle of an interval."""
    return (value.low + value.high) / 2 if isinstance(value, Bounds) else value


def wall_s(step: Step) -> float | None:
    """First dispatch to last completion, in seconds."""
    return middle(step.wall_s)


def tokens(step: Step) -> float | None:
    """Completion tokens of the successful requests."""
    counted = [r.tokens for r in step.requests if r.ok and r.tokens is not None]
    return float(sum(counted)) if counted else step.tokens_total


def aggregate_tok_s(step: Step) -> float | None:
    """Completion tokens per second of the step: over its window if sustained, else over its wall."""
    if step.window and step.window.end_s > step.window.start_s:
        return step.window.tokens / (step.window.end_s - step.window.start_s)
    total, wall = tokens(step), wall_s(step)
    if step.requests and total is not None and wall:
        return total / wall
    return middle(step.aggregate_tok_s)


def stream_tok_s(step: Step) -> float | None:
    """Decode rate of the median request: 1000 / its time per token in ms."""
    per_token = token_time_ms(step)
    return middle(step.stream_tok_s) or (1000 / per_token if per_token else None)


def token_time_ms(step: Step) -> float | None:
    """Mean time between tokens of the median request; from a stated stream rate if that is all."""
    measured = median_of(step.requests, lambda r: r.itl_ms)
    stated = middle(step.stream_tok_s)
    return measured if measured is not None else (1000 / stated if stated else None)


def ttft_ms(step: Step) -> float | None:
    """First-token time of the median request, in milliseconds."""
    measured = median_of(step.requests, lambda r: r.ttft_ms)
    return measured if measured is not None else middle(step.ttft_ms)


def completions_s(step: Step) -> list[float]:
    """When each successful request ended, in order, in seconds from the first dispatch."""
    ends = [r.end_s for r in step.requests if r.ok and r.end_s is not None]
    return sorted(ends or step.completions_s)


def failed(step: Step) -> int:
    """Requests that failed."""
    return sum(not r.ok for r in step.requests) or step.errors or 0


def median_of(
    requests: Iterable[Request], value: Callable[[Request], float | None]
) -> float | None:
    """Median of a figure over the successful requests that have it."""
    present = [v for r in requests if r.ok and (v := value(r)) is not None]
    return median(present) if present else None
