"""speculation: does drafting pay, and because of what?

Needs: for an arm and its control the tokens per pass (stated, or k and acceptance) and the time per
pass (stated, or from the rate).

Division: gain = (tokens per pass / tokens per pass of the control) x (time per pass of the control /
time per pass). Tokens per pass = 1 + k x acceptance, acceptance being accepted / drafted and k the
drafts without the token that the model gives itself. Break-even acceptance against a plain control:
(t_pass / t_plain - 1) / k.

Readings
  gain         more than 1.02
  loss         less than 0.98
  break-even   between

Silent when: k or the acceptance is not known; no arm is the control.

Value: the gain. A better rate can be luck with the text: the first factor is acceptance, the second
is what a change did. Text that goes round in circles is guessed easily: the gain on it is not
quotable (see output-sanity). Source: definition; a speculative pass verifies k drafts at once.
"""

from __future__ import annotations

from benchspec.judge import figures
from benchspec.judge.case import Case, measured, need
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, not_applicable
from benchspec.judge.result import CheckResult
from benchspec.judge.texts import garbage
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Step

NAME = "speculation"
READINGS = ("gain", "loss", "break-even")
NEEDS = "tokens per pass and time per pass of an arm and its control"
RATE = True


def check(case: Case) -> list[CheckResult]:
    """One result per step of an arm that drafts and has a control."""
    controls = {arm: a.id for a in case.arms.values() for arm in a.control_for}

    def divide(line: Line, step: Step) -> CheckResult:
        control = controls.get(step.arm)
        if control is None or not _drafts(case, step):
            raise not_applicable("nothing is drafted, or there is no control")
        plain = case.partner(step, f"arm {control}", arm=control)
        return _divide(case, line, step, plain)

    if not any(arm and _speculates(case, arm) for arm in controls):
        return []
    return [
        r
        for r in case.per_repeat(NAME, divide, rate=RATE)
        if r.arm in controls and _speculates(case, r.arm)
    ]


def _speculates(case: Case, arm: str) -> bool:
    return any(_drafts(case, s) for p in case.places if p.arm == arm for s in case.steps(p))


def _drafts(case: Case, step: Step) -> bool:
    return bool(
        step.tokens_per_round is not None
        or figures.overall_acceptance(step) is not None
        or case.setup(step.arm).drafts(step)
    )


def _divide(case: Case, line: Line, step: Step, plain: Step) -> CheckResult:
    k, k_plain = case.setup(step.arm).drafts(step), case.setup(plain.arm).drafts(plain)
    missing = f"the acceptance (k is {k})" if k else "k, the drafts per pass, and the acceptance"
    each = need(figures.tokens_per_round(step, k), missing)
    base = need(figures.tokens_per_round(plain, k_plain), "the control's drafts and acceptance")
    time = need(figures.step_ms(step, k), "the time per pass")
    time_plain = need(figures.step_ms(plain, k_plain), "the control's time per pass")
    tokens, passes = each / base, time_plain / time
    gain = tokens * passes
    text = (
        f"tokens per pass {show(each, 3)} / {show(base, 3)} = {show(tokens)} x time per pass "
        f"{show(time_plain)} / {show(time)} ms = {show(passes)}: {show(gain)}"
    )
    spoilt = garbage(case, [step])
    if k and base.high == 1:
        text += f"; pays above an acceptance of {show((time / time_plain - 1) / k, 2)}"
    return line.judged(
        _read(gain),
        text,
        gain,
        "ratio",
        inputs=[
            measured("tokens per pass", each, "tokens", step),
            measured("time per pass", time, "ms", step),
            measured("tokens per pass, control", base, "tokens", plain),
            measured("time per pass, control", time_plain, "ms", plain),
        ],
        quotable="no" if spoilt else "yes",
        caveats=[spoilt] if spoilt else [],
    )


def _read(gain: Interval) -> str:
    even = limit("speculation.even")
    if gain.low > 1 + even:
        return "gain"
    return "loss" if gain.high < 1 - even else "break-even"
