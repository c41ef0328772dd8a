"""A percentile is asked of too few requests.

## What it checks
A metric with a percentile (`ttft_ms.p99`) has at least 5 requests beyond it in each repeat: 100 for
p95, 500 for p99. Below one request beyond it, where the percentile is the largest value, it is an
error.

## Why it misleads
The p99 of twenty requests is their maximum. It moves with the number of requests, so a longer run
looks worse than a short one of the same server.

## Bad
```yaml
hypotheses:
  - id: H1
    claim: The 95th percentile of the first-token time stays under 200 ms with four streams.
    test: {metric: ttft_ms.p95, at: {concurrency: 4}, relation: "<", value: 200}  # error: BS211
load:
  mode: sustained
  concurrency: [1, 4, 8]
  requests: 16
```

## Good
```yaml
hypotheses:
  - id: H1
    claim: The 95th percentile of the first-token time stays under 200 ms with four streams.
    test: {metric: ttft_ms.p95, at: {concurrency: 4}, relation: "<", value: 200}
load:
  mode: sustained
  concurrency: [1, 4, 8]
  requests: 100
```

## Fix
Send more requests, or ask for a lower percentile.

## References
Order statistics: the count beyond the p-quantile of n is binomial (n, 1 - p); with a mean of 5 it
is below 1 in under 1 % of samples.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, Tested

RULE = Rule("BS211", "too-few-requests-for-percentile", "warning", applies="run")

_BEYOND = 5


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per hypothesis."""
    for tested in subject.tests:
        percentile = (tested.test.metric or "").partition(".p")[2]
        count = _requests(subject, tested)
        if not percentile or count is None:
            continue
        beyond = count * (100 - float(percentile)) / 100
        if _BEYOND - beyond > 0 and float(percentile) > 50:
            needed = round(_BEYOND * 100 / max(100 - float(percentile), 0.01))
            yield Fact(
                f"p{percentile} of {count} requests has {beyond:g} beyond it.",
                (*tested.path, "test", "metric"),
                f"send {needed} requests per step, or ask for a lower percentile",
                related=((("load",), f"{count} requests per step and repeat"),),
                affects=(tested.id,),
                severity="error" if beyond < 1 else None,
            )


def _requests(subject: Subject, tested: Tested) -> int | None:
    """Requests of one step and repeat; None where that is not known before the run."""
    load = subject.spec.load
    if load.requests:
        return load.requests
    if load.duration and load.rate:
        return int(load.duration.low * (tested.test.at.rate or min(load.rate)))
    if load.duration or not subject.concurrency:
        return None
    return tested.test.at.concurrency or subject.concurrency[0]
