"""client: was the measuring client a part of what it measured?

Needs: the client's own record of a step: send lateness, read lag, how many stamps are the kernel's,
its processor time, and its calibrated ceiling.

Division: the client's possible error / the smallest figure of each kind: wall time, first token,
time between tokens. An arrival that the kernel stamped is late by 0.05 ms at most, however late it
is read; else its error is the p99 of the read lag. A late dispatch counts for the wall time (for
one latency where requests are replaced), and for the first token where that counts from a schedule.
Besides: events per second / calibrated ceiling; and, where client and engine together need all
cores, the client's part of the processor time, which the engine did not get.

Readings
  client-limited   a share above 5 %, or a load above half the ceiling: verdicts on it are withheld
  fine             neither

Silent when: the client left no record, as in an audit.

Value: the largest share. Source: this project's instrument trials (first token of 100 ms at 256
streams: 101.0 with kernel stamps, 272 to 341 with common clients).
"""

from __future__ import annotations

from benchspec.judge.case import Case, measured
from benchspec.judge.conditions import (
    FIGURES,
    client_limit,
    client_shares,
    competition,
    load_share,
)
from benchspec.judge.interval import show
from benchspec.judge.lines import Line, lacking
from benchspec.judge.result import CheckResult
from benchspec.observations.model import Client, Step

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
        if not shares and load is None and cores is None:
            raise lacking("send lateness, read lag or a calibration")
        parts = [f"{show(100 * share, 2)} % of {name}" for name, share in shares.items()]
        if load is not None:
            parts.append(f"load / ceiling = {show(100 * load, 2)} %")
        if cores:
            parts.append(f"{show(100 * cores, 2)} % of the processor time on busy cores")
        limited = [why for figure in FIGURES if (why := client_limit(step, figure))]
        return line.judged(
            "client-limited" if limited else "fine",
            "client's share: " + ", ".join(parts),
            max([*shares.values(), cores or 0.0]),
            "ratio",
            inputs=[
                measured(name, value, unit, step)
                for name, value, unit in _recorded(step.client)
                if value is not None
            ],
            caveats=[*dict.fromkeys(limited), *_caveats(step.client)],
        )

    if not any(s.client for s in case.observations.steps):
        return []
    return case.per_repeat(NAME, divide, worst="client-limited", anyway=True)


def _recorded(client: Client) -> list[tuple[str, float | None, str]]:
    return [
        ("send lateness p99", client.send_lateness_ms_p99, "ms"),
        ("read lag p99", client.read_lag_ms_p99, "ms"),
        ("kernel stamps", client.kernel_stamp_share, "of reads"),
        ("reads with several events", client.coalesced_share, "of reads"),
        ("load", client.events_per_s, "events/s"),
        ("ceiling", client.ceiling_events_s, "events/s"),
    ]


def _caveats(client: Client) -> list[str]:
    caveats = [] if client.ceiling_events_s else ["not calibrated here: its ceiling is not known"]
    if client.stamp_source == "user":
        caveats.append("arrivals were stamped when read, not by the kernel")
    return caveats
