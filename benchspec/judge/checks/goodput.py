"""goodput: how many requests were served as fast as their users need, and how many a second?

Needs: `load.slo` with a limit of the first-token time (ttft), of the mean time between a request's
tokens (itl), of its whole time (e2e), or of several; and the requests of a step.

Division: requests that were answered within all limits / all that were sent; and the same number /
the time from the first dispatch until the last of them had ended, answered or failed [s]. A failed
request is sent and not good. An answer of one token has no time between tokens, and is within that
limit. Times count from the scheduled moment in an open loop, else from the send.

Readings
  all    every request is within all limits
  some   a part of them
  none   none

Silent when: no limit is stated; the requests are not known, or of an answered one no time that a
limit is about; the client spoiled such a time; another repeat of the place broke off, whose
requests nobody was served.

Value: the share that is good. Source: the limits of the spec; what other tools call goodput. A rate
of all tokens grows while every user waits too long; this one falls then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from benchspec.judge import figures, metrics
from benchspec.judge.case import Case, measured, need
from benchspec.judge.conditions import client_limit
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, invalid, lacking
from benchspec.judge.place import Place
from benchspec.judge.result import CheckResult
from benchspec.observations.model import Request, Step
from benchspec.spec.models import Slo

NAME = "goodput"
READINGS = ("all", "some", "none")
NEEDS = "limits under `load.slo`, and the requests of a step"
RATE = True


class _Limit(NamedTuple):
    """One limit, in seconds, the figure of `conditions` that it is about, and that of a request."""

    name: str
    most_s: Interval
    figure: str
    time_s: Callable[[Request], float | None]

    def holds(self, request: Request) -> bool:
        """Whether an answered request is within it. Raises Withheld where its time is unknown."""
        if self.name == "itl" and request.tokens == 1:
            return True
        time_s = self.time_s(request)
        if time_s is None:
            raise lacking(f"the {self.name} of every answered request")
        return time_s <= self.most_s.high


def check(case: Case) -> list[CheckResult]:
    """One result per arm and step, where the spec states a limit."""
    limits = _limits(case.spec.load.slo)
    broken_off = {
        Place.of(step): step for step in case.observations.steps if step.state == "failed"
    }

    def divide(line: Line, step: Step) -> CheckResult:
        if not step.requests:
            raise lacking("the requests of the step")
        for limit in limits:
            if why := client_limit(step, limit.figure):
                raise invalid(why)
        if ended := broken_off.get(Place.of(step)):
            raise invalid(
                f"repeat {ended.repeat} broke off ({ended.reason}): to leave it out is kind"
            )
        return _divide(line, step, limits, need(_until_all_had_ended(step), "the wall time"))

    return case.per_repeat(NAME, divide, rate=True) if limits else []


def _divide(line: Line, step: Step, limits: Sequence[_Limit], wall: Interval) -> CheckResult:
    answered, sent = figures.succeeded(step), len(step.requests)
    within = [sum(map(limit.holds, answered)) for limit in limits]
    good = sum(all(limit.holds(one) for limit in limits) for one in answered)
    each = ", ".join(
        f"{limit.name} <= {show(limit.most_s)} s: {count}"
        for limit, count in zip(limits, within, strict=True)
    )
    failed, share = figures.failed(step), good / sent
    return line.judged(
        "all" if good == sent else "some" if good else "none",
        f"{good} good / {sent} sent = {show(share, 3)} ({each}{f'; {failed} failed' if failed else ''})"
        f"; {good} / {show(wall)} s = {show(good / wall, 3)} good requests/s",
        share,
        "ratio",
        inputs=[
            measured("good requests", good, "requests", step),
            measured("sent requests", sent, "requests", step),
            measured("wall time", wall, "s", step),
        ],
    )


def _until_all_had_ended(step: Step) -> Interval | None:
    """The wall time of a step whose last requests may have failed."""
    ends = [one.end_s for one in step.requests if one.end_s is not None]
    wall = figures.wall_s(step)
    if not ends or (wall is not None and wall.low >= max(ends)):
        return wall
    return Interval.of(max(ends))


def _limits(slo: Slo | None) -> list[_Limit]:
    if slo is None:
        return []
    stated = [
        ("ttft", slo.ttft, "ttft", lambda r: None if r.ttft_ms is None else r.ttft_ms / 1e3),
        ("itl", slo.itl, "itl", lambda r: None if r.itl_ms is None else r.itl_ms / 1e3),
        ("e2e", slo.e2e, "wall", metrics.latency_s),
    ]
    return [_Limit(name, Interval.of(most), figure, t) for name, most, figure, t in stated if most]
