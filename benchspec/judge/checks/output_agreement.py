"""output-agreement: do two arms compute the same thing?

Needs: greedy answers of two arms to the same prompts (common prefix in tokens), or the acceptance of
the same drafter in both. A run compares every arm with its control, or else with the first arm,
where both run the same model: up to 64 answers of every cell by the digests of what was asked and of
how the answers begin.

Division: answers that part within 100 tokens / all; difference of acceptance against 3 points.

Readings
  agrees     more than half of the answers agree over at least 100 tokens, and acceptance moves by
             at most 3 points
  diverges   at least half part earlier, or acceptance moves by more: an error in an engine shows
             there first

Silent when: neither is known; too few answers are long enough to tell. An answer of 30 tokens that
agrees to its end agrees over at least 30, and says nothing of 100.

In a run the place where two answers part is known to 64 characters, and to the tokens that one event
of the stream may hold: an interval, which counts only where both ends are on one side of 100.

Value: the shortest common prefix of answers that part, else the length of the longest that do not (a
bound); without answers the shift of acceptance. Source: rounding flips a greedy token after
hundreds, and in a batch of another size it rounds otherwise, so that single answers part early; an
error parts most of them within a few. This project's case studies (229 and 551 tokens; an acceptance
that fell with a wrong kernel).
"""

from __future__ import annotations

from dataclasses import dataclass

from benchspec.judge.case import Case
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, attempt, lacking
from benchspec.judge.result import CheckResult
from benchspec.judge.same_output import pairs
from benchspec.judge.thresholds import limit
from benchspec.observations.answers import Agreement

NAME = "output-agreement"
READINGS = ("agrees", "diverges")
NEEDS = "greedy answers of two arms to the same prompts, or the acceptance of both"
RATE = False

_LISTED = 4


def check(case: Case) -> list[CheckResult]:
    """One result per pair of arms."""
    return [_judge(agreement) for agreement in pairs(case)]


def _judge(agreement: Agreement) -> CheckResult:
    first = agreement.arms[0] if agreement.arms else None
    line = Line(NAME, first, {"against": " ".join(agreement.arms[1:])})
    return attempt(line, lambda: _compare(line, agreement), agreement)


@dataclass(frozen=True)
class _Prefixes:
    """The common prefixes of answers that part, and the lengths of those that do not."""

    parted: list[Interval]
    whole: list[int]

    @property
    def count(self) -> int:
        return len(self.parted) + len(self.whole)

    @property
    def early(self) -> int:
        """Answers that certainly part within 100 tokens."""
        return sum(p.high < limit("agreement.prefix") for p in self.parted)

    @property
    def late(self) -> int:
        """Answers that certainly agree over 100 tokens."""
        enough = limit("agreement.prefix")
        return sum(p.low >= enough for p in self.parted) + sum(n >= enough for n in self.whole)

    @property
    def value(self) -> Interval:
        """The shortest that part, else the longest that do not."""
        parted = min(self.parted, key=lambda p: p.low, default=None)
        return parted or Interval.of(float(max(self.whole)))

    def text(self) -> str:
        """What was counted."""
        parts = []
        if self.parted:
            listed = [show(p) for p in sorted(self.parted, key=lambda p: p.low)[:_LISTED]]
            more = len(self.parted) - len(listed)
            listed += [f"and {more} longer"] if more else []
            parts.append(f"common prefix {', '.join(listed)} tokens")
        if self.whole:
            parts.append(
                f"{len(self.whole)} of {self.count} answers agree to their end, up to "
                f"{max(self.whole)} tokens"
            )
        enough = show(limit("agreement.prefix"))
        parts.append(f"{self.early} of {self.count} part within {enough} tokens")
        return "; ".join(parts)


def _compare(line: Line, agreement: Agreement) -> CheckResult:
    acceptance = agreement.acceptance
    prefixes = _Prefixes(
        [Interval.of(p) for p in agreement.common_prefix_tokens], agreement.whole_tokens
    )
    if not prefixes.count and len(acceptance) != 2:
        raise lacking("common prefixes, or the acceptance of both arms")
    shift = abs(acceptance[0] - acceptance[1]) if len(acceptance) == 2 else None
    parts = [prefixes.text()] if prefixes.count else []
    if shift is not None:
        parts.append(
            f"acceptance {show(acceptance[0])} and {show(acceptance[1])}, "
            f"{show(100 * shift, 2)} points apart, at most 3"
        )
    share = limit("agreement.share")
    short = prefixes.count > 0 and prefixes.early >= share * prefixes.count
    moved = shift is not None and shift > limit("agreement.acceptance")
    undecided = prefixes.count > 0 and prefixes.late <= share * prefixes.count
    if undecided and not short and shift is None:
        raise lacking(f"longer answers ({prefixes.text()})")
    return line.judged(
        "diverges" if short or moved else "agrees",
        "; ".join(parts),
        prefixes.value if prefixes.count else shift,
        "tokens" if prefixes.count else "ratio",
        quotable="bound" if prefixes.count and not prefixes.parted else "yes",
        caveats=["too few answers are long enough to tell"] if undecided and not short else [],
    )
