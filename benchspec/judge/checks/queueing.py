"""queueing: did requests wait for a slot, or did the hardware slow down?

Needs: T(C) and T(S) of the same repeat, S (server slots) from the live server, the spec, the KV
cache or the completions of another step, and one discriminator.

Division, burst: T(C) [s] / (floor(C/S) T(S) + T(C mod S)) [s]. Sustained: latency(C) / latency(S)
over C/S; the number of batches does not apply where slots are refilled.

The ratio alone proves nothing: hardware that is saturated at S also takes C/S times as long. So
`queued` needs the ratio in 0.93-1.10 (refill overlaps prefill; partial waves) and one of these
witnesses. On a busy machine the two steps are not equally fast: then 0.85-1.20 needs two, and
0.70-1.43, half way to running in parallel at C = 2 S, three:
  * completions in clusters of S (not where S was inferred from these same completions)
  * per-stream rate kept, r(C)/r(S) >= 0.85 (saturation predicts S/C)
  * first token of the late requests jumps by >= 0.5 T(S) (a smaller, linear growth is prefill)
  * a server counter of waiting requests above 0.

Readings
  queued      the plateau is the number of slots, not the hardware
  saturated   the ratio fits, r(C)/r(S) is within 15 % of S/C, one cluster or a counter of waiting
              requests that stayed at 0: all ran, each slower
  parallel    faster than a queue, one cluster: more than S ran at once, so S is not what it seemed
  unresolved  the ratio fits without a discriminator, or nothing fits

Silent when: C <= S (nothing can queue); S is not known or not in the sweep; T(C mod S) was not
measured; the answers of the two steps differ in length by more than 2 %.

Value: the ratio measured / predicted. C should be at least 2 S, so that queued and parallel differ
by 1.5 or more. Source: arithmetic of a queue with S servers and equal service times.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchspec.judge import completions as shape
from benchspec.judge import figures
from benchspec.judge.case import Case, measured, need, sizes_text
from benchspec.judge.interval import Interval, counted, show
from benchspec.judge.lines import Line, lacking, not_applicable
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.setup import Slots
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Step

NAME = "queueing"
READINGS = ("queued", "saturated", "parallel", "unresolved")
NEEDS = "steps at S and above S requests in flight, and S itself"
RATE = False


@dataclass(frozen=True)
class _Evidence:
    """The discriminators: None where the observations do not say."""

    sizes: list[int]
    rate_kept: float | None
    jump_s: float | None
    waiting: float | None
    inputs: list[Input]
    text: str


def check(case: Case) -> list[CheckResult]:
    """One result per arm and step of a closed loop."""

    def divide(line: Line, step: Step) -> CheckResult:
        count = step.concurrency
        if count is None:
            raise not_applicable("an open loop has no fixed number in flight")
        if count == 1:
            raise not_applicable("one request waits for nobody")
        slots = case.slots(step.arm)
        if slots is None:
            raise lacking("S, the number of server slots")
        if count <= slots.count:
            raise not_applicable(f"{count} in flight fit into {counted(slots.count, 'slot')}")
        full = case.partner(step, f"T({slots.count})", concurrency=slots.count)
        _same_length(step, full)
        divided = _sustained if step.mode == "sustained" else _burst
        ratio, division, inputs = divided(case, step, full, slots.count)
        seen = _evidence(step, full, slots)
        reading = _read(ratio, seen, slots.count, count)
        return line.judged(
            reading,
            f"{division}, ratio {show(ratio)}{seen.text}",
            ratio,
            "ratio",
            inputs=[slots.as_input(), *inputs, *seen.inputs],
            caveats=_caveats(slots, count, ratio, reading),
        )

    return case.per_repeat(NAME, divide)


def _burst(case: Case, step: Step, full: Step, slots: int) -> tuple[Interval, str, list[Input]]:
    count = step.concurrency or 0
    rest = count % slots
    took, batch = need(figures.wall_s(step), f"T({count})"), need(figures.wall_s(full), "T(S)")
    inputs = [measured(f"T({count})", took, "s", step), measured(f"T({slots})", batch, "s", full)]
    if rest == 0:
        predicted = batch * (count // slots)
        text = f"ceil({count} / {slots}) x {show(batch)} s = {show(predicted)} s"
    else:
        other = case.partner(step, f"T({rest})", concurrency=rest)
        last = need(figures.wall_s(other), f"T({rest})")
        inputs.append(measured(f"T({rest})", last, "s", other))
        predicted = batch * (count // slots) + last
        text = (
            f"floor({count} / {slots}) x {show(batch)} s + T({rest}) {show(last)} s "
            f"= {show(predicted)} s"
        )
    return took / predicted, f"{text}, measured {show(took)} s", inputs


def _sustained(case: Case, step: Step, full: Step, slots: int) -> tuple[Interval, str, list[Input]]:
    count = step.concurrency or 0
    more = need(figures.latency_s(step), f"the latency of a request at C = {count}")
    less = need(figures.latency_s(full), f"the latency of a request at C = {slots}")
    ratio = more / less / (count / slots)
    text = (
        f"latency {show(more)} s / {show(less)} s = {show(more / less)} against "
        f"C / S = {count} / {slots} = {show(count / slots)}"
    )
    inputs = [measured("latency(C)", more, "s", step), measured("latency(S)", less, "s", full)]
    return ratio, text, inputs


def _same_length(step: Step, full: Step) -> None:
    counts = [figures.tokens_per_request(s) for s in (step, full)]
    if counts[0] and counts[1] and abs(counts[0] / counts[1] - 1) > limit("conservation.tokens"):
        raise lacking(
            f"answers of one length: {show(counts[0])} tokens each against {show(counts[1])}"
        )


def _evidence(step: Step, full: Step, slots: Slots) -> _Evidence:
    ends = figures.completions_s(step)
    burst = step.mode != "sustained" and shape.equal_lengths(step) is not False
    sizes = shape.cluster_sizes(ends) if burst else []
    now, before = figures.decode_tok_s(step), figures.decode_tok_s(full)
    kept = (now / before).mid if now and before and before.low > 0 else None
    jump = _first_token_jump(step, slots.count) if burst else None
    waiting = step.waiting_max
    if slots.inferred_from == step.concurrency:
        sizes = []  # S came from these clusters: they cannot witness for themselves
    words, inputs = [], []
    if sizes:
        words.append(f"completions {sizes_text(sizes)}")
        inputs.append(Input(name="cluster sizes", value=sizes_text(sizes), source=str(step.arm)))
    if kept is not None and now and before:
        words.append(f"per-stream rate kept {show(now)} / {show(before)} = {show(kept, 2)}")
        inputs.append(measured("r(C)", now, "tok/s", step))
        inputs.append(measured("r(S)", before, "tok/s", full))
    if jump is not None:
        words.append(f"first-token jump {show(jump, 3)} s")
        inputs.append(measured("first-token jump", jump, "s", step))
    if waiting is not None:
        words.append(f"waiting counter {show(waiting)}")
        inputs.append(measured("waiting", waiting, "requests", step))
    text = "".join(f"; {word}" for word in words)
    return _Evidence(sizes, kept, _relative_jump(jump, full), waiting, inputs, text)


def _first_token_jump(step: Step, slots: int) -> float | None:
    firsts = sorted(
        r.first_token_s - (r.start_s or 0.0)
        for r in figures.succeeded(step)
        if r.first_token_s is not None
    )
    return firsts[slots] - firsts[slots - 1] if len(firsts) > slots else None


def _relative_jump(jump: float | None, full: Step) -> float | None:
    batch = figures.wall_s(full)
    return jump / batch.mid if jump is not None and batch and batch.low > 0 else None


def _read(ratio: Interval, seen: _Evidence, slots: int, count: int) -> str:
    one_cluster = len(seen.sizes) == 1
    if ratio.high < limit("queueing.low") and one_cluster:
        return "parallel"
    fits = _witnesses_needed(ratio) == 1
    kept = seen.rate_kept
    shared_out = kept is not None and abs(kept * count / slots - 1) <= limit("queueing.saturated")
    if fits and shared_out and (one_cluster or seen.waiting == 0):
        return "saturated"
    signs = (
        shape.batch_size(seen.sizes) == slots,
        kept is not None and kept >= limit("queueing.rate-kept"),
        seen.jump_s is not None and seen.jump_s >= limit("queueing.jump"),
        seen.waiting is not None and seen.waiting > 0,
    )
    enough = _witnesses_needed(ratio)
    return "queued" if enough is not None and sum(signs) >= enough else "unresolved"


def _witnesses_needed(ratio: Interval) -> int | None:
    """How many witnesses carry a ratio that far from 1; None where none do."""
    windows = (
        (limit("queueing.low"), limit("queueing.high")),
        (limit("queueing.near-low"), limit("queueing.near-high")),
        (limit("queueing.far-low"), limit("queueing.far-high")),
    )
    inside = [low <= ratio.low and ratio.high <= high for low, high in windows]
    return inside.index(True) + 1 if any(inside) else None


def _caveats(slots: Slots, count: int, ratio: Interval, reading: str) -> list[str]:
    caveats = []
    needed = _witnesses_needed(ratio) or 0
    if reading == "queued" and needed > 1:
        caveats.append(f"the ratio is off by itself; {needed} witnesses or more carry it")
    if count < 2 * slots.count:
        caveats.append(f"C is below 2 S = {2 * slots.count}: queued and parallel differ little")
    if slots.inferred_from == count:
        caveats.append("S was inferred from these same completions, which cannot witness for it")
    if ratio.low > limit("queueing.high"):
        caveats.append("slower than a queue alone: something else costs time too")
    return caveats
