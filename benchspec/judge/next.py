"""The next decisive run: for every open line the smallest change of the spec that would decide it.

Each step says what either outcome would look like, with numbers where the observations give them:
a plateau at the slots is decided by twice the slots at the same load, and T there is either what a
queue takes or clearly less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchspec.judge import figures
from benchspec.judge.case import Case
from benchspec.judge.changes import Change, load_steps, more_slots, put
from benchspec.judge.checks import BY_NAME
from benchspec.judge.interval import Interval, counted, show
from benchspec.judge.result import CheckResult, Unfinished, Verdicts
from benchspec.judge.thresholds import limit


@dataclass(frozen=True)
class NextStep:
    """`about` is what is open (a check's key, a hypothesis, an arm); no `changes` where the spec
    alone cannot decide it."""

    about: str
    why: str
    do: str
    outcomes: tuple[str, ...]
    changes: tuple[Change, ...] = ()


Rule = Callable[[Case, Verdicts], Iterator[NextStep]]


def next_steps(case: Case, verdicts: Verdicts) -> list[NextStep]:
    """One step per open line, those with a change of the spec first, none twice."""
    found: dict[str, NextStep] = {}
    for rule in _RULES:
        for step in rule(case, verdicts):
            found.setdefault(step.do, step)
    return sorted(found.values(), key=lambda step: not step.changes)


def _nothing_run(case: Case, verdicts: Verdicts) -> Iterator[NextStep]:
    for h in verdicts.hypotheses:
        if h.verdict == "not-run":
            yield NextStep(
                h.id,
                f"{h.id} is open: {h.reason}",
                "run what is missing: benchspec run, or resume",
                ("the registered test holds: supported", "it fails: refuted"),
            )


def _above_the_slots(case: Case, verdicts: Verdicts) -> Iterator[NextStep]:
    """The sweep ended within the slots, or only queued above them."""
    for gap in _gaps(verdicts, "within-slots"):
        arm = gap.arm or ""
        slots = case.slots(arm)
        if slots is None:
            continue
        most = max(p.concurrency or 0 for p in case.places if p.arm == arm)
        if most <= slots.count:
            yield _further(case, gap, arm, slots.count)
        else:
            yield _more_slots(case, gap, arm, slots.count)


def _further(case: Case, gap: Unfinished, arm: str, slots: int) -> NextStep:
    again = 2 * slots
    full = _wall(case, arm, slots)
    queued = f"about {show(2 * full, 2)} s" if full else f"twice the time at C={slots}"
    faster = f"under {show(2 * full / _BELOW, 2)} s" if full else "clearly less"
    return NextStep(
        f"arm {arm}",
        gap.text,
        f"run C={again} as well",
        (
            f"{queued}: the requests wait for one of {counted(slots, 'slot')}",
            f"{faster}: more than {slots} run at once, so the slots are not what they seem",
        ),
        (load_steps(case, again),),
    )


def _more_slots(case: Case, gap: Unfinished, arm: str, slots: int) -> NextStep:
    again = 2 * slots
    queued = _wall(case, arm, again) or _doubled(_wall(case, arm, slots))
    rate = _rate(case, arm, slots)
    at = f" at {show(rate, 2)} tok/s" if rate else ""
    hardware = f"about {show(queued, 2)} s" if queued else f"twice the time at C={slots}"
    better = f"under {show(queued / _BELOW, 2)} s" if queued else "clearly less"
    return NextStep(
        f"arm {arm}",
        gap.text,
        f"run {counted(again, 'slot')} at C={again}",
        (
            f"{hardware}: the hardware is full{at}",
            f"{better}: it was the slots, and the plateau says nothing about the hardware",
        ),
        (*more_slots(case, arm, again), load_steps(case, again, 2 * again)),
    )


def _missing_steps(case: Case, verdicts: Verdicts) -> Iterator[NextStep]:
    """A division lacks its partner: X(1), T(S), T(C mod S)."""
    for result in _open(verdicts, "queueing", "scaling"):
        wanted = _wanted_count(case, result)
        if wanted is None:
            continue
        yield NextStep(
            result.key,
            f"{result.key} is open: {result.reason}",
            f"run C={wanted} as well",
            _PARTNER[result.check],
            (load_steps(case, wanted),),
        )


_PARTNER = {
    "queueing": (
        "the ratio to it is near 1: the requests queue",
        "it is well below 1: more run at once than the slots that are stated",
    ),
    "scaling": (
        "X is the same as at one request: the engine serves them one by one",
        "X is larger: they share the work",
    ),
}


def _shape(case: Case, verdicts: Verdicts) -> Iterator[NextStep]:
    """Whether requests wait or are slow together needs the times of their answers."""
    shapes = {(r.arm, str(r.at)) for r in verdicts.checks if _has_shape(r)}
    for result in verdicts.checks:
        unresolved = result.check == "queueing" and result.reading == "unresolved"
        blind = result.check == "completion-shape" and result.state == "insufficient"
        if unresolved and (result.arm, str(result.at)) in shapes:
            yield _again(result)
            continue
        if not unresolved and not blind:
            continue
        yield NextStep(
            result.key,
            f"{result.key} is open: {result.reason or result.arithmetic}",
            "send bursts of equally long answers and keep when each ended",
            (
                "they end in groups as large as the slots: they queued",
                "they end together, each stream slower: all ran, and the hardware is full",
            ),
            (
                put(("load",), "mode", "burst"),
                put(("workload", "output"), "forced", "true"),
            ),
        )


def _has_shape(result: CheckResult) -> bool:
    return result.check == "completion-shape" and result.state == "judged"


def _again(result: CheckResult) -> NextStep:
    """Ratio and witnesses are there and contradict each other."""
    return NextStep(
        result.key,
        f"{result.key} is open: {result.arithmetic}",
        "run that step again on a machine that does nothing else",
        (
            "the ratio is near 1: they queued, and the first run was disturbed",
            "it stays away from 1: something else costs time there; profile it",
        ),
    )


def _repeats(case: Case, verdicts: Verdicts) -> Iterator[NextStep]:
    needed = int(limit("repeats.verdict"))
    few = [h for h in verdicts.hypotheses if h.verdict == "inconclusive" and "repeats" in h.reason]
    for h in few:
        seen = f" (one run gave {show(Interval.of(h.value))} {h.unit or ''})" if h.value else ""
        yield NextStep(
            h.id,
            f"{h.id} is open: {h.reason}",
            f"run {needed} repeats{seen.rstrip()}",
            (
                f"all {needed} pass the registered value: supported",
                f"none of the {needed} does: refuted; on both sides, it stays open",
            ),
            (put((), "repeats", str(needed)),),
        )
    singles = _gaps(verdicts, "single-run")
    if singles and not few:
        yield NextStep(
            singles[0].text.partition(":")[0].lower(),
            singles[0].text,
            f"run {needed} repeats",
            ("they differ by less than 5 %: the figures hold", "by more: only their order does"),
            (put((), "repeats", str(needed)),),
        )


def _sampling(case: Case, verdicts: Verdicts) -> Iterator[NextStep]:
    for result in verdicts.checks:
        if result.check != "sampling" or result.reading != "blind" or result.value is None:
            continue
        needed = Interval.of(result.value).low
        yield NextStep(
            result.key,
            f"{result.key}: {result.arithmetic}",
            f"sample every {show(needed, 2)} ms or faster, with a tool that can",
            (
                "the devices read near 100 % and near 0 in turn: they alternate",
                "all of them read the same all the time: they work together",
            ),
            (put(("telemetry",), "interval", f"{show(needed, 2)} ms"),),
        )


def _link_counter(case: Case, verdicts: Verdicts) -> Iterator[NextStep]:
    for gap in _gaps(verdicts, "not-measured"):
        if "ink" not in gap.text and "pcie" not in gap.text.lower():
            continue
        yield NextStep(
            "the link",
            gap.text,
            "count the traffic of the link during the same steps",
            (
                "it is what the split must move, far below the link's capacity: not the link",
                "it is near the capacity, or far more than the split moves: look there",
            ),
            _COUNT_LINK if not case.spec.telemetry.sources else _COUNT_LINK[1:],
        )


def _idle(case: Case, verdicts: Verdicts) -> Iterator[NextStep]:
    for result in _open(verdicts, "baseline"):
        yield NextStep(
            result.key,
            f"{result.key} is open: {result.reason}",
            "watch the idle machine before and after each cell",
            ("nothing moves: the figures are the engine's", "something does: they are not"),
            (put(("telemetry",), "idle_baseline", "8 s"),),
        )


def _cache(case: Case, verdicts: Verdicts) -> Iterator[NextStep]:
    for result in _open(verdicts, "prefix-cache"):
        yield NextStep(
            result.key,
            f"{result.key} is open: {result.reason}",
            "send the same prompt cold and warm, one at a time",
            (
                "the warm first token comes in half the time or less: the cache works",
                "it takes as long, and no token was cached: it does not",
            ),
            (put(("load",), "cache", "[cold, warm]"),),
        )


def _disturbed(case: Case, verdicts: Verdicts) -> Iterator[NextStep]:
    for h in verdicts.hypotheses:
        if h.verdict == "invalid":
            yield NextStep(
                h.id,
                f"{h.id} is invalid: {h.reason}",
                "remove what spoiled it and run it again",
                ("the same figure: it was harmless", "another: nothing of this run counts"),
            )


def _remainders(case: Case, verdicts: Verdicts) -> Iterator[NextStep]:
    for gap in _gaps(verdicts, "remainder", "jump", "bound", "withdrawn"):
        yield NextStep(
            gap.check or gap.hypothesis or f"arm {gap.arm}",
            gap.text,
            _BY_KIND[gap.kind],
            _OUTCOMES[gap.kind],
        )


_BY_KIND = {
    "remainder": "profile one step, and put where its time goes under observations.budgets",
    "jump": "run the step between them, and profile both",
    "bound": "measure the input that is a bound",
    "withdrawn": "find another explanation, and register a test of it",
}
_OUTCOMES = {
    "remainder": ("one part takes the rest: that is the cause", "it is spread: fixed costs"),
    "jump": ("it rises evenly: shared work", "it jumps there too: another kernel or path"),
    "bound": ("the share stays where it is: the reading holds", "it moves: judge again"),
    "withdrawn": ("the test holds: the new explanation stands", "it fails: the cause is open"),
}


_MEANING = {
    "rate-per-price": (
        "the arm that is ahead in one phase is ahead in the other: the price decides",
        "it is behind in the other: the workload decides",
    ),
}
"""Outcomes of checks whose reading alone says nothing."""


def _everything_else(case: Case, verdicts: Verdicts) -> Iterator[NextStep]:
    """What no rule above speaks of: the input that is missing, and the readings it would give."""
    handled = {"queueing", "scaling", "completion-shape", "baseline", "prefix-cache", "repeats"}
    for result in verdicts.checks:
        if result.state != "insufficient" or result.check in handled:
            continue
        readings = tuple(f"it then reads {word}" for word in BY_NAME[result.check].READINGS[:2])
        yield NextStep(
            result.key,
            f"{result.key} is open: {result.reason}",
            f"give {' and '.join(result.missing) or 'what it needs'}",
            _MEANING.get(result.check, readings),
        )


_RULES: tuple[Rule, ...] = (
    _nothing_run,
    _above_the_slots,
    _missing_steps,
    _shape,
    _repeats,
    _sampling,
    _link_counter,
    _idle,
    _cache,
    _disturbed,
    _remainders,
    _everything_else,
)

_COUNT_LINK = (
    put(("telemetry",), "sources", "[nvml, host, engine]"),
    put(("telemetry",), "counters", "[pcie]"),
)

_BELOW = limit("queueing.high")
"""A time below what a queue takes, by more than its ratio may exceed 1."""


def _gaps(verdicts: Verdicts, *kinds: str) -> list[Unfinished]:
    return [gap for gap in verdicts.unfinished if gap.kind in kinds]


def _open(verdicts: Verdicts, *checks: str) -> list[CheckResult]:
    return [r for r in verdicts.checks if r.check in checks and r.state == "insufficient"]


def _wanted_count(case: Case, result: CheckResult) -> int | None:
    """The step whose figure is missing: `X(1)`, `T(4)`."""
    text = " ".join(result.missing)
    if "answers of one length" in text:
        return None
    start = text.find("(")
    digits = text[start + 1 : text.find(")", start)] if start >= 0 else ""
    return int(digits) if digits.isdigit() and len(digits) < 6 else None


def _wall(case: Case, arm: str, count: int) -> float | None:
    """T of the arm at `count`, in seconds."""
    for place in case.places:
        if place.arm == arm and place.concurrency == count:
            times = [t for s in case.steps(place) if (t := figures.wall_s(s)) and t.low > 0]
            return times[0].mid if times else None
    return None


def _rate(case: Case, arm: str, count: int) -> float | None:
    for place in case.places:
        if place.arm == arm and place.concurrency == count:
            rates = [x for s in case.steps(place) if (x := figures.aggregate_tok_s(s))]
            return rates[0].mid if rates else None
    return None


def _doubled(value: float | None) -> float | None:
    return None if value is None else 2 * value
