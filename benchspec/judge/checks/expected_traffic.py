"""expected-traffic: is the traffic on the link the one that the split must cause?

Needs: layers and hidden size (or observed bytes per token), the token rate of the phase, and the
received MB/s of the devices; with a control arm, its traffic is taken off first.

Division: measured [MB/s] / (2 x layers x hidden size x bytes x tok/s) for a tensor split over two
devices (2 (n - 1) / n times that payload for a ring of n), hidden size x bytes x tok/s per boundary
for a layer split.

Readings
  explained       0.7-1.4
  other-path      below: the traffic takes another path than the one that is counted
  other-traffic   above: something else uses the link

Silent when: geometry, split or token rate is not known.

Value: measured / expected. Source: two all-reduces per layer (attention, MLP) of one hidden vector
per token; packet headers and other traffic make the counter read more.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchspec.judge import figures, metrics
from benchspec.judge.case import Case
from benchspec.judge.channels import TRAFFIC, Channel, by_place, mean_of
from benchspec.judge.geometry import ACTIVATION_BYTES
from benchspec.judge.hardware import as_input
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, attempt, lacking, not_applicable
from benchspec.judge.result import CheckResult
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Step

NAME = "expected-traffic"
READINGS = ("explained", "other-path", "other-traffic")
NEEDS = "layers, hidden size, the token rate, and received traffic per device"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per arm and phase with several devices that received something."""
    groups = by_place(case.channels(*(name for name in TRAFFIC if name.endswith("rx"))))
    wide = [g for g in groups.values() if len(g) > 1 and g[0].unit == "MB/s"]
    return [_judge(case, group) for group in wide]


def _judge(case: Case, group: Sequence[Channel]) -> CheckResult:
    line = Line(NAME, group[0].arm, group[0].at)
    return attempt(line, lambda: _divide(case, line, group))


def _divide(case: Case, line: Line, group: Sequence[Channel]) -> CheckResult:
    each, formula = _bytes_per_token(case, line.arm or "", len(group))
    rate = _rate(case, group[0])
    expected = each * rate * 1e-6
    measured, control = mean_of(group)[0], _without_the_split(case, group)
    net = measured - mean_of(control)[0] if control else measured
    ratio = net / expected
    taken = f" - {show(mean_of(control)[0])} of arm {control[0].arm}" if control else ""
    return line.judged(
        _read(ratio.mid),
        f"{formula} x {show(rate)} tok/s = {show(expected)} MB/s; measured {show(measured)}{taken} "
        f"= {show(net)} MB/s, ratio {show(ratio, 3)}",
        ratio,
        "ratio",
        inputs=[
            *(c.as_input() for c in group),
            as_input("bytes per token", Interval.of(each), "B", "derived", formula),
        ],
        caveats=[] if control else ["no control arm: the traffic includes what is not the split's"],
    )


def _read(ratio: float) -> str:
    if ratio < limit("traffic.low"):
        return "other-path"
    return "other-traffic" if ratio > limit("traffic.high") else "explained"


def _bytes_per_token(case: Case, arm: str, cards: int) -> tuple[float, str]:
    """Bytes that one device receives per token, and the formula."""
    for t in case.observations.transfers:
        if t.arm in (None, arm):
            return t.bytes_per_token * t.crossings, (f"{t.crossings} x {show(t.bytes_per_token)} B")
    setup = case.setup(arm)
    layers, hidden, split = setup.model.layers, setup.model.hidden_size, setup.split
    if split == "none":
        raise not_applicable("one device: nothing has to cross a link")
    if hidden is None or split is None:
        raise lacking("hidden size and the kind of split")
    if split != "tensor":
        return hidden * ACTIVATION_BYTES, f"{hidden} x {ACTIVATION_BYTES} B"
    if layers is None:
        raise lacking("the number of layers")
    ring = 2 * (cards - 1) / cards
    text = f"2 all-reduces x {layers} layers x {hidden} x {ACTIVATION_BYTES} B"
    size = 2.0 * layers * hidden * ACTIVATION_BYTES * ring
    return size, text if ring == 1 else f"{text} x {show(ring)}"


def _rate(case: Case, channel: Channel) -> Interval:
    """Tokens per second of the phase, all streams together."""
    name = "prefill_tok_s" if channel.at.get("phase") == "prefill" else "decode_tok_s"
    wanted = channel.at.get("concurrency")
    for place in case.places:
        if place.arm != channel.arm or (wanted is not None and place.concurrency != wanted):
            continue
        for step in case.steps(place):
            if name == "prefill_tok_s":
                rate = metrics.METRICS[name].whole(step)
            else:
                rate = figures.decode_tok_s(step)
            if rate is not None:
                return rate * (place.concurrency or 1) * _passes_per_token(case, step, name)
    raise lacking(f"{name} of arm {channel.arm}")


def _passes_per_token(case: Case, step: Step, name: str) -> Interval:
    """Tokens that cross per token that comes out: k + 1 per pass, of which some are rejected."""
    drafts = case.setup(step.arm).drafts(step)
    if name == "prefill_tok_s" or not drafts:
        return Interval.of(1.0)
    each = figures.tokens_per_round(step, drafts)
    if each is None:
        raise lacking("the acceptance: rejected drafts cross the link too")
    return (drafts + 1) / each


def _without_the_split(case: Case, group: Sequence[Channel]) -> list[Channel]:
    """The control's traffic, where the control is split in another way."""
    split = case.setup(group[0].arm or "").split
    return [c for c in control_of(case, group) if case.setup(c.arm or "").split != split]


def control_of(case: Case, group: Sequence[Channel]) -> list[Channel]:
    """The same counter at the same place of the arm that is the control for this one."""
    first = group[0]
    controls = case.controls(first.arm)
    return [
        c
        for c in case.channels(first.counter)
        if c.arm in controls[:1] and c.at == first.at and c.unit == first.unit
    ]
