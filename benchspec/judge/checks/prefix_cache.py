"""prefix-cache: is a prompt that was seen before cheaper the next time?

Needs: first-token times of identical sends with one request in flight, and the cached tokens that
the server counts; or a cold and a warm step of one stream. For unique prompts, cached tokens or the
server's share of hits. For prompts shorter than a block of the cache, the two lengths.

Division: median first-token time of the later sends / that of the first, or, where it is known, of
a control as long with another beginning (the first send also pays for warm-up); cached / prompt;
floor(prompt / block) x block = tokens that can be used again at most.

Readings
  effective       <= 0.5, and at least half of the prompt came from the cache
  not-effective   >= 0.9: nothing was saved, whatever a counter of cached tokens says (it may count
                  what is stored); or the prompt is shorter than a block
  partial         between
  contaminating   prompts that were meant to be unique drew more than a tenth from the cache (more
                  than a hundredth, where the server counts over the whole run)
  recomputed      the same, while requests were put back: their own tokens, computed again, may be
                  what is counted

Silent when: fewer than two sends; more than one request in flight (then a queue is measured).

Value: later / first (or control); for contaminating the cached share. Source: definition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchspec.judge import figures, metrics
from benchspec.judge.case import Case
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, attempt, invalid, lacking
from benchspec.judge.place import Place
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Sends, Step
from benchspec.observations.quantiles import median
from benchspec.spec.models import Workload

NAME = "prefix-cache"
READINGS = ("effective", "not-effective", "partial", "contaminating", "recomputed")
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
    if sends.block_tokens and sends.prompt_tokens and sends.prompt_tokens < sends.block_tokens:
        return _below_block(line, sends.prompt_tokens, sends.block_tokens)
    if len(sends.ttft_ms) < 2 or min(sends.ttft_ms) <= 0:
        raise lacking("first-token times of two identical sends")
    control = [t for t in sends.control_ttft_ms if t > 0]
    first, later = median(control or sends.ttft_ms[:1]), median(sends.ttft_ms[1:])
    known = [c for c in sends.cached_tokens[1:] if c is not None]
    cached = median([float(c) for c in known]) if known else None
    share = cached / sends.prompt_tokens if cached is not None and sends.prompt_tokens else None
    ratio = later / first
    counted = "" if cached is None else f"; {show(cached)} cached tokens"
    counted += f" of {sends.prompt_tokens}" if share is not None else ""
    return line.judged(
        _read(ratio, cached, share),
        f"first token {show(later / 1e3)} s / {show(first / 1e3)} s"
        f"{' of the control' if control else ''} = {show(ratio, 3)}{counted}",
        ratio,
        "ratio",
        inputs=[
            Input(name="control" if control else "first send", value=first, unit="ms"),
            Input(name=f"{len(sends.ttft_ms) - 1} later sends", value=later, unit="ms"),
            Input(name="cached tokens", value=cached, unit="tokens"),
        ],
        caveats=_caveats(ratio, cached),
    )


def _below_block(line: Line, prompt: int, block: int) -> CheckResult:
    return line.judged(
        "not-effective",
        f"floor({prompt} / {block}) x {block} = 0 tokens can be used again",
        1.0,
        "ratio",
        inputs=[
            Input(name="prompt", value=float(prompt), unit="tokens"),
            Input(name="block", value=float(block), unit="tokens"),
        ],
        quotable="bound",
    )


def _caveats(ratio: float, cached: float | None) -> list[str]:
    if cached is None:
        return ["the server does not count cached tokens"]
    if cached and ratio >= limit("cache.none"):
        return [f"{show(cached)} tokens count as cached and saved no time: stored, not used again"]
    return []


def _read(ratio: float, cached: float | None, share: float | None) -> str:
    half = share is None or share >= limit("cache.share")
    if ratio <= limit("cache.effective") and half and cached != 0:
        return "effective"
    return "not-effective" if ratio >= limit("cache.none") else "partial"


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
    sound = case.sound(place)
    values = [v.mid for s in sound if (v := metric.whole(s)) is not None]
    return median(values) if values else None


def _contaminated(case: Case) -> Iterator[CheckResult]:
    """Places whose unique prompts came from the cache."""
    for place in case.places:
        arm = case.arms.get(place.arm)
        if arm is None or not _shares_nothing(arm.workload) or place.cache == "warm":
            continue
        steps = case.sound(place)
        found = _hits(steps)
        if found is not None:
            preemptions = sum(s.preemptions or 0 for s in steps)
            yield _suspect(Line(NAME, place.arm, place.at), *found, preemptions)


def _shares_nothing(workload: Workload) -> bool:
    """Whether no prompt has anything of an earlier one in it, as later turns and shared beginnings
    do."""
    prompt = workload.prompt
    return prompt.unique and not prompt.shared_prefix and workload.turns == 1


def _hits(steps: Sequence[Step]) -> tuple[Interval, str] | None:
    """The share of unique prompts that came from the cache, where it is more than chance."""
    requests = [r for s in steps for r in figures.succeeded(s)]
    shares = [
        r.cached_tokens / r.prompt_tokens
        for r in requests
        if r.prompt_tokens and r.cached_tokens is not None
    ]
    if shares and median(shares) > limit("cache.contaminating"):
        return Interval.of(median(shares)), f"median of {len(shares)} requests"
    counted = [Interval.of(s.hit_rate) for s in steps if s.hit_rate is not None]
    if counted and (middle := Interval.hull(counted)).low > limit("cache.hits"):
        return middle, "as the server counts"
    return None


def _suspect(line: Line, share: Interval, how: str, preemptions: int) -> CheckResult:
    caveats = []
    if preemptions:
        caveats.append(f"{preemptions} requests were put back; a control with another prefix tells")
    elif 0 < share.high < 1:
        senders = show(1 / (1 - share), 3)
        caveats.append(f"{senders} senders of the same prompts would give that share")
    return line.judged(
        "recomputed" if preemptions else "contaminating",
        f"{show(100 * share, 3)} % of prompts that should be unique came from the cache ({how})",
        share,
        "ratio",
        inputs=[Input(name="cached / prompt tokens", value=share.number, unit="ratio")],
        caveats=caveats,
    )
