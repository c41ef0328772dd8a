"""What this didn't finish: generated from what is missing, and ending with what would settle it.

Kinds: author, not-run, aborted, invalid, within-slots, not-measured, bound, insufficient,
inconclusive, jump, remainder, single-run, withdrawn, waiver, override.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from benchspec.judge import figures, targets
from benchspec.judge.case import Case
from benchspec.judge.completions import inferred_slots
from benchspec.judge.conditions import unfit
from benchspec.judge.interval import counted, show
from benchspec.judge.place import Place
from benchspec.judge.result import CheckResult, HypothesisResult, Unfinished
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Step


def unfinished(
    case: Case,
    results: Sequence[CheckResult],
    hypotheses: Sequence[HypothesisResult],
    overrides: Mapping[str, str],
) -> list[Unfinished]:
    """Every line, the author's own first."""
    return [
        *(Unfinished(kind="author", text=text) for text in case.spec.unfinished),
        *_not_run(case),
        *_stopped(case),
        *_hypotheses(hypotheses),
        *_within_slots(case),
        *_jumps(case),
        *_degenerate(results),
        *_silent_checks(results),
        *_not_measured(case, results),
        *_bounds(results),
        *_remainders(results),
        *_single_runs(case),
        *(_waiver(w.rule, w.reason) for w in case.spec.waivers),
        *(_override(code, reason) for code, reason in overrides.items()),
    ]


def _not_run(case: Case) -> Iterator[Unfinished]:
    tried = {(Place.of(s), s.repeat) for s in case.observations.steps}
    bare = {(p.arm, p.concurrency, p.rate, p.context_tokens, p.cache, r) for p, r in tried}
    if case.observations.origin != "run":
        return
    for place in targets.planned(case):
        key = (place.arm, place.concurrency, place.rate, place.context_tokens, place.cache)
        repeats = range(1, case.spec.repeats + 1)
        missing = [r for r in repeats if (*key, r) not in bare]
        if missing:
            which = (
                "no repeat" if len(missing) == case.spec.repeats else f"repeats {_list(missing)}"
            )
            verb = "was run" if len(missing) == case.spec.repeats else "were not run"
            text = f"{place}: {which} {verb}. `benchspec resume` runs what is missing."
            yield Unfinished(kind="not-run", text=text, arm=place.arm, at=place.at)


def _stopped(case: Case) -> Iterator[Unfinished]:
    for step in case.observations.steps:
        if step.state == "done":
            continue
        place = Place.of(step)
        why = f": {step.reason}" if step.reason else ""
        text = f"{place}, repeat {step.repeat} {step.state}{why}. `benchspec resume` runs it again."
        yield Unfinished(kind="aborted", text=text, arm=place.arm, at=place.at)


def _hypotheses(hypotheses: Sequence[HypothesisResult]) -> Iterator[Unfinished]:
    for h in hypotheses:
        if h.withdrawn_by:
            text = (
                f"{h.id} is withdrawn: it rests on {_list(h.withdrawn_by)}. "
                "It needs another explanation, and a test of that."
            )
            yield Unfinished(kind="withdrawn", text=text, hypothesis=h.id)
        elif h.verdict in ("inconclusive", "invalid") and not h.exploratory:
            text = f"{h.id} is {h.verdict}: {h.reason}."
            yield Unfinished(kind=h.verdict, text=text, hypothesis=h.id)


def _within_slots(case: Case) -> Iterator[Unfinished]:
    """No step ran more requests at once than the slots: what lies above is not answered."""
    for arm in case.arm_ids:
        slots = case.slots(arm)
        counts = [p.concurrency for p in case.places if p.arm == arm and p.concurrency]
        if slots is None or not counts or max(counts) == 1 or _seen_wider(case, arm, slots.count):
            continue
        most, again = max(counts), 2 * slots.count
        if most <= slots.count and _queued_already(case, arm):
            continue
        if most <= slots.count:
            text = (
                f"Arm {arm}: the sweep ends at C={most}, within its {counted(slots.count, 'slot')}, so where "
                f"queueing begins was not seen. A step at C={again} shows it."
            )
        else:
            text = (
                f"Arm {arm}: no step above {counted(slots.count, 'slot')} ran in parallel, so what the "
                f"hardware gives above C={slots.count} is not answered. An arm with {again} slots "
                f"at C={again} answers it."
            )
        yield Unfinished(kind="within-slots", text=text, arm=arm)


