"""output-agreement: do two arms compute the same thing?

Needs: greedy answers of two arms to the same prompts (common prefix in tokens), or the acceptance of
the same drafter in both.

Division: shortest common prefix [tokens] against 100; difference of acceptance against 3 points.

Readings
  agrees     every common prefix is at least 100 tokens, and acceptance moves by at most 3 points
  diverges   one is shorter, or acceptance moves by more: an error in an engine shows there first

Silent when: neither is known.

Value: the shortest common prefix in tokens, else the shift of acceptance. Source: rounding flips a
greedy token after hundreds, an error within a few; this project's case studies (229 and 551 tokens;
an acceptance that fell with a wrong kernel).
"""

from __future__ import annotations

from benchspec.judge.case import Case
from benchspec.judge.interval import show
from benchspec.judge.lines import Line, attempt, lacking
from benchspec.judge.result import CheckResult
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Agreement

NAME = "output-agreement"
READINGS = ("agrees", "diverges")
NEEDS = "greedy answers of two arms to the same prompts, or the acceptance of both"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per pair of arms."""
    return [_judge(agreement) for agreement in case.observations.agreement]


def _judge(agreement: Agreement) -> CheckResult:
    first = agreement.arms[0] if agreement.arms else None
    line = Line(NAME, first, {"against": " ".join(agreement.arms[1:])})
    return attempt(line, lambda: _compare(line, agreement), agreement)


def _compare(line: Line, agreement: Agreement) -> CheckResult:
    prefixes, acceptance = agreement.common_prefix_tokens, agreement.acceptance
    if not prefixes and len(acceptance) != 2:
        raise lacking("common prefixes, or the acceptance of both arms")
    shift = abs(acceptance[0] - acceptance[1]) if len(acceptance) == 2 else None
    parts = []
    if prefixes:
        parts.append(f"common prefix {', '.join(str(p) for p in prefixes)} tokens, at least 100")
    if shift is not None:
        parts.append(
            f"acceptance {show(acceptance[0])} and {show(acceptance[1])}, "
            f"{show(100 * shift, 2)} points apart, at most 3"
        )
    short = bool(prefixes) and min(prefixes) < limit("agreement.prefix")
    moved = shift is not None and shift > limit("agreement.acceptance")
    return line.judged(
        "diverges" if short or moved else "agrees",
        "; ".join(parts),
        float(min(prefixes)) if prefixes else shift,
        "tokens" if prefixes else "ratio",
    )
