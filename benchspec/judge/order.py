"""In this order: seven questions for a slow or flat multi-device figure, each with its answer.

The order matters: a split explains utilisation before anybody looks for headroom, and the slots
explain a plateau before anybody blames a link. Source: the closing list of the case study
`specs/casebook/three-cards.yaml`, whose author asked them in the opposite order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from benchspec.judge.case import Case
from benchspec.judge.hardware import shares
from benchspec.judge.interval import counted, show
from benchspec.judge.result import CheckResult, OrderStep

NOT_ASKED = "not asked"


class _Question(NamedTuple):
    text: str
    checks: tuple[str, ...]


_QUESTIONS = (
    _Question("How is the model split over the devices?", ()),
    _Question("Do the devices' utilisations add up to about 100 %?", ("turn-taking",)),
    _Question("Can the sampling interval see the devices alternate?", ("sampling",)),
    _Question("How far is decoding from the bandwidth ceiling?", ("bandwidth-ceiling",)),
    _Question("How many slots has the server, and does the sweep go to twice that?", ()),
    _Question(
        "Where it flattens: did the requests queue, and did answers end in batches?",
        ("queueing", "completion-shape"),
    ),
    _Question("What part of a step is spent on the link?", ("link-share", "link-load")),
)


def in_order(case: Case, results: Sequence[CheckResult]) -> list[OrderStep]:
    """The seven questions with what `results` say to each, in their order."""
    answers = {1: list(_splits(case)), 5: list(_slots(case))}
    steps = []
    for number, question in enumerate(_QUESTIONS, 1):
        if number in answers:
            steps.append(_stated(number, question.text, answers[number]))
        else:
            steps.append(_divided(number, question, results))
    return steps


def _stated(number: int, question: str, answers: list[tuple[str, bool]]) -> OrderStep:
    """From facts of the setup: (sentence, whether it answers)."""
    if not answers:
        return OrderStep(number=number, question=question, state="not-asked", answer=NOT_ASKED)
    known = any(answered for _, answered in answers)
    text = "; ".join(dict.fromkeys(sentence for sentence, _ in answers))
    state: Literal["answered", "open"] = "answered" if known else "open"
    return OrderStep(number=number, question=question, state=state, answer=text)


def _divided(number: int, question: _Question, results: Sequence[CheckResult]) -> OrderStep:
    """From the checks that answer it."""
    mine = [r for r in results if r.check in question.checks and _asked(r)]
    judged = [r for r in mine if r.state == "judged"]
    if judged:
        text = "; ".join(f"{r.key}: {r.reading} ({r.arithmetic})" for r in judged)
        keys = [r.key for r in judged]
        return OrderStep(
            number=number, question=question.text, state="answered", answer=text, checks=keys
        )
    if not mine:
        return OrderStep(number=number, question=question.text, state="not-asked", answer=NOT_ASKED)
    reasons: dict[str, list[str]] = {}
    for r in mine:
        reasons.setdefault(r.reason or r.state, []).append(r.key)
    text = "; ".join(f"{why} ({_few(keys)})" for why, keys in reasons.items())
    return OrderStep(
        number=number,
        question=question.text,
        state="open",
        answer=text,
        checks=[r.key for r in mine],
    )


def _few(keys: Sequence[str]) -> str:
    more = f" and {len(keys) - 2} more" if len(keys) > 2 else ""
    return ", ".join(keys[:2]) + more


def _asked(result: CheckResult) -> bool:
    """Of sampling only whether alternation can be seen; probes of cards are no decoding."""
    if result.state == "not-applicable":
        return False
    if result.check == "sampling":
        return result.at.get("question") == "shape"
    return "device" not in result.at or result.check != "bandwidth-ceiling"


def _splits(case: Case) -> Iterator[tuple[str, bool]]:
    for arm in case.arm_ids:
        setup = case.setup(arm)
        count = len(setup.devices)
        if count == 0 and setup.split is None:
            continue
        if setup.split is None:
            yield f"arm {arm}: {counted(count, 'device')}, and nobody says how it is split", False
        elif setup.split == "none":
            yield f"arm {arm}: on one device, nothing is split", True
        else:
            parts, stated = shares(setup.devices) if count else ([], False)
            each = f" ({' / '.join(show(100 * p.mid, 3) for p in parts)} %)" if stated else ""
            over = f" over {counted(count, 'device')}{each}" if count else ""
            yield f"arm {arm}: by {setup.split}{over}{_meaning(setup.split, count)}", True


def _meaning(split: str, count: int) -> str:
    if split == "tensor" or count < 2:
        return ""
    return f"; one stream then shows about {show(100 / count, 3)} % on each, which is normal"


def _slots(case: Case) -> Iterator[tuple[str, bool]]:
    for arm in case.arm_ids:
        counts = [p.concurrency for p in case.places if p.arm == arm and p.concurrency]
        if not counts or max(counts) == 1:
            continue
        slots, most = case.slots(arm), max(counts)
        if slots is None:
            yield f"arm {arm}: the sweep goes to C={most}, and nobody says how many slots", False
            continue
        enough = "at least" if most >= 2 * slots.count else "less than"
        yield (
            f"arm {arm}: {counted(slots.count, 'slot')} ({slots.source}), the sweep goes to "
            f"C={most}, {enough} twice that",
            True,
        )
