"""client: was the measuring client a part of what it measured?

Needs: the client's own record of a step: send lateness, read lag, how many stamps are the kernel's,
its processor time, and its calibrated ceiling. Or, of an open loop, when each request was sent and
when it should be (or the rate sent and asked for). Or two arms that differ in the client alone.

Division: the client's possible error / the smallest figure of each kind: wall time, first token,
time between tokens. An arrival that the kernel stamped is late by 0.05 ms at most, however late it
is read; else its error is the p99 of the read lag. A late dispatch counts for the wall time (for
one latency where requests are replaced), and for the first token where that counts from a schedule.
Besides: events per second / calibrated ceiling; and, where client and engine together need all
cores, the client's part of the processor time, which the engine did not get; a client that keeps
more than 0.9 of one core busy. Sampling that took over 1 % of one core is a caveat. Of an open loop
in a report: lateness of sending / latency from the schedule; 1 - rate sent / rate asked for. Of two
clients of one server: the higher throughput / the lower, at the same step; what one of them
measured, the server can do.

Readings
  client-limited   a share above 5 %, a load above half the ceiling, a full core, or another client
                   that got over 1.1 times as much from the same server: verdicts are withheld
  fine             neither

Silent when: the client left no record, as in most reports, and there is no second one.

Value: the largest share; of two clients the ratio. Source: this project's instrument trials (first
token of 100 ms at 256 streams: 101.0 with kernel stamps, 272 to 341 with common clients).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

from benchspec.judge import figures
from benchspec.judge.case import Case, measured
from benchspec.judge.conditions import (
    FIGURES,
    client_limit,
    client_shares,
    competition,
    load_share,
)
from benchspec.judge.interval import show
from benchspec.judge.lines import Line, lacking, not_applicable
from benchspec.judge.place import Place
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Client, Step
from benchspec.observations.quantiles import median

NAME = "client"
READINGS = ("fine", "client-limited")
NEEDS = "the client's own record: send lateness, read lag, stamps, processor time"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per arm and step with a client record."""

    def divide(line: Line, step: Step) -> CheckResult:
        if step.client is None:
            raise lacking("the client's record of its own lateness")
        shares, load, cores = client_shares(step), load_share(step), competition(step)
        core = step.client.cpu_share
        if not shares and load is None and cores is None and core is None:
            raise lacking("send lateness, read lag or a calibration")
        parts = [f"{show(100 * share, 2)} % of {name}" for name, share in shares.items()]
        if load is not None:
            parts.append(f"load / ceiling = {show(100 * load, 2)} %")
        if cores:
            parts.append(f"{show(100 * cores, 2)} % of the processor time on busy cores")
        if core is not None and core > limit("client.core"):
            parts.append(f"{show(100 * core, 3)} % of one core")
        if _sampling(step.client):
            parts.append(
                f"sampling counters {show(100 * (step.client.telemetry_share or 0.0), 2)} % of one core"
            )
        limited = [why for figure in FIGURES if (why := client_limit(step, figure))]
        return line.judged(
            "client-limited" if limited else "fine",
            "client's share: " + ", ".join(parts),
            max([*shares.values(), cores or 0.0, *([core or 0.0] if not shares else [])]),
            "ratio",
            inputs=[
                measured(name, value, unit, step)
                for name, value, unit in _recorded(step.client)
                if value is not None
            ],
            caveats=[*dict.fromkeys(limited), *_caveats(step.client)],
        )

    recorded = any(s.client for s in case.observations.steps)
    own = case.per_repeat(NAME, divide, worst="client-limited", anyway=True) if recorded else []
    return [*own, *_by_schedule(case), *_second(case)]


def _by_schedule(case: Case) -> list[CheckResult]:
    """Open loops without a client record: when requests went out against when they should."""

    def divide(line: Line, step: Step) -> CheckResult:
        late = _lateness_s(step)
        if step.client is not None or (late is None and _held_back(step) is None):
            raise not_applicable("no open loop of which the times of sending are known")
        return _against_schedule(line, step, late)

    found = case.per_repeat(NAME, divide, worst="client-limited", anyway=True)
    return [r for r in found if r.state == "judged"]


