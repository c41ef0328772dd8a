"""completion-shape: did the requests of a burst run side by side, in batches, or one by one?

Needs: the first and last token of every answer (any lengths); without them, completion times of
answers that were forced to the same length.

Division: overlap = sum of decode intervals [s] / length of their union [s] = answers decoding at
once on average. Without token times: completions are cut into clusters where a gap exceeds half the
first completion; the gaps of a staircase are divided by T(1).

Readings
  staircase      overlap <= 1.15, or all clusters of one with gaps within 15 % of T(1): one slot
  batches        fewer decode at once than were sent: the value is how many, the inferred slots
  parallel       all C decode at once: at least C slots
  time-sliced    all C decode at once and yet X(C) <= 1.05 X(1): they interleave, nothing is gained
  S-at-least-C   one cluster of completions: at least C slots, not exactly C

Silent when: C is 1; fewer than two answers; no token times and lengths that differ or are not known
to be forced (a short answer ends early without any batch); clusters that fit no number of slots.

Value: the inferred slots. 200 OK and no timeout prove nothing about parallelism: a queue answers
every request too. Beside it: mean in flight / C = f, and 1 / (2 f - 1) waves.

Source: this project's case studies of a server with four slots and of an engine that serialises.
"""

from __future__ import annotations

import math
from itertools import pairwise

from benchspec.judge import completions as shape
from benchspec.judge import figures
from benchspec.judge.case import Case, measured, sizes_text
from benchspec.judge.conditions import unfit
from benchspec.judge.interval import show
from benchspec.judge.lines import Line, invalid, lacking, not_applicable
from benchspec.judge.result import CheckResult
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Step
from benchspec.observations.quantiles import median

