"""baseline: was the machine quiet around and during the measurement?

Needs: processor time of foreign processes beside that of engine and client, per step; for device
counters, the idle time before and after the step.

Division: foreign CPU time / (engine + client CPU time). Counters: largest idle mean / limit.

Readings
  contaminated   foreign processes took more than a quarter of the processor time that engine and
                 client need; or a device counter was not idle: its mean above max(5 MB/s, 10 % of
                 the counter's mean in the step), or one sample above ten times that
  quiet          neither

A cell that is contaminated gives no rates; structural readings keep a caveat. One contaminated
repeat makes the reading of its place.

Silent when: no processor time and no idle samples were recorded.

Value: the foreign share. Source: this project; an idle limit of zero fails on every real counter.
"""

from __future__ import annotations

from benchspec.judge.case import Case, measured
from benchspec.judge.channels import series_mean
from benchspec.judge.conditions import NOT_IDLE, contamination
from benchspec.judge.interval import show
from benchspec.judge.lines import Line, lacking
from benchspec.judge.place import Place
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Series, Step

NAME = "baseline"
READINGS = ("quiet", "contaminated")
NEEDS = "processor time of foreign processes, or idle samples before and after"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per arm and step."""

    def divide(line: Line, step: Step) -> CheckResult:
        series = [s for s in case.observations.series if _belongs(s, step)]
        noisy = [text for s in series if (text := idle_excess(s))]
        share = step.quiet.foreign_share if step.quiet else None
        if share is None and not any(s.idle_before or s.idle_after for s in series):
            raise lacking("processor time of foreign processes, or idle samples")
        parts = list(noisy)
        inputs = [Input(name=NOT_IDLE, value=text) for text in noisy]
        if share is not None:
            parts.insert(0, f"foreign / (engine + client) CPU time = {show(share, 3)}, limit 0.25")
            inputs.append(measured("foreign share", share, "of CPU time", step))
        return line.judged(
            "contaminated" if noisy or contamination(step) else "quiet",
            "; ".join(parts) or "idle before and after",
            share,
            "ratio",
            inputs=inputs,
            caveats=_caveats(step),
        )

    return case.per_repeat(NAME, divide, worst="contaminated", anyway=True)


def _belongs(series: Series, step: Step) -> bool:
    place = Place.of(step)
    return (
        series.arm in (None, place.arm)
        and series.concurrency in (None, place.concurrency)
        and series.repeat in (None, step.repeat)
    )


def idle_excess(series: Series) -> str | None:
    """Why the counter was not idle before or after, or None. Rates in MB/s only."""
    if series.unit != "MB/s":
        return None
    during = series_mean(series)
    net = during.mid if during is not None else 0.0
    allowed = max(limit("baseline.idle"), limit("baseline.net") * net)
    for when, window in (("before", series.idle_before), ("after", series.idle_after)):
        idle = [v for v in window if v is not None]
        if not idle:
            continue
        mean, most = sum(idle) / len(idle), max(idle)
        if mean > allowed or most > limit("baseline.spike") * allowed:
            return (
                f"{series.counter} {series.device or ''} {when}: mean {show(mean)}, "
                f"largest {show(most)} MB/s against at most {show(allowed)}"
            )
    return None


def _caveats(step: Step) -> list[str]:
    quiet = step.quiet
    if quiet is None:
        return []
    caveats = [quiet.reason] if quiet.reason else []
    if quiet.steal_share:
        caveats.append(f"of that, stolen by the host: {show(100 * quiet.steal_share, 2)} %")
    return caveats