def _queued_already(case: Case, arm: str) -> bool:
    """Whether answers came in batches within the slots: then fewer serve than are stated."""
    steps = [s for p in case.places if p.arm == arm for s in case.steps(p)]
    return any(inferred_slots(step, case.forced(step)) for step in steps)


def _seen_wider(case: Case, arm: str, count: int) -> bool:
    """Whether another arm with the same engine and model ran more than `count` at once."""
    this = case.setup(arm)
    for place in case.places:
        slots = case.slots(place.arm)
        if place.arm == arm or slots is None or not this.alike(case.setup(place.arm)):
            continue
        if count < (place.concurrency or 0) <= slots.count:
            return True
    return False


def _jumps(case: Case) -> Iterator[Unfinished]:
    """Per-token time that rises steeply between two steps at or below the slots."""
    firsts = [case.steps(p)[0] for p in case.places]
    for arm in case.arm_ids:
        slots = case.slots(arm)
        steps = [s for s in firsts if s.arm == arm and s.concurrency]
        inside = [s for s in steps if slots is None or (s.concurrency or 0) <= slots.count]
        yield from _steep(arm, sorted(inside, key=lambda s: s.concurrency or 0))


def _steep(arm: str, steps: Sequence[Step]) -> Iterator[Unfinished]:
    for low, high in pairwise(steps):
        slow, fast = figures.stream_tok_s(high), figures.stream_tok_s(low)
        if any(figures.defect(s) or unfit(s, "itl") for s in (low, high)) or not slow or not fast:
            continue
        if min(slow.low, fast.low) <= 0 or (fast / slow).mid < limit("unfinished.jump"):
            continue
        text = (
            f"Arm {arm}: the time per token rises from {show(1e3 / fast, 3)} to "
            f"{show(1e3 / slow, 3)} ms between C={low.concurrency} and C={high.concurrency}, "
            "and nothing here explains it. A step between them, or a profile, would."
        )
        yield Unfinished(kind="jump", text=text, arm=arm, at={"concurrency": high.concurrency})


def _degenerate(results: Sequence[CheckResult]) -> Iterator[Unfinished]:
    """Arms of a run whose rates are of text that nobody wants."""
    for r in results:
        if (r.check, r.reading, r.quotable) == ("output-sanity", "degenerate", "no"):
            text = (
                f"{r.key} is degenerate: {r.caveats[0]}. The model file, its build and the prompt's "
                "form are where to look before measuring again."
            )
            yield Unfinished(kind="invalid", text=text, check=r.check, arm=r.arm, at=r.at)


def _silent_checks(results: Sequence[CheckResult]) -> Iterator[Unfinished]:
    """One line per check and kind of lack, with the places it concerns."""
    groups: dict[tuple[str, str], list[CheckResult]] = {}
    for r in results:
        if r.state in ("insufficient", "invalid") and r.check != "repeats":
            groups.setdefault((r.check, r.state), []).append(r)
    for (check, state), group in groups.items():
        places = _list([r.key.removeprefix(f"{check} ") for r in group[:4]])
        more = f" and {len(group) - 4} more" if len(group) > 4 else ""
        kinds = {(r.reason or "").partition(":")[0]: r.reason or "" for r in reversed(group)}
        reasons = "; ".join(list(reversed(kinds.values()))[:3])
        arms = {r.arm for r in group}
        yield Unfinished(
            kind=state,
            text=f"{check} at {places}{more} is {state}: {reasons}.",
            check=check,
            arm=arms.pop() if len(arms) == 1 else None,
        )