def _lateness_s(step: Step) -> tuple[float, float] | None:
    """(mean lateness of sending, mean latency from the schedule), of requests with both times."""
    times = [
        (r.start_s - r.scheduled_s, r.end_s - r.scheduled_s)
        for r in figures.succeeded(step)
        if r.start_s is not None and r.scheduled_s is not None and r.end_s is not None
    ]
    if not times:
        return None
    late, whole = (math.fsum(column) / len(times) for column in zip(*times, strict=True))
    return (late, whole) if whole > 0 else None


def _held_back(step: Step) -> float | None:
    """The part of the requests per second asked for that was not sent."""
    if not step.rate or step.achieved_rate is None:
        return None
    return max(0.0, 1 - step.achieved_rate / step.rate)


def _against_schedule(line: Line, step: Step, late: tuple[float, float] | None) -> CheckResult:
    held = _held_back(step)
    shares, parts = [], []
    if late is not None:
        shares.append(late[0] / late[1])
        parts.append(
            f"sent {show(late[0])} s late / latency of {show(late[1])} s from the schedule = "
            f"{show(100 * shares[-1], 3)} %; from the moment of sending {show(late[1] - late[0])} s"
        )
    if held is not None:
        shares.append(held)
        parts.append(f"{show(step.achieved_rate or 0)} of {show(step.rate or 0)} requests/s sent")
    limited = max(shares) > limit("client.share")
    return line.judged(
        "client-limited" if limited else "fine",
        "; ".join(parts),
        max(shares),
        "ratio",
        inputs=[measured("lateness", late[0], "s", step)] if late is not None else [],
        caveats=["an open loop waits for no answer: what was not sent, the client held back"]
        if limited
        else [],
    )


def _second(case: Case) -> Iterator[CheckResult]:
    """Arms that differ in the client alone, at the same place: the slower is limited by its own."""
    arms = [arm for arm in case.arm_ids if "client" in case.observed(arm).identity]
    for arm, other in permutations(arms, 2):
        if not _same_server(case, arm, other):
            continue
        for place in [p for p in case.places if p.arm == arm]:
            ours, theirs = _best(case, place), _best(case, replace(place, arm=other))
            if ours and theirs and ours <= theirs:
                yield _against(case, place, other, ours, theirs)


def _same_server(case: Case, arm: str, other: str) -> bool:
    a, b = case.observed(arm).identity, case.observed(other).identity
    differ = {name for name in a.keys() & b.keys() if a[name] != b[name]}
    declared = case.setup(arm), case.setup(other)
    return differ == {"client"} and dict(declared[0].settings) == dict(declared[1].settings)


def _best(case: Case, place: Place) -> float | None:
    steps = case.sound(place)
    rates = [r.mid for s in steps if (r := figures.aggregate_tok_s(s)) is not None]
    return median(rates) if rates else None


def _against(case: Case, place: Place, other: str, ours: float, theirs: float) -> CheckResult:
    ratio = theirs / ours
    name = case.observed(other).identity["client"]
    return Line(NAME, place.arm, {**place.at, "against": other}).judged(
        "client-limited" if ratio > limit("client.other") else "fine",
        f"{name} got {show(theirs)} tok/s from the same server / {show(ours)} = {show(ratio)}",
        ratio,
        "ratio",
        inputs=[
            Input(name=f"X, {other}", value=theirs, unit="tok/s"),
            Input(name="X", value=ours, unit="tok/s"),
        ],
    )


def _recorded(client: Client) -> list[tuple[str, float | None, str]]:
    return [
        ("send lateness p99", client.send_lateness_ms_p99, "ms"),
        ("read lag p99", client.read_lag_ms_p99, "ms"),
        ("kernel stamps", client.kernel_stamp_share, "of reads"),
        ("reads with several events", client.coalesced_share, "of reads"),
        ("load", client.events_per_s, "events/s"),
        ("ceiling", client.ceiling_events_s, "events/s"),
    ]


def _sampling(client: Client) -> bool:
    """Whether the sampling of counters took more than its share."""
    share = client.telemetry_share
    return share is not None and share > limit("client.sampling")


def _caveats(client: Client) -> list[str]:
    caveats = [] if client.ceiling_events_s else ["not calibrated here: its ceiling is not known"]
    if client.stamp_source == "user":
        caveats.append("arrivals were stamped when read, not by the kernel")
    if _sampling(client):
        caveats.append(
            f"sampling the counters took more than {show(100 * limit('client.sampling'))} % of one "
            "core: name fewer under telemetry.counters, or sample less often (telemetry.interval)"
        )
    return caveats
