"""admission: how many requests does the server work on at once, and what bounds it?

Needs: the server's counters of running and waiting requests; or how many tokens its KV cache holds
and how many a request takes.

Division: KV tokens / (prompt + output tokens of a request) = requests that fit; C / admitted =
waves. With replicas behind one address everything is that of one, times their number.

Readings
  fits                   all that were sent are worked on at once
  slots-bound            the slots are full
  kv-bound               the KV cache is: it holds fewer requests than there are slots
  below-slots            some wait although neither slots nor KV cache account for it
  capped-before-server   running and waiting together are fewer than were sent: connections of the
                         client, threads of a transport, a router

Silent when: neither counters nor the KV cache with the length of a request are known.

Value: the requests admitted at once, S of the waves. A setting is what was asked for; the counter is
what was done. Requests that were put back (preempted) are computed again, and count as work, not as
throughput. Source: paged caches admit on the prompt, and put back when answers grow.
"""

from __future__ import annotations

import math

from benchspec.judge.case import Case, measured
from benchspec.judge.hardware import as_input
from benchspec.judge.interval import Interval, counted, show
from benchspec.judge.lines import Line, invalid, lacking, not_applicable
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.setup import Slots
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Step

NAME = "admission"
READINGS = ("fits", "slots-bound", "kv-bound", "below-slots", "capped-before-server")
NEEDS = "counters of running and waiting requests, or KV tokens and the tokens of a request"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per arm and step of several requests at once."""

    def divide(line: Line, step: Step) -> CheckResult:
        if step.concurrency is None or step.concurrency < 2:
            raise not_applicable("one request is always admitted")
        slots, room = case.stated_slots(step.arm), case.kv_slots(step.arm)
        if step.running_max is None and room is None:
            raise lacking("running and waiting counters, or KV tokens and tokens per request")
        if step.running_max is None:
            return _fitting(line, step, slots, room)
        return _counted(line, step, slots, room)

    known = {s.arm for s in case.observations.steps if s.running_max is not None}
    known |= {arm for arm in case.arm_ids if case.observed(arm).kv_tokens}
    return [r for r in case.per_repeat(NAME, divide) if r.arm in known] if known else []


def _counted(line: Line, step: Step, slots: Slots | None, room: Slots | None) -> CheckResult:
    """From the counters of the server."""
    running, count = step.running_max or 0.0, step.concurrency or 0
    if running < 1:
        raise lacking("a counter of running requests that counted any")
    waiting = "" if step.waiting_max is None else f", {show(step.waiting_max)} waiting"
    inputs = [measured("running", running, "requests", step)]
    if step.waiting_max is not None:
        inputs.append(measured("waiting", step.waiting_max, "requests", step))
    return line.judged(
        _read(step, slots, room),
        f"{count} in flight, {show(running)} running{waiting}{_against(slots, room)}: "
        f"ceil({count} / {show(running)}) = {math.ceil(count / running)} waves",
        running,
        "requests",
        inputs=inputs + [s.as_input() for s in (slots, room) if s],
        caveats=[*_unseen(step, slots), *_put_back(step)],
    )


def _unseen(step: Step, slots: Slots | None) -> list[str]:
    """Without a counter of waiting requests nobody knows whether the others had arrived."""
    running, count = step.running_max or 0.0, step.concurrency or 0
    full = slots is not None and running >= slots.count
    if step.waiting_max is not None or running >= count or full:
        return []
    return ["no counter of waiting requests: the others may not have reached the server"]


def _read(step: Step, slots: Slots | None, room: Slots | None) -> str:
    running, count, waiting = step.running_max or 0.0, step.concurrency or 0, step.waiting_max
    if running >= count:
        return "fits"
    if slots is not None and running >= slots.count:
        return "slots-bound"
    if waiting is not None and running + waiting < limit("admission.arrived") * count:
        return "capped-before-server"
    near = limit("admission.kv")
    full = room is not None and abs(running / max(room.count, 1) - 1) <= near
    return "kv-bound" if full else "below-slots"


def _fitting(line: Line, step: Step, slots: Slots | None, room: Slots | None) -> CheckResult:
    """From the size of the KV cache."""
    count, fits = step.concurrency or 0, room.count if room else 0
    asked = slots.count if slots else count
    admitted = min(count, asked, fits)
    if room is not None and fits < 1:
        raise invalid(f"{room.source} holds not one request, and one was answered")
    bound = "kv-bound" if fits < min(asked, count) else "slots-bound" if asked < count else "fits"
    return line.judged(
        bound,
        f"{count} in flight{_against(slots, room)}: ceil({count} / {admitted}) = "
        f"{math.ceil(count / admitted)} waves",
        admitted,
        "requests",
        inputs=[*(s.as_input() for s in (slots, room) if s), _sent(count)],
        quotable="bound",
        caveats=_put_back(step),
    )


def _sent(count: int) -> Input:
    return as_input("in flight", Interval.of(count), "requests", "declared", "the load")


def _against(slots: Slots | None, room: Slots | None) -> str:
    words = [f"of {counted(slots.count, 'slot')}"] if slots else []
    words += [f"{room.source} = {room.count}"] if room else []
    return "".join(f", {word}" for word in words)


def _put_back(step: Step) -> list[str]:
    if not step.preemptions:
        return []
    return [
        f"{step.preemptions} requests were put back and computed again: the cache admits more than "
        "it can finish"
    ]
