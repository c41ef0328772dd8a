"""output-sanity: are the answers text at all?

Needs: how many answers were looked at, how many repeat themselves without end, and how many ended at
the token limit.

Division: degenerate / answers; truncated / answers.

Readings
  degenerate   more than a tenth repeat themselves: the rate of such text is not quotable, and it
               inflates the acceptance of a drafter
  sane         fewer

Silent when: the answers were not looked at.

Value: the degenerate share. Truncation above 2 % is a caveat: it decides questions in an evaluation.
Source: this project's case studies (97 % of one model's answers were question marks).
"""

from __future__ import annotations

from benchspec.judge.case import Case
from benchspec.judge.interval import show
from benchspec.judge.lines import Line, lacking
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Outputs

NAME = "output-sanity"
READINGS = ("sane", "degenerate")
NEEDS = "how many answers were looked at, and how many are degenerate"
RATE = False


def check(case: Case) -> list[CheckResult]:
    """One result per set of answers."""
    return [_judge(outputs) for outputs in case.observations.outputs]


def _judge(outputs: Outputs) -> CheckResult:
    line = Line(NAME, outputs.arm, {"prompts": outputs.prompts} if outputs.prompts else {})
    if outputs.count < 1 or outputs.degenerate is None:
        return line.silent(lacking("answers that were looked at"))
    share = outputs.degenerate / outputs.count
    bad = share > limit("sanity.degenerate")
    text = f"{outputs.degenerate} / {outputs.count} degenerate = {show(100 * share, 3)} %"
    caveats = ["the rate of degenerate text is not quotable"] if bad else []
    if outputs.truncated is not None:
        cut = outputs.truncated / outputs.count
        text += f"; {outputs.truncated} truncated = {show(100 * cut, 2)} %"
        if cut > limit("sanity.truncated"):
            caveats.append(f"{show(100 * cut, 2)} % ended at the token limit")
    return line.judged(
        "degenerate" if bad else "sane",
        text,
        share,
        "ratio",
        inputs=[Input(name="answers", value=float(outputs.count))],
        quotable="no" if bad else "yes",
        caveats=caveats,
    )
