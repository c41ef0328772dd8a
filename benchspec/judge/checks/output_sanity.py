"""output-sanity: are the answers text at all?

Needs: how many answers were looked at, how many repeat themselves without end, and how many ended at
the token limit. A run looks at every answer and keeps measures of it, not the text.

Division: degenerate / answers; truncated / answers. In a run an answer is degenerate when at least
half of its characters stand in loops (one block at least four times in a row, over at least 16
characters, white space counted as single spaces), or when its characters have less than 1.5 bits of
entropy each (one or two of them, in any order). Answers below 16 characters tell nothing and do not
count.

Readings
  degenerate   more than a tenth repeat themselves: the rate of such text is not quotable, and it
               inflates the acceptance of a drafter
  sane         fewer

Silent when: the answers were not looked at.

Where the length is forced, a small model that has said all it has goes round in circles, as it was
asked to. The finding stands, and the rate stays quotable: the work per token of a dense model does
not depend on the text (that of a mixture of experts does a little: streams that say the same share
experts). The rate is not quotable where tokens are drafted, nor anywhere where a word or less is
repeated (below 2.5 bits): that is a broken model, not a finished one. A hypothesis on a rate that is
not quotable for this reason is invalid.

Value: the degenerate share. Truncation above 2 % is a caveat: it decides questions in an evaluation;
where the length is forced, every answer ends at the limit, as asked.
Source: this project's case studies (97 % of one model's answers were question marks); Shannon, A
mathematical theory of communication (1948), for the entropy.
"""

from __future__ import annotations

from benchspec.judge import figures
from benchspec.judge.case import Case
from benchspec.judge.interval import show
from benchspec.judge.lines import Line, lacking
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.texts import degenerate, garbage, looked_at
from benchspec.judge.thresholds import limit
from benchspec.observations.answers import Outputs
from benchspec.observations.model import Step

NAME = "output-sanity"
READINGS = ("sane", "degenerate")
NEEDS = "how many answers were looked at, and how many are degenerate"
RATE = False

_NOT_QUOTABLE = "the rate of degenerate text is not quotable"
_FORCED = (
    "the length is forced, and a model that has said all it has goes round in circles: its time per "
    "token does not depend on that, but for experts that are shared more often"
)


def check(case: Case) -> list[CheckResult]:
    """One result per set of answers that somebody looked at, and per arm of a run."""
    found = [_judge(outputs) for outputs in case.observations.outputs]
    for arm in case.arm_ids:
        steps = [s for s in case.of_arm(arm) if any(r.text for r in s.requests)]
        if steps:
            found.append(_of_run(case, Line(NAME, arm), steps))
    return found


def _judge(outputs: Outputs) -> CheckResult:
    line = Line(NAME, outputs.arm, {"prompts": outputs.prompts} if outputs.prompts else {})
    return _divide(line, outputs, _NOT_QUOTABLE)


def _of_run(case: Case, line: Line, steps: list[Step]) -> CheckResult:
    texts = looked_at(steps)
    if not texts:
        shortest = show(limit("sanity.chars"))
        return line.silent(lacking(f"answers of at least {shortest} characters"))
    free = [r for s in steps if not case.forced(s) for r in figures.succeeded(s)]
    outputs = Outputs(count=len(texts), degenerate=sum(map(degenerate, texts)))
    cut = sum(r.finish_reason == "length" for r in free)
    return _divide(line, outputs, garbage(case, steps), (cut, len(free)) if free else None)


def _divide(
    line: Line, outputs: Outputs, spoilt: str | None, cut: tuple[int, int] | None = None
) -> CheckResult:
    """`spoilt` says why a degenerate text's rate is not quotable, None that it is; `cut` are the
    truncated answers and of how many, where that is not of all that were looked at."""
    if outputs.count < 1 or outputs.degenerate is None:
        return line.silent(lacking("answers that were looked at"))
    share = outputs.degenerate / outputs.count
    bad = share > limit("sanity.degenerate")
    text = f"{outputs.degenerate} / {outputs.count} degenerate = {show(100 * share, 3)} %"
    caveats = [spoilt or _FORCED] if bad else []
    if outputs.truncated is not None:
        cut = (outputs.truncated, outputs.count)
    if cut is not None:
        percent = show(100 * cut[0] / cut[1], 2)
        text += f"; {cut[0]} truncated = {percent} %"
        if cut[0] > limit("sanity.truncated") * cut[1]:
            caveats.append(f"{percent} % ended at the token limit")
    return line.judged(
        "degenerate" if bad else "sane",
        text,
        share,
        "ratio",
        inputs=[Input(name="answers", value=float(outputs.count))],
        quotable="no" if bad and spoilt else "yes",
        caveats=caveats,
    )
