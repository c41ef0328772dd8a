"""An audit for people: the order to look in, hypotheses, checks with their arithmetic, gaps."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchspec.judge.questions import questions_of
from benchspec.judge.result import CheckResult, HypothesisResult
from benchspec.report.text import one_line
from benchspec.run.audit import Audited

Paint = Callable[[str, str], str]

_WORDS = {"supported": "good", "refuted": "strong", "invalid": "error"}
_LONGEST = 600


def render(audited: Audited, paint: Paint) -> Iterator[str]:
    """The lines of one audit."""
    verdicts = audited.verdicts
    yield paint(f"{_text(audited.lint.document.name)}: {_text(verdicts.study)}", "strong")
    yield "audited, not measured here: the numbers are the author's, the divisions are ours"
    yield from _section("In this order", _order(audited), paint)
    yield from _section("Hypotheses", _hypotheses(verdicts.hypotheses, paint), paint)
    yield from _section("Checks", _checks(verdicts.checks, paint), paint)
    yield from _section(
        "What this didn't finish", (f"  - {_text(u.text)}" for u in verdicts.unfinished), paint
    )


def questions(audited: Audited, paint: Paint) -> Iterator[str]:
    """What is missing, as questions to post."""
    yield paint(f"{_text(audited.lint.document.name)}: {_text(audited.verdicts.study)}", "strong")
    asked = questions_of(audited.case, audited.verdicts)
    yield from (f"  {n}. {_text(question)}" for n, question in enumerate(asked, 1))
    if not asked:
        yield "  nothing is missing that a check asks for"


def _section(title: str, lines: Iterator[str], paint: Paint) -> Iterator[str]:
    found = list(lines)
    yield ""
    yield paint(title, "strong")
    yield from found or ["  none"]


def _order(audited: Audited) -> Iterator[str]:
    for step in audited.order:
        yield f"  {step.number}. {step.question}"
        mark = {"answered": "", "open": "open: ", "not-asked": ""}[step.state]
        yield f"     {mark}{_text(step.answer)}"


def _hypotheses(results: list[HypothesisResult], paint: Paint) -> Iterator[str]:
    for h in results:
        mark = "" if h.admissible else f" (not admissible: {', '.join(h.overridden)})"
        yield f"  {h.id} {paint(h.verdict, _WORDS.get(h.verdict, 'warning'))}{mark}: {_text(h.claim)}"
        yield f"     {_text(h.reason)}"
        if h.arithmetic:
            yield f"     {_text(h.arithmetic)}"
        if h.gate:
            cost = f" ({_text(h.gate.cost)})" if h.gate.cost else ""
            yield f"     gate {h.gate.reading}: {_text(h.gate.then)}{cost}"


def _checks(results: list[CheckResult], paint: Paint) -> Iterator[str]:
    for r in results:
        if r.state == "not-applicable":
            continue
        word = r.reading if r.state == "judged" and r.reading else r.state
        quoted = f" [{r.quotable}]" if r.state == "judged" else ""
        yield f"  {_text(r.key)}: {paint(word, 'strong')}{quoted}"
        yield f"     {_text((r.arithmetic if r.state == 'judged' else r.reason) or '')}"
        for caveat in r.caveats:
            yield f"     ! {_text(caveat)}"


def _text(value: str) -> str:
    return one_line(value, _LONGEST)
