"""Figures per step as one number each, for charts and tables; the judge's own definitions.

An interval is drawn at its middle. Absent inputs give None, never 0.
"""

from __future__ import annotations

from collections.abc import Callable

from benchspec.judge import figures
from benchspec.judge.interval import Interval
from benchspec.judge.metrics import METRICS
from benchspec.observations.model import Step

Measure = Callable[[Step], float | None]


def _middle(read: Callable[[Step], Interval | None]) -> Measure:
    def measure(step: Step) -> float | None:
        found = read(step)
        return None if found is None else found.mid

    return measure


wall_s = _middle(figures.wall_s)
aggregate_tok_s = _middle(figures.aggregate_tok_s)
stream_tok_s = _middle(figures.stream_tok_s)
ttft_ms = _middle(METRICS["ttft_ms"].whole)
tokens = figures.tokens
completions_s = figures.completions_s
sent_per_s = figures.sent_per_s


def token_time_ms(step: Step) -> float | None:
    """Time between tokens of the median; 1000 / the stream's rate where only that is stated."""
    between = METRICS["itl_ms"].whole(step)
    rate = stream_tok_s(step)
    return between.mid if between is not None else (1000 / rate if rate else None)


def failed(step: Step) -> int:
    """Requests that failed."""
    return len(step.requests) - len(figures.succeeded(step)) or step.errors or 0
