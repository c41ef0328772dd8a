"""token-count: are the tokens that a rate counts the tokens that came, one at a time?

Needs: of a step two counts of the same tokens: asked for, counted by the server, counted again from
the text, pieces received or the time between them, or a rate by the client and one by the server.

Division, whichever can be made: counted again / counted; tokens / pieces; rate x time between
pieces; rate of the client / of the server; (tokens - reasoning) / (latency - first token) against
reasoning / (first token - first token of any kind); tokens / tokens asked for.

Readings
  empty              nothing came: what is printed are the tokens asked for
  buffered           ten tokens or more in a piece: times between pieces are not times of tokens
  late-first-token   tokens before the "first" one came at the rate of those after it: the clock
                     stopped at a later token (after reasoning), and a rate over the rest is too high
  miscounted         two counts, or two rates, of the same tokens differ by more than a tenth, or more
                     came than the length that was asked for allows
  short              answers ended before the length that was asked for (under 95 %)
  agree              none of these

Silent when: there is only one count.

Value: the quotient. Source: definitions; a token decoded before or after a mark costs the same time.
"""

from __future__ import annotations

from collections.abc import Callable

from benchspec.judge import figures
from benchspec.judge.case import Case, measured
from benchspec.judge.interval import Interval, show
from benchspec.judge.lines import Line, lacking
from benchspec.judge.result import CheckResult, Input
from benchspec.judge.thresholds import limit
from benchspec.observations.model import Step

NAME = "token-count"
READINGS = ("empty", "buffered", "late-first-token", "miscounted", "short", "agree")
NEEDS = "two counts of the same tokens, or two rates"
RATE = False

_Said = tuple[str, str, Interval, list[Input]]
"""Reading, division, quotient, inputs."""


def check(case: Case) -> list[CheckResult]:
    """One result per arm and step with two counts."""

    def divide(line: Line, step: Step) -> CheckResult:
        said = [found for compare in _COMPARE if (found := compare(step)) is not None]
        if not said:
            raise lacking("a second count of the same tokens")
        reading, _, value, _ = min(said, key=lambda one: READINGS.index(one[0]))
        return line.judged(
            reading,
            "; ".join(text for _, text, _, _ in said),
            value,
            "ratio",
            inputs=[i for _, _, _, inputs in said for i in inputs],
        )

    return [r for r in case.per_repeat(NAME, divide) if r.state != "insufficient"]


def _recounted(step: Step) -> _Said | None:
    again, total = step.tokens_recounted, figures.tokens(step) or _asked_in_all(step)
    if again is None or not total:
        return None
    ratio = Interval.of(again / total)
    reading = "empty" if again == 0 else _differ(ratio)
    text = f"{show(again)} tokens in the text / {show(total)} counted = {show(ratio)}"
    return reading, text, ratio, [measured("counted again", again, "tokens", step)]


def _asked_in_all(step: Step) -> float | None:
    sent = figures.sent(step)
    return step.tokens_asked * sent if step.tokens_asked and sent else None


def _pieces(step: Step) -> _Said | None:
    total = figures.tokens(step)
    if not step.chunks or not total:
        return None
    each = Interval.of(total / step.chunks)
    reading = "buffered" if each.low >= limit("tokens.buffered") else "agree"
    text = f"{show(total)} tokens / {show(step.chunks)} pieces = {show(each)} a piece"
    return reading, text, each, [measured("pieces", step.chunks, "pieces", step)]


def _gaps(step: Step) -> _Said | None:
    gap, rate = figures.stated(step.gap_ms), figures.stream_tok_s(step)
    if gap is None or rate is None:
        return None
    each = rate * gap * 1e-3
    reading = "buffered" if each.low >= limit("tokens.buffered") else "agree"
    text = f"{show(rate)} tok/s x {show(gap)} ms between pieces = {show(each)} tokens a piece"
    return reading, text, each, [measured("time between pieces", gap, "ms", step)]


def _late(step: Step) -> _Said | None:
    before, each = step.reasoning_tokens, figures.tokens_per_request(step)
    first, whole = figures.ttft_ms(step), figures.latency_s(step)
    if not before or not each or first is None or whole is None or each <= before:
        return None
    opened = figures.stated(step.server_ttft_ms) or Interval.of(0.0)
    rest, thinking = whole - first * 1e-3, (first - opened) * 1e-3
    after, ahead = (each - before) / rest, before / thinking
    ratio = ahead / after
    near = limit("tokens.same-rate")
    reading = "late-first-token" if 1 - near <= ratio.mid <= 1 + near else "agree"
    text = (
        f"{show(before)} tokens before the first in {show(thinking)} s = {show(ahead)} tok/s, "
        f"{show(each - before)} after it in {show(rest)} s = {show(after)} tok/s; all of them after "
        f"it would be {show(each / rest)} tok/s"
    )
    return reading, text, ratio, [measured("tokens before the first", before, "tokens", step)]


def _rates(step: Step) -> _Said | None:
    theirs, ours = figures.stated(step.server_tok_s), figures.stream_tok_s(step)
    if theirs is None or ours is None:
        return None
    ratio = ours / theirs
    text = f"{show(ours)} tok/s by the client / {show(theirs)} by the server = {show(ratio)}"
    inputs = [measured("rate, server", theirs, "tok/s", step)]
    return _differ(ratio), text + _whole(step), ratio, inputs


def _whole(step: Step) -> str:
    """The rate over the whole request, which no choice of a first token can raise."""
    each, latency = figures.tokens_per_request(step), figures.latency_s(step)
    if each is None or latency is None:
        return ""
    return (
        f"; over the whole request {show(each)} / {show(latency)} s = {show(each / latency)} tok/s"
    )


def _asked(step: Step) -> _Said | None:
    each = figures.tokens_per_request(step)
    if not step.tokens_asked or each is None:
        return None
    ratio = Interval.of(each / step.tokens_asked)
    off = limit("tokens.length")
    reading = "short" if ratio.high < 1 - off else "miscounted" if ratio.low > 1 + off else "agree"
    text = f"{show(each)} tokens per answer / {show(step.tokens_asked)} asked = {show(ratio)}"
    inputs = [measured("tokens asked", step.tokens_asked, "tokens", step)]
    return reading, text, ratio, inputs


def _differ(ratio: Interval) -> str:
    off = limit("tokens.miscounted")
    return "agree" if ratio.low <= 1 + off and ratio.high >= 1 / (1 + off) else "miscounted"


_COMPARE: tuple[Callable[[Step], _Said | None], ...] = (
    _recounted,
    _pieces,
    _gaps,
    _late,
    _rates,
    _asked,
)
