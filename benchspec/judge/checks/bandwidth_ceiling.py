"""bandwidth-ceiling: how much of what memory bandwidth allows does decoding reach?

Needs: bytes read per forward pass (stated, or active parameters x bits, or from the size of the file:
all of a dense model, else active / all parameters of it; in a run, else all that the server loaded of
a model without experts, where its log says that all layers lie on the arm's devices), the bandwidth
of the arm's devices (stated; in a run, else what `benchspec probe` measured of them, what memory clock
and bus width give, or the datasheet of the card found), and a stream's decode rate; under speculation
also tokens per pass.

Division, per pass and not per token: passes per second = rate [tok/s] / tokens per pass; shortest
pass = bytes / bandwidth [B / B/s]; fraction = the product. Bytes: weights once, the union of the
experts that several streams use, the KV cache of every stream (as described, else the share of the
cache that was allocated which the context fills). Devices of a layer split (and RAM
with VRAM) take turns: their times add up, and the rate is not divided by their number. In a tensor
split the slowest counts. A device whose probe exceeds its datasheet has its own result, be both
stated or found.

Readings
  fraction     of the ceiling; what is left is unexplained. At most that where all that was loaded
               stands for what is read: then it may exceed 1
  at-least     no probe is known to have been as large as the model, and bandwidth still falls with
               size; or the size of the KV cache is not known and not counted (beyond 1024 tokens
               of all streams, below which it is small)
  impossible   above 1, or a probe above 1.02 of the datasheet: an input is wrong (bytes per token,
               another card, speculation that nobody mentioned), never a win

Silent when: bytes or bandwidth are not known; something is drafted and neither acceptance nor tokens
per pass is known. Where the experts' part of the bytes is not known, several streams give an interval.

Value: the fraction. Source: decoding reads every active weight once per pass; memory clock x 2 x bus
width / 8 gives a card's bandwidth.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from benchspec.judge import figures, geometry, hardware
from benchspec.judge.case import Case, measured, need
from benchspec.judge.checks.thermal import clock_limit, memory_clock
from benchspec.judge.interval import Interval, counted, show
from benchspec.judge.lines import Line, attempt, lacking, not_applicable
from benchspec.judge.result import Bound, CheckResult, Input
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

_LOADED = "all that was loaded"
_OTHER_CARD = "faster than its datasheet: not the card of that name?"


@dataclass(frozen=True)
class _Bytes:
    total: Interval
    text: str
    inputs: list[Input]
    most: bool = False
    """All that was loaded: a token reads that much at most."""
    uncounted: int = 0
    """Tokens whose KV cache is read as well, of all streams; nothing says how large it is."""

    @property
    def least(self) -> bool:
        """Whether what is not counted may matter."""
        return self.uncounted > limit("ceiling.context")


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
        return _divide(case, line, step)

    per_step = case.per_repeat(NAME, divide) if described else []
    return [*_probes(case), *(r for r in per_step if r.arm in described)]


def _divide(case: Case, line: Line, step: Step) -> CheckResult:
    setup = case.setup(step.arm)
    rate = need(figures.decode_tok_s(step), "a stream's decode rate")
    each = figures.tokens_per_round(step, setup.drafts(step))
    each = need(each, "tokens per pass under speculation (k and acceptance)")
    size = _bytes(setup, step, case.streams(step))
    speeds = setup.bandwidths(_resident(setup))
    known = [s for s in speeds if s is not None]
    if len(known) < len(speeds):
        raise lacking("the memory bandwidth of every device")
    shortest = hardware.read_time_s(size.total, setup.devices, known, setup.split)
    passes = rate / each
    fraction = passes * shortest
    ceiling = each / shortest
    reading = _reading(size, known, fraction)
    return line.judged(
        reading,
        f"{size.text}; ceiling {show(each, 3)} / "
        f"{show(1e3 * shortest)} ms = {show(ceiling)} tok/s; {show(rate)} / {show(ceiling)} = "
        f"{_sense(size)}{show(100 * fraction, 3)} %; read at {hardware.gb(passes * size.total)} GB/s"
        f"{'' if size.least else _fixed(setup, passes, shortest)}",
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
        bound=_bound(size.most, reading),
        caveats=[
            *_caveats(setup, reading, each, fraction),
            *_of_the_bytes(size, fraction),
            *_of_the_clocks(case, step, known),
        ],
    ).model_copy(update={"remainder": _left(reading, fraction)})


def _reading(
    size: _Bytes, speeds: Sequence[hardware.Bandwidth], fraction: Interval
) -> Literal["fraction", "at-least", "impossible"]:
    """Above 1 an input is wrong, unless the bytes are an upper bound of what is read."""
    if fraction.low > 1 and not size.most:
        return "impossible"
    return "at-least" if size.least or any(s.at_least for s in speeds) else "fraction"


def _sense(size: _Bytes) -> str:
    if size.most == size.least:
        return ""
    return "at most " if size.most else "at least "


def _bound(most: bool, reading: str) -> Bound | None:
    """Which side the fraction bounds the true one from."""
    if reading != "at-least":
        return "at-most" if most else None
    return "both" if most else "at-least"


def _left(reading: str, fraction: Interval) -> float | None:
    """What stays unexplained, where the fraction is one of the whole."""
    return 1 - fraction.mid if reading == "fraction" and fraction.mid <= 1 else None


def _of_the_bytes(size: _Bytes, fraction: Interval) -> list[str]:
    caveats = []
    if size.uncounted:
        caveats.append(
            f"KV cache not counted: what {counted(size.uncounted, 'token')} take of it is read in "
            "every pass, and nothing says how much that is; state the model's geometry or `kv_size`"
        )
    if size.most and fraction.low > 1:
        caveats.append("above 1: a token reads less than all that was loaded")
    return caveats


def _of_the_clocks(case: Case, step: Step, speeds: Sequence[hardware.Bandwidth]) -> Iterator[str]:
    """Cards whose memory ran below the clock from which their bandwidth is derived."""
    for device, speed in zip(case.setup(step.arm).devices, speeds, strict=True):
        clock = memory_clock(case, step, device.id)
        most = clock_limit(case, clock) if clock is not None else None
        if clock is None or most is None or speed.provenance != "derived":
            continue
        share = clock.middle / most
        if share.mid < limit("thermal.own"):
            yield (
                f"{device.id}: bandwidth is derived from {show(most)} MHz, and its memory ran at "
                f"{show(clock.middle)} MHz: at that clock it is {hardware.gb(speed.value * share)} GB/s"
            )


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
    loaded = setup.loaded_bytes
    return None if loaded is None else (Interval.of(loaded), "bound", _LOADED)


def _bytes(setup: Setup, step: Step, streams: int) -> _Bytes:
    """Weights once (experts for every token of the pass, drafts too), and every stream's KV cache."""
    tokens = streams * (1 + (setup.drafts(step) or 0))
    known = _weights(setup, tokens)
    if known is None:
        raise lacking("bytes per pass")
    weights, provenance, source = known
    most = source == _LOADED
    inputs = [hardware.as_input("weights per pass", weights, "B", provenance, source)]
    text = f"{hardware.gb(weights)} GB per pass"
    context = step.context_tokens or _label_context(setup)
    if not context:
        return _Bytes(weights, text, inputs, most)
    kv = _kv(setup, context)
    if kv is None:
        return _Bytes(weights, text, inputs, most, uncounted=context * streams)
    each, total = f"{streams} x {hardware.gb(kv[0])} GB of KV", weights + kv[0] * streams
    inputs.append(hardware.as_input("KV per stream", kv[0], "B", kv[1], kv[2]))
    text = (
        f"{hardware.gb(weights)} GB + {each} at {context} tokens = {hardware.gb(total)} GB per pass"
    )
    return _Bytes(total, text, inputs, most)


