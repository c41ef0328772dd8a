"""bandwidth-ceiling: how much of what memory bandwidth allows does decoding reach?

Needs: bytes read per forward pass (stated, or active parameters x bits, or from the size of the file:
all of a dense model, else active / all parameters of it; in a run, else all that the server loaded of
a model without experts), the bandwidth of the arm's devices (stated; in a run, else what `benchspec
probe` measured of them, what memory clock and bus width give, or the datasheet of the card found), and
a stream's decode rate; under speculation also tokens per pass.

Division, per pass and not per token: passes per second = rate [tok/s] / tokens per pass; shortest
pass = bytes / bandwidth [B / B/s]; fraction = the product. Bytes: weights once, the union of the
experts that several streams use, the KV cache of every stream. Devices of a layer split (and RAM
with VRAM) take turns: their times add up, and the rate is not divided by their number. In a tensor
split the slowest counts. A device whose probe exceeds its datasheet has its own result.

Readings
  fraction     of the ceiling; what is left is unexplained
  at-least     no probe was as large as the model, and bandwidth still falls with size
  impossible   above 1, or a probe above 1.02 of the datasheet: an input is wrong (bytes per token,
               another card, speculation that nobody mentioned), never a win

Silent when: bytes or bandwidth are not known; something is drafted and neither acceptance nor tokens
per pass is known. Where the experts' part of the bytes is not known, several streams give an interval.

Value: the fraction. Source: decoding reads every active weight once per pass; memory clock x 2 x bus
width / 8 gives a card's bandwidth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

from benchspec.judge import figures, geometry, hardware
from benchspec.judge.case import Case, measured, need
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, attempt, lacking, not_applicable
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.setup import Setup
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Step
from benchspec.observations.node import Provenance
from benchspec.spec.models import Device
from benchspec.spec.quantity import Quantity

NAME = "bandwidth-ceiling"
READINGS = ("fraction", "at-least", "impossible")
NEEDS = "bytes read per token, memory bandwidth, and a stream's decode rate"
RATE = False


@dataclass(frozen=True)
class _Bytes:
    total: Interval
    text: str
    inputs: list[Input]


def check(case: Case) -> list[CheckResult]:
    """One result per device with both figures, and one per arm and step of a described model."""
    described = {
        arm
        for arm in case.arm_ids
        if any(case.setup(arm).bandwidths(None)) and _weights(case.setup(arm), 1) is not None
    }

    def divide(line: Line, step: Step) -> CheckResult:
        if step.arm not in described:
            raise not_applicable("neither bandwidth nor bytes per token are known")
        return _divide(case.setup(step.arm), line, step, case.streams(step))

    per_step = case.per_repeat(NAME, divide) if described else []
    return [*_probes(case), *(r for r in per_step if r.arm in described)]


def _divide(setup: Setup, line: Line, step: Step, streams: int) -> CheckResult:
    rate = need(figures.decode_tok_s(step), "a stream's decode rate")
    each = figures.tokens_per_round(step, setup.drafts(step))
    each = need(each, "tokens per pass under speculation (k and acceptance)")
    size = _bytes(setup, step, streams)
    speeds = setup.bandwidths(_resident(setup))
    known = [s for s in speeds if s is not None]
    if len(known) < len(speeds):
        raise lacking("the memory bandwidth of every device")
    shortest = hardware.read_time_s(size.total, setup.devices, known, setup.split)
    passes = rate / each
    fraction = passes * shortest
    ceiling = each / shortest
    reading = "at-least" if any(s.at_least for s in known) else "fraction"
    if fraction.low > 1:
        reading = "impossible"
    return line.judged(
        reading,
        f"{size.text}; ceiling {show(each, 3)} / "
        f"{show(1e3 * shortest)} ms = {show(ceiling)} tok/s; {show(rate)} / {show(ceiling)} = "
        f"{show(100 * fraction, 3)} %; read at {hardware.gb(passes * size.total)} GB/s"
        f"{_fixed(setup, passes, shortest)}",
        fraction,
        "ratio",
        inputs=[
            measured("decode rate", rate, "tok/s", step),
            *size.inputs,
            *(
                hardware.as_input("bandwidth", s.value, "B/s", s.provenance, s.source)
                for s in {s.source: s for s in known}.values()
            ),
        ],
        quotable="bound" if reading == "at-least" else "yes",
        caveats=_caveats(setup, reading, each, fraction),
    ).model_copy(update={"remainder": 1 - fraction.mid if reading == "fraction" else None})


def _fixed(setup: Setup, passes: Interval, shortest: Interval) -> str:
    """What of a pass is not reading at that bandwidth, and per layer."""
    rest = (1 / passes - shortest) * 1e3
    if rest.low <= 0:
        return ""
    layers = setup.model.layers
    each = f", {show(1e3 * rest / layers, 3)} us per layer" if layers else ""
    return f"; the other {show(rest, 3)} ms of a pass are not reading{each}"


def _resident(setup: Setup) -> float | None:
    return hardware.resident_bytes(setup.model) or setup.observed.model_bytes


def _weights(setup: Setup, tokens: int) -> tuple[Interval, Provenance, str] | None:
    """What a pass of `tokens` reads of the weights: as described, else all of what was loaded."""
    described = geometry.weight_bytes(setup.model, tokens)
    if described is not None:
        shared = tokens > 1 and setup.model.experts is not None
        return described, "bound" if shared else "declared", "the model"
    loaded = setup.observed.model_bytes
    return None if loaded is None else (Interval.of(loaded), "measured", "all that was loaded")


def _bytes(setup: Setup, step: Step, streams: int) -> _Bytes:
    """Weights once (experts for every token of the pass, drafts too), and every stream's KV cache."""
    model = setup.model
    tokens = streams * (1 + (setup.drafts(step) or 0))
    known = _weights(setup, tokens)
    if known is None:
        raise lacking("bytes per pass")
    weights, provenance, source = known
    inputs = [hardware.as_input("weights per pass", weights, "B", provenance, source)]
    text = f"{hardware.gb(weights)} GB per pass"
    context = step.context_tokens or _label_context(setup)
    kv = geometry.kv_bytes(model, context) if context else None
    if kv is not None:
        each = f"{streams} x {hardware.gb(kv)} GB of KV at {context} tokens"
        inputs.append(hardware.as_input("KV per stream", kv, "B", "declared", "the model"))
        total = weights + kv * streams
        text = f"{hardware.gb(weights)} GB + {each} = {hardware.gb(total)} GB per pass"
        return _Bytes(total, text, inputs)
    return _Bytes(weights, text, inputs)


