"""What the measures of the answers' texts say: which are degenerate, and whether a rate is theirs."""

from __future__ import annotations

from collections.abc import Sequence

from benchspec.judge import figures
from benchspec.judge.case import Case
from benchspec.judge.thresholds import limit
from benchspec.observations.answers import Text
from benchspec.observations.model import Step


def looked_at(steps: Sequence[Step]) -> list[Text]:
    """The measures of every answer that was looked at and is long enough to tell."""
    texts = (r.text for step in steps for r in figures.succeeded(step))
    return [text for text in texts if text is not None and text.chars >= limit("sanity.chars")]


def degenerate(text: Text) -> bool:
    """Whether a text goes round in circles, or is of one or two characters in any order."""
    looped = text.looped_chars / text.chars >= limit("sanity.looped")
    return looped or text.entropy_bits < limit("sanity.characters")


def _wordless(text: Text) -> bool:
    """Whether what goes round is no more than a word: no working model writes so."""
    return degenerate(text) and text.entropy_bits < limit("sanity.word")


def garbage(case: Case, steps: Sequence[Step]) -> str | None:
    """Why the rate of these steps of one arm is not one of text, or None.

    Where the length is forced, a model that has said all it has goes round in circles, as asked;
    that counts only where tokens are drafted, which are accepted more often in such text. A word or
    less, over and over, always counts.
    """
    texts = looked_at(steps)
    forced = all(case.forced(step) for step in steps)
    drafted = any(figures.overall_acceptance(step) is not None for step in steps)
    circles = [t for t in texts if degenerate(t)] if drafted or not forced else []
    wordless = [t for t in texts if _wordless(t)]
    few = limit("sanity.degenerate") * len(texts)
    if len(wordless) > few:
        what = f"{len(wordless)} of {len(texts)} answers are a word or less, over and over"
    elif len(circles) > few:
        what = f"{len(circles)} of {len(texts)} answers go round in circles"
        what += ", where drafts are accepted more often" if drafted else ""
    else:
        return None
    return f"the rate of degenerate text is not quotable: {what}"
