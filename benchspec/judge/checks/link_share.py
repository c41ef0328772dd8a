"""link-share: what part of a step is spent moving data between devices?

Needs: bytes per token and crossing (observed, or hidden size x 2 bytes in a layer split), the link's
measured copy bandwidth, and the time of the step. Latency: of the transfer, or of `hardware.links`.

Division: (tokens in the step x bytes per token / bandwidth [B/s] + latency [s]) x crossings / time
of the step [s]. In decode a step carries one token of every stream; in prefill a whole micro-batch.

Readings
  negligible   < 1 % of the step
  minor        1-10 %
  material     > 10 %
  hidden       swapping the path changed the time by less than 1 %: the transfers are overlapped

Silent when: bytes, bandwidth or the time of the step are not known. Without a latency the result is
the transfer part only, and says so.

Value: the share; at most that, where an input is a bound. Source: arithmetic; it is a share of the
time only if transfers are not overlapped.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchspec.judge import figures, metrics
from benchspec.judge.case import Case, measured, need
from benchspec.judge.geometry import ACTIVATION_BYTES
from benchspec.judge.hardware import as_input, slowest
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, lacking, not_applicable
from benchspec.judge.result import CheckResult
from benchspec.judge.setup import Setup
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Step, Transfer

NAME = "link-share"
READINGS = ("negligible", "minor", "material", "hidden")
NEEDS = "bytes per token and crossing, the link's bandwidth, and the time of a step"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per arm and step in decode; one more in prefill where its batch is known."""
    moved = {arm: transfer_of(case, arm) for arm in case.arm_ids}

    def decode(line: Line, step: Step) -> CheckResult:
        transfer = moved.get(step.arm)
        if transfer is None:
            raise not_applicable("nothing crosses a link")
        time = figures.step_ms(step, case.setup(step.arm).drafts(step))
        streams = case.streams(step)
        time_s = need(time, "the time of a step") * 1e-3
        return _divide(case, line, step, transfer, streams, time_s)

    def prefill(line: Line, step: Step) -> CheckResult:
        transfer = moved.get(step.arm)
        if transfer is None or transfer.prefill_tokens is None or step.concurrency not in (None, 1):
            raise not_applicable("the size of a prefill step is not known, or it is shared")
        rate = metrics.METRICS["prefill_tok_s"].whole(step)
        if rate is None or rate.low <= 0:
            hop = _crossing(case.setup(step.arm), transfer, transfer.prefill_tokens)[0]
            raise lacking(f"the prefill rate; one crossing takes {show(hop * 1e3, 3)} ms")
        tokens = transfer.prefill_tokens
        return _divide(case, line, step, transfer, tokens, tokens / rate)

    if not any(moved.values()):
        return []
    both = [
        *case.per_repeat(NAME, decode),
        *case.per_repeat(NAME, prefill, also={"phase": "prefill"}),
    ]
    return [r for r in both if moved.get(r.arm or "") and r.state != "not-applicable"]


def transfer_of(case: Case, arm: str) -> Transfer | None:
    """What crosses the arm's links per token, as observed, else from the model's geometry."""
    for transfer in case.observations.transfers:
        if transfer.arm in (None, arm):
            return transfer
    setup = case.setup(arm)
    size, cards = setup.model.hidden_size, len(setup.devices)
    if size is None or cards < 2 or not setup.links or setup.split not in ("layer", "pipeline"):
        return None
    return Transfer(
        arm=arm,
        bytes_per_token=size * ACTIVATION_BYTES,
        crossings=cards - 1,
        source=f"hidden size {size} x {ACTIVATION_BYTES} B",
    )


def _crossing(setup: Setup, transfer: Transfer, tokens: float) -> tuple[Interval, str]:
    """Seconds of one crossing, and the division."""
    link = slowest(setup.links, measured_first=True, copied=setup.copied)
    if link is None:
        raise lacking("the bandwidth of the link")
    size = tokens * transfer.bytes_per_token
    latency_s = latency_of(setup, transfer)
    time = size / link[0] + (latency_s or 0.0)
    latency = f" + {show(latency_s * 1e6)} us" if latency_s else ""
    return time, f"{show(size / 1024)} KiB / {show(link[0] * 1e-9)} GB/s{latency}"


def latency_of(setup: Setup, transfer: Transfer) -> Interval | None:
    """Seconds of an empty crossing: of the transfer, else of the slowest link that states one."""
    if transfer.latency_s is not None:
        return Interval.of(transfer.latency_s)
    stated = [Interval.of(link.latency) for link in setup.links if link.latency is not None]
    return max(stated, key=lambda latency: latency.high, default=None)


def _divide(
    case: Case, line: Line, step: Step, transfer: Transfer, tokens: float, time_s: Interval
) -> CheckResult:
    setup = case.setup(step.arm)
    once, division = _crossing(setup, transfer, tokens)
    share = once * transfer.crossings / time_s
    bound = transfer.provenance == "bound"
    link = slowest(setup.links, measured_first=True, copied=setup.copied)
    return line.judged(
        "hidden" if transfer.hidden else read(share.high),
        f"{division} x {transfer.crossings} = {show(once * transfer.crossings * 1e6)} us of "
        f"{show(time_s * 1e3, 3)} ms = {'at most ' if bound else ''}{show(100 * share, 3)} %",
        share.high if bound else share,
        "ratio",
        inputs=[
            as_input(
                "bytes per token and crossing",
                Interval.of(transfer.bytes_per_token),
                "B",
                transfer.provenance,
                transfer.source or "the model",
            ),
            measured("time of a step", time_s * 1e3, "ms", step),
            *([as_input("link", link[0], "B/s", link[1], link[2])] if link else []),
        ],
        bound="at-most" if bound else None,
        caveats=_caveats(setup, transfer),
    )


def read(share: float) -> str:
    """The reading of a share of a step."""
    if share < limit("link.negligible"):
        return "negligible"
    return "material" if share > limit("link.material") else "minor"


def _caveats(setup: Setup, transfer: Transfer) -> Sequence[str]:
    if latency_of(setup, transfer) is not None:
        return []
    return ["transfer part only: the latency of a crossing was not measured"]