def _not_measured(case: Case, results: Sequence[CheckResult]) -> Iterator[Unfinished]:
    for r in results:
        if r.reading == "blind":
            text = (
                f"{r.key}: too slow to see it ({r.arithmetic}). A shorter interval would show it."
            )
            yield Unfinished(kind="not-measured", text=text, check=r.check, arm=r.arm, at=r.at)
    counted = {s.counter.split("-")[0] for s in case.observations.series if not s.not_measured}
    linked = {r.arm for r in results if r.check == "link-share" and r.state == "judged"}
    if linked and not counted & {"pcie", "nvlink"}:
        text = "No counter of the links was recorded, so their traffic is not known; sample one."
        yield Unfinished(kind="not-measured", text=text)
    for series in case.observations.series:
        if series.not_measured:
            where = f" of {series.device}" if series.device else ""
            text = f"{series.counter}{where} was not measured: {series.not_measured}."
            yield Unfinished(kind="not-measured", text=text, arm=series.arm)
    for arm in case.arm_ids:
        unread = [s.name for s in case.observed(arm).settings if s.asked and s.found is None]
        if unread:
            text = (
                f"Arm {arm}: {_list(unread)} could not be read back from the server; a more "
                "detailed log would show them."
            )
            yield Unfinished(kind="not-measured", text=text, arm=arm)


def _bounds(results: Sequence[CheckResult]) -> Iterator[Unfinished]:
    """Bounds that stand in for measurements, once each."""
    seen = set()
    for r in results:
        for i in r.inputs:
            if r.state != "judged" or i.provenance != "bound" or (i.name, i.source) in seen:
                continue
            seen.add((i.name, i.source))
            text = f"{i.name} is a bound, not measured ({i.source or 'assumed'}): measure it."
            yield Unfinished(kind="bound", text=text, check=r.check, arm=r.arm, at=r.at)


def _remainders(results: Sequence[CheckResult]) -> Iterator[Unfinished]:
    """Per check and arm the first place with its division, the others with their share."""
    groups: dict[tuple[str, str | None], list[CheckResult]] = {}
    for r in results:
        if abs(r.remainder or 0.0) > limit("unfinished.remainder"):
            groups.setdefault((r.check, r.arm), []).append(r)
    for (check, arm), (first, *others) in groups.items():
        prefix = " ".join(filter(None, (check, arm)))
        also = _list([f"{r.key.removeprefix(prefix).strip()} {_left(r)}" for r in others])
        text = (
            f"{first.key}: {_left(first)} stays unexplained ({first.arithmetic})"
            f"{f'; at {also}' if also else ''}. A profile of where that time goes would tell."
        )
        yield Unfinished(kind="remainder", text=text, check=check, arm=arm, at=first.at)


def _left(result: CheckResult) -> str:
    return f"{show(100 * (result.remainder or 0.0), 2)} %"


def _single_runs(case: Case) -> Iterator[Unfinished]:
    for arm in case.arm_ids:
        places = [p for p in case.places if p.arm == arm]
        few = [p for p in places if sum(s.repeats or 1 for s in case.steps(p)) < 3]
        if few:
            steps = _list([str(p).removeprefix(f"arm {arm}, ") for p in few])
            text = f"Arm {arm}: fewer than three runs at {steps}. Three show whether it holds."
            yield Unfinished(kind="single-run", text=text, arm=arm)


def _waiver(rule: str, reason: str | None) -> Unfinished:
    return Unfinished(kind="waiver", text=f"{rule} was waived: {reason or 'no reason given'}")


def _override(code: str, reason: str) -> Unfinished:
    text = (
        f"{code} was overridden: {reason}. What it guards is not shown; a repaired spec shows it."
    )
    return Unfinished(kind="override", text=text)


def _list(items: Sequence[object]) -> str:
    return ", ".join(str(item) for item in items)