def _kv(setup: Setup, context: int) -> tuple[Interval, Provenance, str] | None:
    """Bytes of one stream's KV cache: as described, else its part of the cache as allocated."""
    described = geometry.kv_bytes(setup.model, context)
    if described is not None:
        return described, "declared", "the model"
    size, tokens = setup.observed.kv_bytes, setup.kv_room
    if size is None or tokens is None:
        return None
    source = f"{hardware.gb(Interval.of(size))} GB allocated for {tokens} tokens"
    return Interval.of(size * context / tokens), "derived", source


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
    caveats += [f"the probe of {device.id} is {_OTHER_CARD}" for device, *_ in _faster(setup)]
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
    """A probe against the datasheet, per device: where both are stated; and where a run recalls a
    probe that is faster than what is stated, or found, for the card of that name."""
    both = [
        device
        for device in case.spec.hardware.devices
        if device.memory_bandwidth is not None and device.datasheet_bandwidth is not None
    ]
    stated = [
        attempt(line := Line(NAME, None, {"device": device.id}), partial(_probe, line, device))
        for device in both
    ]
    told = {device.id for device in both}
    found: dict[str, CheckResult] = {}
    for device, probe, sheet in (each for arm in case.arm_ids for each in _faster(case.setup(arm))):
        if device.id not in {*told, *found}:
            line = Line(NAME, None, {"device": device.id})
            found[device.id] = _against(line, device, probe, sheet)
    return [*stated, *found.values()]


def _faster(setup: Setup) -> Iterator[tuple[Device, hardware.Bandwidth, hardware.Bandwidth]]:
    """Devices of which the probe that a run recalls exceeds the datasheet, with both."""
    for device in setup.devices:
        probe = hardware.probed(device.id, setup.observed.identity, None)
        sheet = hardware.datasheet(device, setup.observed.identity)
        if probe is None or sheet is None or sheet.value.low <= 0:
            continue
        if (probe.value / sheet.value).low > limit("ceiling.impossible"):
            yield device, probe, sheet


def _probe(line: Line, device: Device) -> CheckResult:
    probe = need(_interval(device.memory_bandwidth), "a probe")
    sheet = need(_interval(device.datasheet_bandwidth), "a datasheet figure")
    return _against(
        line,
        device,
        hardware.Bandwidth(probe, device.source, device.id),
        hardware.Bandwidth(sheet, "datasheet", device.name or device.id),
    )


def _against(
    line: Line, device: Device, probe: hardware.Bandwidth, sheet: hardware.Bandwidth
) -> CheckResult:
    ratio = probe.value / sheet.value
    wrong = ratio.low > limit("ceiling.impossible")
    return line.judged(
        "impossible" if wrong else "fraction",
        f"probe {hardware.gb(probe.value)} GB/s / datasheet {hardware.gb(sheet.value)} GB/s = "
        f"{show(ratio)}{_by_clock(device)}",
        ratio,
        "ratio",
        inputs=[
            hardware.as_input(name, known.value, "B/s", known.provenance, known.source)
            for name, known in (("probe", probe), ("datasheet", sheet))
        ],
        caveats=[_OTHER_CARD] if wrong else [],
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
