"""Throughput is claimed from rates that requests report about themselves.

## What it checks
A hypothesis does not use a rate that a server prints per request (`predicted_per_second`,
`eval_rate`, `tokens_per_second` and their like), and does not use `stream_tok_s` with several
requests in flight as the only evidence for throughput. In an audit: a step has a wall time or
requests, not only a rate.

## Why it misleads
A request's own rate starts when it is served. Time spent waiting for a slot is not in it, so four
requests that were served one after the other each report the full rate, and their sum is four times
what was delivered.

## Bad
```yaml
hypotheses:
  - id: H1
    claim: Four streams together reach 300 tok/s.
    test:
      metric: predicted_per_second  # error: BS206
      at: {concurrency: 4}
      relation: ">="
      value: 75
```

## Good
```yaml
hypotheses:
  - id: H1
    claim: Four streams together reach 300 tok/s.
    test: {metric: aggregate_tok_s, at: {concurrency: 4}, relation: ">=", value: 300}
```

## Fix
Use `aggregate_tok_s`: all tokens divided by the time from the first dispatch to the last
completion.

## References
llama.cpp, tools/server: `timings.predicted_per_second` counts a slot's own time only.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, Tested
from benchspec.spec.models import SELF_REPORTED

RULE = Rule("BS206", "self-reported-rate", "error")

_SEES_THE_QUEUE = frozenset(
    {"aggregate_tok_s", "wall_s", "e2e_s", "queueing", "completion-shape", "scaling", "slots-moved"}
)


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per hypothesis, and one per observed step."""
    for tested in subject.tests:
        if _blind(tested, subject):
            yield Fact(
                f"{tested.id} rests on a rate that a request reports about itself; the "
                "time that it waited is not in it.",
                (*tested.path, "test", "metric"),
                "use `aggregate_tok_s`, or add a hypothesis with it at the same concurrency",
                affects=(tested.id,),
            )
    for index, step in enumerate(subject.observed):
        if _only_a_rate(step):
            yield Fact(
                "This step has per-request rates and no wall time, so nothing says what was "
                "delivered.",
                ("observations", "steps", index),
                "add `wall_s`, or `requests` with `start_s` and `end_s`",
                affects=subject.affected(),
            )


def _blind(tested: Tested, subject: Subject) -> bool:
    if tested.uses in SELF_REPORTED:
        return True
    at, over = tested.test.at.concurrency or 1, tested.test.over
    if tested.uses != "stream_tok_s" or at == 1 or tested.test.relation not in (">=", ">"):
        return False
    if over is not None and over.concurrency in (None, at):
        return False  # two arms with the same number in flight: no throughput is claimed
    return not any(_witness(other, at) for other in subject.tests)


def _witness(tested: Tested, concurrency: int) -> bool:
    return tested.uses in _SEES_THE_QUEUE and tested.test.at.concurrency in (None, concurrency)


def _only_a_rate(step: dict[str, object]) -> bool:
    rates = {"stream_tok_s", "self_reported_tok_s"} & step.keys()
    delivered = {"wall_s", "requests", "aggregate_tok_s", "completions_s"} & step.keys()
    return step.get("concurrency", 1) != 1 and bool(rates) and not delivered
