"""An open loop sends so few requests that its rate is not reached.

## What it checks
With `load.rate`, every step has a `duration` or `requests`, and at least 20 requests arrive at the
slowest rate.

## Why it misleads
Arrivals are random. Twenty Poisson arrivals already differ from the requested rate by 22 % in one
run of three; with five the load is whatever the seed says.

## Bad
```yaml
hypotheses:
  - id: H1
    claim: At two requests a second the first token comes within 300 ms.
    test: {metric: ttft_ms, at: {rate: 2}, relation: "<", value: 300}
load:
  rate: [2]
  arrival: poisson
  duration: 5 s  # warning: BS216
```

## Good
```yaml
hypotheses:
  - id: H1
    claim: At two requests a second the first token comes within 300 ms.
    test: {metric: ttft_ms, at: {rate: 2}, relation: "<", value: 300}
load:
  rate: [2]
  arrival: poisson
  duration: 60 s
```

## Fix
Lengthen `duration`, or give `requests`.

## References
The standard deviation of n Poisson arrivals is the square root of n.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS216", "open-loop-too-short", "warning", applies="run")

_FEWEST = 20


def check(subject: Subject) -> Iterator[Fact]:
    """At most one fact, about the slowest rate."""
    load = subject.spec.load
    if not load.rate:
        return
    slowest = min(load.rate)
    seconds = load.duration.low if load.duration else None
    count = load.requests or (int(seconds * slowest) if seconds else None)
    if count is not None and count >= _FEWEST:
        return
    stated = "requests" if load.requests else "duration" if load.duration else "rate"
    sends = "an unknown number of" if count is None else f"about {count}"
    yield Fact(
        f"At {slowest:g} requests a second this step sends {sends} requests.",
        ("load", stated),
        f"make it {_FEWEST} or more: `duration: {_FEWEST / slowest:g} s`",
        affects=subject.affected(),
    )