NAME = "completion-shape"
READINGS = ("staircase", "batches", "parallel", "time-sliced", "S-at-least-C")
NEEDS = "token times, or completion times of answers with forced length, of two requests or more"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per arm and step of a closed loop."""

    def divide(line: Line, step: Step) -> CheckResult:
        if step.concurrency is None:
            raise not_applicable("an open loop sends no waves")
        if step.concurrency == 1:
            raise not_applicable("one request has no shape")
        if step.requests and len(figures.succeeded(step)) < 2:
            raise invalid(f"{len(figures.succeeded(step))} of {len(step.requests)} were answered")
        result = _by_tokens(case, line, step) or _by_completions(case, line, step)
        return result.model_copy(update={"caveats": [*result.caveats, *_caveats(step, result)]})

    return case.per_repeat(NAME, divide)


def _by_tokens(case: Case, line: Line, step: Step) -> CheckResult | None:
    intervals = figures.decode_intervals_s(step)
    rho = shape.overlap(intervals)
    if len(intervals) < 2 or rho is None:
        return None
    sent = min(step.concurrency or 0, len(intervals))
    depth = shape.depth(intervals)
    if _unclear(step, rho, depth, sent):
        return None
    total = math.fsum(end - start for start, end in intervals)
    division = (
        f"decode intervals {show(total)} s / union {show(total / rho)} s = {show(rho, 3)} at once; "
        f"at most {depth} of {sent}"
    )
    if step.mode != "sustained" and shape.equal_lengths(step):
        sizes = shape.cluster_sizes(figures.completions_s(step))
        division += f"; completions in clusters of {sizes_text(sizes)}"
    reading, slots = _read(case, step, rho, depth, sent)
    return line.judged(
        reading,
        division + _wave_text(case, step, slots),
        slots,
        "slots",
        inputs=[
            measured("decode intervals, sum", total, "s", step),
            measured("union of them", total / rho, "s", step),
        ],
        quotable="bound" if reading in ("parallel", "time-sliced") else "yes",
    )


def _unclear(step: Step, rho: float, depth: int, sent: int) -> bool:
    """Equal answers that overlap less than batches of `depth` must: completions may still tell."""
    least = sent / math.ceil(sent / depth)  # a last batch that is not full lowers the mean
    few = limit("shape.serial") < rho < limit("shape.parallel") * least
    return few and depth < sent and bool(shape.equal_lengths(step))


def _read(case: Case, step: Step, rho: float, depth: int, sent: int) -> tuple[str, int]:
    if rho <= limit("shape.serial"):
        return "staircase", 1
    if depth >= sent:
        return ("time-sliced" if _nothing_gained(case, step) else "parallel"), sent
    return "batches", depth


def _nothing_gained(case: Case, step: Step) -> bool:
    single = case.single(step)
    alone = figures.aggregate_tok_s(single) if single else None
    together = figures.aggregate_tok_s(step)
    if alone is None or together is None or alone.low <= 0 or unfit(step):
        return False
    if single and unfit(single):
        return False
    return (together / alone).high <= limit("scaling.plateau")


def _by_completions(case: Case, line: Line, step: Step) -> CheckResult:
    ends = figures.completions_s(step)
    if step.mode == "sustained":
        raise lacking("token times: in a sustained step completions do not come in waves")
    if len(ends) < 2:
        raise lacking("completion times of two requests or more")
    if shape.equal_lengths(step) is False:
        raise lacking("equal lengths: these differ by more than 2 %")
    if not case.forced(step) and not shape.equal_lengths(step):
        raise lacking("a forced output length")
    sizes = shape.cluster_sizes(ends)
    text = f"completions in clusters of {sizes_text(sizes)}"
    inputs = [measured("completions, first", ends[0], "s", step)]
    if len(sizes) == 1:
        text += f" within {show(ends[-1] - ends[0])} s"
        return line.judged(
            "S-at-least-C", text, len(ends), "slots", inputs=inputs, quotable="bound"
        )
    gaps = [later - earlier for earlier, later in pairwise(ends)]
    size = shape.batch_size(sizes)
    if size is None:
        raise lacking(f"a clear shape: clusters of {sizes_text(sizes)} fit no number of slots")
    if size == 1:
        text += _stair_text(case, step, gaps, ends[0])
    text += _wave_text(case, step, size)
    reading = "staircase" if size == 1 else "batches"
    return line.judged(reading, text, size, "slots", inputs=inputs)


def _stair_text(case: Case, step: Step, gaps: list[float], first: float) -> str:
    single = case.single(step)
    alone = figures.wall_s(single) if single else None
    unit = alone.mid if alone else first
    ratio = median(gaps) / unit
    name = "T(1)" if alone else "first completion"
    if abs(ratio - 1) > limit("shape.staircase"):
        raise lacking(
            f"a clear shape: gaps of {show(median(gaps))} s against {name} {show(unit)} s"
        )
    each = ", ".join(show(g) for g in gaps[:8]) + (", ..." if len(gaps) > 8 else "")
    return f"; gaps {each} s, median / {name} = {show(median(gaps))} / {show(unit)} = {show(ratio)}"


def _wave_text(case: Case, step: Step, slots: int) -> str:
    """The cross-check by mean in flight, for a burst of equal answers."""
    equal = shape.equal_lengths(step)
    share = shape.in_flight_share(step)
    count = shape.waves(share)
    forced = equal or (equal is None and case.forced(step))
    if step.mode == "sustained" or share is None or count is None or not forced:
        return ""
    expected = math.ceil((step.concurrency or 0) / slots)
    verdict = "agrees" if abs(count / expected - 1) <= limit("shape.waves") else "disagrees"
    return (
        f"; mean in flight / C = {show(share, 3)}, {show(count, 3)} waves "
        f"({verdict} with ceil({step.concurrency} / {slots}) = {expected})"
    )


def _caveats(step: Step, result: CheckResult) -> list[str]:
    failed = len(step.requests) - len(figures.succeeded(step))
    caveats = [f"{failed} of {len(step.requests)} requests failed"] if failed else []
    if result.reading in ("parallel", "S-at-least-C"):
        caveats.append("at least that many slots; how many more is not seen at this concurrency")
    elif _all_answered(step):
        caveats.append("every request was answered, as a queue does too: that shows no parallelism")
    return caveats


def _all_answered(step: Step) -> bool:
    """Whether requests are known to have succeeded, which is often offered as evidence."""
    return all(r.ok for r in step.requests) if step.requests else step.errors == 0