def _label_context(setup: Setup) -> int | None:
    label = setup.resolved.workload.label if setup.resolved else None
    return label.context_tokens if label else None


def _caveats(setup: Setup, reading: str, each: Interval, fraction: Interval) -> list[str]:
    caveats = []
    if reading == "impossible":
        caveats.append("above the ceiling: bytes, bandwidth or an unmentioned speculation is wrong")
        caveats.append(
            f"as the sum of several streams it takes {math.ceil(fraction.low)} of them at least"
        )
    if not hardware.shares(setup.devices)[1]:
        caveats.append("shares of the devices are not stated: equal parts assumed")
    if geometry.weight_bytes(setup.model) is None:
        caveats.append("bytes per pass are of all that was loaded: an embedding is not read whole")
    elif geometry.read_from_the_file(setup.model):
        caveats.append(
            "bytes per pass are from the size of the file: less is read where experts are chosen, or "
            "where a part (an embedding, a drafter) is not used"
        )
    if each.low > 1:
        caveats.append("per pass: the rate counts drafted tokens that cost no pass of their own")
    return caveats


def _probes(case: Case) -> list[CheckResult]:
    """A probe against the datasheet, per device that has both figures."""
    return [
        attempt(line := Line(NAME, None, {"device": device.id}), partial(_probe, line, device))
        for device in case.spec.hardware.devices
        if device.memory_bandwidth is not None and device.datasheet_bandwidth is not None
    ]


def _probe(line: Line, device: Device) -> CheckResult:
    probe = need(_interval(device.memory_bandwidth), "a probe")
    sheet = need(_interval(device.datasheet_bandwidth), "a datasheet figure")
    ratio = probe / sheet
    wrong = ratio.low > limit("ceiling.impossible")
    return line.judged(
        "impossible" if wrong else "fraction",
        f"probe {hardware.gb(probe)} GB/s / datasheet {hardware.gb(sheet)} GB/s = "
        f"{show(ratio)}{_by_clock(device)}",
        ratio,
        "ratio",
        inputs=[
            hardware.as_input("probe", probe, "B/s", device.source, device.id),
            hardware.as_input("datasheet", sheet, "B/s", "datasheet", device.name or device.id),
        ],
        caveats=["faster than its datasheet: not the card of that name?"] if wrong else [],
    )


def _interval(value: Quantity | None) -> Interval | None:
    return None if value is None else Interval.of(value)


def _by_clock(device: Device) -> str:
    clock, bits = device.memory_clock, device.memory_bus_bits
    if clock is None or bits is None:
        return ""
    speed = Interval.of(clock) * 2 * bits / 8
    return (
        f"; memory clock {show(Interval.of(clock) * 1e-6)} MHz x 2 x {bits} bit / 8 = "
        f"{hardware.gb(speed, 5)} GB/s"
    )
