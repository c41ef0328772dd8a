"""The top of the page: what was asked, what came out by which division, what is not known."""

from __future__ import annotations

import math
import re
from collections import Counter

from benchspec.judge.result import HypothesisResult
from benchspec.observations.node import Bounds
from benchspec.report.material import Material, hypothesis_anchor
from benchspec.report.numbers import count, figure, setting
from benchspec.report.parts import STATES, Answer, Headline, Pair
from benchspec.report.text import one_line

_ORIGIN = {
    "run": "Measured by benchspec on the hardware below.",
    "audit": "Audited, not measured here: the numbers are the author's, the divisions are ours.",
    "import": "Imported, not measured here: the numbers are another tool's, the divisions are ours.",
}


_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")

MAX_DIVISION = 100

MAX_ANSWERS = 6
"""What fits on a first screen; the cards have them all."""


def headline(material: Material) -> Headline:
    """Title, question, the quotable summary, and who, when, on what."""
    study, facts, unfinished = material.spec.study, material.facts, material.verdicts.unfinished
    tally = Counter(h.verdict for h in material.registered)
    return Headline(
        title=study.title,
        short=one_line(study.title, 80),
        question=study.question,
        summary=summary(material),
        origin=_ORIGIN.get(facts.origin, _ORIGIN["import"]),
        audited=material.audited,
        facts=tuple(_facts(material)),
        conditions=conditions(material),
        answers=tuple(map(answer, material.registered[:MAX_ANSWERS])),
        more_answers=max(0, len(material.registered) - MAX_ANSWERS),
        open_point=one_line(unfinished[0].text, 240).rstrip(".") if unfinished else None,
        open_points=len(unfinished),
        tally=tuple((s, word, tally[s]) for s, (word, _) in STATES.items() if tally[s]),
    )


_LABEL = {
    "material": "{}",
    "context_tokens": "{} tokens of context",
    "speculation": "speculation {}",
    "slots": "{} slots",
}
"""Key of a workload's label -> how it is said where there is room for one line."""


def conditions(material: Material) -> str:
    """The labels of all arms on one line; where arms differ, each value once."""
    labels = [label for a in material.case.arms.values() if (label := a.workload.label) is not None]
    said = []
    for name, words in _LABEL.items():
        values = dict.fromkeys(setting(v) for x in labels if (v := getattr(x, name)) is not None)
        if values:
            said.append(words.format(" / ".join(values)))
    return one_line(", ".join(said), 100)


def answer(result: HypothesisResult) -> Answer:
    """The verdict, its claim and the one division that gave it; where it is open, why."""
    settled = result.verdict in ("supported", "refuted")
    divided = settled and result.arithmetic
    basis = _division(result.arithmetic or "", result.value) if divided else result.reason
    return Answer(
        anchor=hypothesis_anchor(result.id),
        state=result.verdict,
        word=STATES[result.verdict][0],
        claim=one_line(result.claim, 200),
        basis=one_line(basis, 160),
    )


def _division(arithmetic: str, value: float | Bounds | None) -> str:
    """The clause that divides and ends in `value` (a part may stand there in percent), else the
    first that divides: the others say what else was seen."""
    clauses = arithmetic.split("; ")
    dividing = [clause for clause in clauses if " = " in clause] or clauses
    wanted = [] if value is None or isinstance(value, Bounds) else [value, 100 * value]
    found = next(
        (c for c in dividing if any(_holds(c.rpartition(" = ")[2], w) for w in wanted)),
        dividing[0],
    )
    return _short(found)


def _short(clause: str) -> str:
    """Without the names of what is divided, where they would push the numbers off the line."""
    _, equals, numbers = clause.partition(" = ")
    return numbers if equals and " = " in numbers and len(clause) > MAX_DIVISION else clause


def _holds(text: str, value: float) -> bool:
    """True when one of the numbers in `text` is `value` as far as three digits tell."""
    numbers = (float(n.replace(",", "")) for n in _NUMBER.findall(text))
    return any(math.isclose(number, value, rel_tol=0.005) for number in numbers)


def summary(material: Material) -> str:
    """One sentence for a post's first paragraph: counts, the first verdict with its number, gaps."""
    results = material.registered
    tally = Counter(h.verdict for h in results)
    counts = ", ".join(f"{tally[s]} {word.lower()}" for s, (word, _) in STATES.items() if tally[s])
    parts = [f"{count(len(results), 'hypothesis', 'hypotheses')} tested: {counts or 'none'}"]
    if results:
        parts.append(_first(results[0], "found" if material.audited else "measured"))
    parts.append(f"{count(len(material.verdicts.unfinished), 'point')} not finished")
    done = "Audited" if material.audited else "Measured"
    when = material.facts.utc[:10]
    return f"{'; '.join(parts)}. {done} {when} with benchspec {material.facts.benchspec}."


def _first(result: HypothesisResult, how: str) -> str:
    claim = one_line(result.claim, 200).rstrip(".")
    word = STATES[result.verdict][0].lower()
    if result.value is None:
        return f"“{claim}”: {word}"
    numbers = f"{how} {figure(result.value, result.unit)}"
    if result.predicted is not None:
        numbers += f", predicted {figure(result.predicted, result.unit)}"
    return f"“{claim}”: {word} ({numbers})"


def _facts(material: Material) -> list[Pair]:
    study, facts = material.spec.study, material.facts
    pairs = [
        Pair("By", ", ".join(study.authors) or "not named"),
        Pair("Audited", facts.utc[:10]) if material.audited else Pair("Measured", _when(facts.utc)),
        Pair("Interests", study.interests or "not declared"),
        Pair("Licence", study.license or "none given"),
    ]
    if material.url:
        pairs.append(Pair("Published at", material.url))
    return pairs


def _when(utc: str) -> str:
    """`2026-03-01 09:30 UTC` from an ISO 8601 instant, without parsing what may be anything."""
    date, _, time = utc.partition("T")
    return f"{date} {time[:5]} UTC" if time else utc
