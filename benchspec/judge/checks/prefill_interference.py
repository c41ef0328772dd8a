"""prefill-interference: does reading one request's prompt hold up the others that decode?

Needs: times between tokens of streams that decoded both while another request's prompt was read and
while none was: ten of each at least. From a run they follow from the token stamps and the server's
prefill times: a time is beside a prompt that was read for half of it or longer, and without where
none was read at all. An audit states them as `interference` of a step.

Division: p99 beside a prompt [ms] / p99 of the same streams without [ms]. Beside it, what is waited
longer, as a share of the time to read a prompt: (beside - without) / prefill; of different prompts
that of the typical moment (half of all reading belongs to longer ones).

Readings
  undisturbed   at most 1.15
  slowed        more: prompts are read in pieces, or with other cores, while answers go on
  blocked       more, and by half of a prompt's time or more: answers stand still meanwhile

Silent when: no stream has times of both kinds, or fewer than ten; requests waited for a slot while
the server did not say when it read their prompts (the wait is then no reading).

Value: the ratio. A median or mean over a whole step hides this: most tokens come while no prompt is
read. Source: definition; prompts in pieces: Agrawal et al., Sarathi-Serve, OSDI 2024.
"""

from __future__ import annotations

from benchspec.judge import metrics
from benchspec.judge.case import Case, measured
from benchspec.judge.conditions import client_limit
from benchspec.judge.figures import stated, unsound
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, invalid, lacking
from benchspec.judge.result import CheckResult
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Interference, Step

NAME = "prefill-interference"
READINGS = ("undisturbed", "slowed", "blocked")
NEEDS = "ten times between tokens of a stream beside another prompt that is read, and ten without"
RATE = False

_NO_LENGTH = "how long the prompt took to read is not known, so whether it blocked cannot be told"
_WAIT = "a prompt counts as read from its send: a wait for a slot would be part of it"


def check(case: Case) -> list[CheckResult]:
    """One result per arm and step in which prompts were read while others decoded."""

    def divide(line: Line, step: Step) -> CheckResult:
        seen = step.interference
        if seen is None or few(seen):
            raise lacking(NEEDS)
        if why := unsound(seen) or client_limit(step, "itl"):
            raise invalid(why)
        if seen.timed_by == "first-token" and _waited(case, step):
            raise lacking("the server's own prefill times, since requests waited for a slot")
        return _divide(line, step, seen)

    found = case.per_repeat(NAME, divide)
    return [r for r in found if r.state != "insufficient" or NEEDS not in r.missing]


def few(seen: Interference) -> bool:
    """Whether a p99 is of too few times to be looked at; stated figures say how many, or nothing."""
    counts = [n for n in (seen.alone_n, seen.beside_n) if n is not None]
    return min(counts, default=limit("interference.few")) < limit("interference.few")


def _waited(case: Case, step: Step) -> bool:
    slots, count = case.slots(step.arm), step.concurrency
    beyond = slots is not None and count is not None and count > slots.count
    return beyond or bool(step.waiting_max)


def _divide(line: Line, step: Step, seen: Interference) -> CheckResult:
    alone, beside = Interval.of(seen.alone_ms), Interval.of(seen.beside_ms)
    if min(alone.low, beside.low) <= 0:
        raise invalid("a time between tokens is not above zero")
    ratio, prefill = beside / alone, stated(seen.prefill_ms)
    extra, share = None, ""
    if prefill is not None:
        longer = beside - alone
        extra = longer / prefill
        share = f"; {show(longer)} ms longer / {show(prefill)} ms to read it = {show(extra, 3)}"
    given = {"beside a prompt, p99": beside, "without, p99": alone, "prefill": prefill}
    caveats = _caveats(seen)
    return line.judged(
        _read(ratio, extra),
        f"p99 between tokens {show(beside)} ms beside a prompt that is read / {show(alone)} ms "
        f"without = {show(ratio, 3)}{share}",
        ratio,
        "ratio",
        inputs=[measured(name, ms, "ms", step) for name, ms in given.items() if ms is not None],
        quotable="order-of-magnitude" if any("bound" in c for c in caveats) else "yes",
        caveats=caveats,
    )


def _read(ratio: Interval, extra: Interval | None) -> str:
    if ratio.mid <= limit("interference.none"):
        return "undisturbed"
    blocked = extra is not None and extra.mid >= limit("interference.blocked")
    return "blocked" if blocked else "slowed"


def _caveats(seen: Interference) -> list[str]:
    counts = [n for n in (seen.alone_n, seen.beside_n) if n is not None]
    tail = metrics.tail_caveat(0.99, min(counts)) if counts else None
    unread = _NO_LENGTH if seen.prefill_ms is None else None
    wait = _WAIT if seen.timed_by == "first-token" else None
    return [caveat for caveat in (tail, unread, wait) if caveat]
