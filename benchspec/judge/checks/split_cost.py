"""split-cost: what does dividing the work over devices cost, and is it latency or bandwidth?

Needs: the same thing on one device and on n, as a time or a rate; what crosses the link and how
often; the link's bandwidth, or the latency of one crossing.

Division: extra [ms] = time on n - ideal, where the ideal is the time on one / n (or as stated: cards
that differ, a split that takes turns). Per crossing = extra / crossings; bytes that cross / extra =
the bandwidth that would explain it. Against it crossings x latency, and bytes / bandwidth of the link.

Readings
  none           the extra is at most 5 % of the time
  latency        crossings x latency makes half of it or more: a wider link would not help
  bandwidth      the bytes at the link's bandwidth make half of it or more
  overhead       both are known and make less than half
  unattributed   bytes or latency are not known

Silent when: nothing was measured on one device and on several.

Value: the extra in ms per token (or of the thing timed). Source: arithmetic. Two devices that read
half the weights each save nothing where weights are not what takes the time.
"""

from __future__ import annotations

from benchspec.judge.case import Case
from benchspec.judge.checks.link_share import transfer_of
from benchspec.judge.hardware import slowest
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, attempt, invalid, not_applicable
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Scaled, Transfer

NAME = "split-cost"
READINGS = ("none", "latency", "bandwidth", "overhead", "unattributed")
NEEDS = "the same thing on one device and on several, and what crosses the link"
RATE = False

_MS = {"ms": 1.0, "s": 1e3}


def check(case: Case) -> list[CheckResult]:
    """One result per thing that was measured on one device and on n."""
    return [_judge(case, scaled) for scaled in case.observations.scaled]


def _judge(case: Case, scaled: Scaled) -> CheckResult:
    line = Line(NAME, scaled.arm, {"name": scaled.name})
    return attempt(line, lambda: _divide(case, line, scaled), scaled)


def _time_ms(figure: Interval, unit: str) -> Interval:
    return figure * _MS[unit] if unit in _MS else 1e3 / figure


def _divide(case: Case, line: Line, scaled: Scaled) -> CheckResult:
    if scaled.n < 2:
        raise not_applicable("one device divides no work")
    if Interval.of(scaled.single).low <= 0 or Interval.of(scaled.measured).low <= 0:
        raise invalid("a figure is not above zero")
    if scaled.unit == "requests/s":
        raise not_applicable("replicas answer requests of their own")
    one, many = (_time_ms(Interval.of(v), scaled.unit) for v in (scaled.single, scaled.measured))
    ideal, how = one / scaled.n, f"{show(one)} / {scaled.n}"
    if scaled.ideal is not None:
        ideal, how = _time_ms(Interval.of(scaled.ideal), scaled.unit), "as stated"
    extra = many - ideal
    transfer = transfer_of(case, line.arm or "main") if extra.low > 0 else None
    parts, text = _parts(case, line.arm, transfer, extra)
    return line.judged(
        _read(extra, many, parts),
        f"{show(many)} ms - {show(ideal)} ms ({how}) = {show(extra, 3)} ms{text}",
        extra,
        "ms",
        inputs=[
            Input(name="on one device", value=one.number, unit="ms"),
            Input(name=f"on {scaled.n}", value=many.number, unit="ms"),
            *(
                Input(name=k, value=v.number, unit="ms", provenance="derived")
                for k, v in parts.items()
            ),
        ],
    )


def _parts(
    case: Case, arm: str | None, transfer: Transfer | None, extra: Interval
) -> tuple[dict[str, Interval], str]:
    """What latency and bytes should take, and the extra per crossing."""
    if transfer is None:
        return {}, ""
    parts: dict[str, Interval] = {}
    each = extra * 1e3 / transfer.crossings
    moved = transfer.bytes_per_token * transfer.crossings
    text = (
        f" = {show(each, 3)} us per crossing of {transfer.crossings}; {show(moved / 1e6, 3)} MB in "
        f"that time is {show(moved / (extra * 1e-3) * 1e-9, 3)} GB/s"
    )
    if transfer.latency_s is not None:
        parts["latency"] = Interval.of(1e3 * transfer.latency_s * transfer.crossings)
        text += f"; latency {show(1e6 * transfer.latency_s)} us x {transfer.crossings} = "
        text += f"{show(parts['latency'])} ms"
    setup = case.setup(arm or "main")
    link = slowest(setup.links, measured_first=True, copied=setup.copied)
    if link is not None:
        parts["bandwidth"] = moved / link[0] * 1e3
        text += f"; {show(moved / 1e6, 3)} MB at {show(link[0] * 1e-9, 3)} GB/s = "
        text += f"{show(parts['bandwidth'], 3)} ms"
    return parts, text


def _read(extra: Interval, many: Interval, parts: dict[str, Interval]) -> str:
    if extra.mid <= limit("split.none") * many.mid:
        return "none"
    most = max(parts, key=lambda name: parts[name].mid, default=None)
    if most is not None and parts[most].mid >= limit("split.half") * extra.mid:
        return most
    return "overhead" if len(parts) == len(_CAUSES) else "unattributed"


_CAUSES = ("latency", "bandwidth")
