"""prefix-cache: is a prompt that was seen before cheaper the next time?

Needs: first-token times of identical sends with one request in flight, and the cached tokens that
the server counts; or a cold and a warm step of one stream. For unique prompts, cached tokens.

Division: median first-token time of the later sends / that of the first; cached tokens / prompt.

Readings
  effective       <= 0.5, and at least half of the prompt came from the cache
  not-effective   >= 0.9, and nothing came from the cache
  partial         between
  contaminating   prompts that were meant to be unique drew more than a tenth from the cache

Silent when: fewer than two sends; more than one request in flight (then a queue is measured).

Value: later / first; for contaminating the cached share. Source: definition.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchspec.judge import figures, metrics
from benchspec.judge.case import Case
from benchspec.judge.interval import show
from benchspec.judge.lines import Line, attempt, invalid, lacking
from benchspec.judge.place import Place
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Sends
from benchspec.observations.quantiles import median

NAME = "prefix-cache"
READINGS = ("effective", "not-effective", "partial", "contaminating")
NEEDS = "first-token times of identical sends, one in flight, and cached tokens"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per series of sends, per pair of cold and warm steps, per contaminated place."""
    return [
        *(_judge(sends) for sends in case.observations.sends),
        *(_judge(sends) for sends in _cold_and_warm(case)),
        *_contaminated(case),
    ]


def _judge(sends: Sends) -> CheckResult:
    line = Line(NAME, sends.arm)
    return attempt(line, lambda: _divide(line, sends), sends)


def _divide(line: Line, sends: Sends) -> CheckResult:
    if sends.in_flight != 1:
        raise invalid(f"{sends.in_flight} in flight: the queue is measured, not the cache")
    if len(sends.ttft_ms) < 2 or min(sends.ttft_ms) <= 0:
        raise lacking("first-token times of two identical sends")
    first, later = sends.ttft_ms[0], median(sends.ttft_ms[1:])
    known = [c for c in sends.cached_tokens[1:] if c is not None]
    cached = median([float(c) for c in known]) if known else None
    share = cached / sends.prompt_tokens if cached is not None and sends.prompt_tokens else None
    ratio = later / first
    counted = "" if cached is None else f"; {show(cached)} cached tokens"
    counted += f" of {sends.prompt_tokens}" if share is not None else ""
    return line.judged(
        _read(ratio, cached, share),
        f"first token {show(later / 1e3)} s / {show(first / 1e3)} s = {show(ratio, 3)}{counted}",
        ratio,
        "ratio",
        inputs=[
            Input(name="first send", value=first, unit="ms"),
            Input(name=f"{len(sends.ttft_ms) - 1} later sends", value=later, unit="ms"),
            Input(name="cached tokens", value=cached, unit="tokens"),
        ],
        caveats=["the server does not count cached tokens"] if cached is None else [],
    )


def _read(ratio: float, cached: float | None, share: float | None) -> str:
    half = share is None or share >= limit("cache.share")
    if ratio <= limit("cache.effective") and half and cached != 0:
        return "effective"
    return "not-effective" if ratio >= limit("cache.none") and not cached else "partial"


def _cold_and_warm(case: Case) -> Iterator[Sends]:
    """A cold step and a warm one of the same arm, one request in flight."""
    for place in case.places:
        if place.cache != "cold" or place.concurrency not in (None, 1):
            continue
        warm = Place(**{**place.__dict__, "cache": "warm"})
        pairs = [
            (_median(case, p, "ttft_ms"), _median(case, p, "cached_tokens")) for p in (place, warm)
        ]
        (first, none), (later, cached) = pairs
        if first is None or later is None:
            continue
        arm = case.arms.get(place.arm)
        yield Sends(
            arm=place.arm,
            prompt_tokens=arm.workload.prompt.tokens if arm else None,
            ttft_ms=[first, later],
            cached_tokens=[c if c is None else round(c) for c in (none, cached)],
        )


def _median(case: Case, place: Place, name: str) -> float | None:
    metric = metrics.METRICS[name]
    sound = [s for s in case.steps(place) if not figures.defect(s)]
    values = [v.mid for s in sound if (v := metric.whole(s)) is not None]
    return median(values) if values else None


def _contaminated(case: Case) -> Iterator[CheckResult]:
    """Places whose unique prompts came from the cache."""
    for place in case.places:
        arm = case.arms.get(place.arm)
        unique = arm is not None and arm.workload.prompt.unique and place.cache != "warm"
        requests = [r for s in case.steps(place) for r in figures.succeeded(s)]
        shares = [
            r.cached_tokens / r.prompt_tokens
            for r in requests
            if r.prompt_tokens and r.cached_tokens is not None
        ]
        if not unique or not shares or median(shares) <= limit("cache.contaminating"):
            continue
        share = median(shares)
        yield Line(NAME, place.arm, place.at).judged(
            "contaminating",
            f"{show(100 * share, 3)} % of prompts that should be unique came from the cache "
            f"(median of {len(shares)} requests)",
            share,
            "ratio",
            inputs=[Input(name="cached / prompt tokens", value=share, unit="ratio")],
        )
