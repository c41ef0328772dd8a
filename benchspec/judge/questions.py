"""What is missing, as questions that one could post to the author of the figures.

Three are asked of any figure for several requests at once: how an aggregate was computed, when each
answer ended, and how the aggregate moves with the number of requests. The others name what a check
lacked, and what it would tell: first those of claims.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from benchspec.judge import figures
from benchspec.judge.case import Case
from benchspec.judge.checks import BY_NAME
from benchspec.judge.result import Verdicts
from benchspec.observations.model import Step


def questions_of(case: Case, verdicts: Verdicts) -> list[str]:
    """Every question once, those on concurrency first."""
    return list(
        dict.fromkeys(
            [
                *_concurrency(case),
                *_claims(case, verdicts),
                *_lacks(case, verdicts),
                *_bounds(verdicts),
            ]
        )
    )


def _concurrency(case: Case) -> Iterator[str]:
    for arm in case.arm_ids:
        steps = [s for p in case.places if p.arm == arm for s in case.steps(p)]
        several = [s for s in steps if (s.concurrency or 0) > 1]
        if not several:
            continue
        of = f" (arm {arm})" if len(case.arm_ids) > 1 else ""
        if any(s.aggregate_tok_s is not None and not _recomputable(s) for s in several):
            yield (
                f"How was the aggregate computed{of}: all completion tokens over the time from the "
                "first dispatch to the last completion, or a sum of the rates of single requests?"
            )
        if not any(figures.completions_s(s) for s in several):
            most = max(s.concurrency or 0 for s in several)
            yield f"When did each of the {most} answers end, in seconds from the first dispatch{of}?"
        counts = sorted({s.concurrency for s in steps if s.concurrency})
        if 1 not in counts or len(counts) < 3:
            yield f"What is the aggregate at one, two and four requests in flight{of}?"
        slots = case.slots(arm)
        if slots is None or slots.source.startswith("default"):
            yield (
                f"With how many slots did the server run{of}? (-np, --max-num-seqs, or the line of "
                "its log that says so)"
            )


def _recomputable(step: Step) -> bool:
    return figures.recomputed_tok_s(step) is not None


def _claims(case: Case, verdicts: Verdicts) -> Iterator[str]:
    """What the check of a claim needs where it found nothing to divide at all."""
    divided = {result.check for result in verdicts.checks}
    for hypothesis in case.spec.hypotheses:
        check = hypothesis.test.check if hypothesis.test else None
        if check is not None and check in BY_NAME and check not in divided:
            yield f"Is this known: {BY_NAME[check].NEEDS}? It would tell: {_asks(check)}"


_LAST = ("baseline", "repeats")
"""Checks that nearly every report leaves open: their questions come last."""


def _lacks(case: Case, verdicts: Verdicts) -> Iterator[str]:
    """One question per missing thing, with what the check would tell; those of claims first."""
    claimed = {h.test.check for h in case.spec.hypotheses if h.test}
    told: dict[str, list[str]] = {}
    ranked = sorted(verdicts.checks, key=lambda r: (r.check not in claimed, r.check in _LAST))
    for result in ranked:
        if result.state == "insufficient":
            for missing in result.missing:
                of = _of(result.arm) if f"arm {result.arm}" not in missing else ""
                told.setdefault(missing + of, []).append(result.check)
    for missing, checks in told.items():
        asks = " ".join(dict.fromkeys(filter(None, map(_asks, checks))))
        yield f"Is this known: {_thing(missing)}? It would tell: {asks}"


def _thing(missing: str) -> str:
    """What is missing; why, or how much there is, in brackets."""
    for mark in ("; ", ": "):
        thing, _, why = missing.partition(mark)
        if why:
            return f"{thing} ({why})"
    return missing


def _of(arm: str | None) -> str:
    return f" of arm {arm}" if arm not in (None, "main") else ""


def _asks(check: str) -> str:
    """The question that a check answers: the first line of its manual page."""
    page = inspect.cleandoc(BY_NAME[check].__doc__ or "") if check in BY_NAME else ""
    return page.partition("\n")[0].partition(": ")[2]


def _bounds(verdicts: Verdicts) -> Iterator[str]:
    for gap in verdicts.unfinished:
        if gap.kind in ("bound", "not-measured"):
            yield f"{gap.text} Do you have it?"
