"""A bandwidth or a target was divided or multiplied by the number of cards, for a split that takes turns.

## What it checks
With a layer split, a decode rate that is registered or predicted for one stream is not within 2 %
of the ceiling times, or divided by, the number of cards.

## Why it misleads
In a layer split one card reads while the others wait, and while it reads it reads at its full rate.
The ceiling is that of one card, whatever their number: three cards are neither three times as fast
nor a third.

## Bad
```yaml
hardware:
  devices:
    - {id: gpu0, name: A100, memory_bandwidth: 1555 GB/s}
    - {id: gpu1, name: A100, memory_bandwidth: 1555 GB/s}
model: {name: 8B, source: served, bytes_per_token: 5 GB}
hypotheses:
  - id: H1
    claim: Two cards reach their ceiling.
    prediction: 622  # warning: BS408
    test: {metric: stream_tok_s, at: {concurrency: 1}, relation: ">=", value: 200}
```

## Good
```yaml
hardware:
  devices:
    - {id: gpu0, name: A100, memory_bandwidth: 1555 GB/s}
    - {id: gpu1, name: A100, memory_bandwidth: 1555 GB/s}
model: {name: 8B, source: served, bytes_per_token: 5 GB}
hypotheses:
  - id: H1
    claim: Two cards reach their ceiling.
    prediction: 260
    test: {metric: stream_tok_s, at: {concurrency: 1}, relation: ">=", value: 200}
```

## Fix
For a layer split divide the bytes by one card's bandwidth; for a tensor split by the sum.

## References
The judge's bandwidth-ceiling check: docs/checks.md.
"""

from collections.abc import Iterator

from benchspec.lint import physics
from benchspec.lint.arm import Arm
from benchspec.lint.figures import registered, shown
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, Tested
from benchspec.spec.problems import Path

RULE = Rule("BS408", "divided-by-cards", "warning")

_CLOSE = 0.02


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per figure and arm."""
    for tested in subject.tests:
        if tested.uses == "stream_tok_s" and tested.test.over is None:
            for arm in subject.looked_at(tested):
                yield from _figures(tested, arm)


def _figures(tested: Tested, arm: Arm) -> Iterator[Fact]:
    read, rate, cards = physics.bytes_per_token(arm), physics.bandwidth(arm), len(arm.devices)
    if read is None or rate is None or physics.split(arm) != "layer":
        return
    ceiling = (rate.low + rate.high) / (read.low + read.high)
    for path, value in _stated(tested):
        for factor, word in ((cards, "times"), (1 / cards, "divided by")):
            if abs(value / (ceiling * factor) - 1) <= _CLOSE:
                yield Fact(
                    f"{shown(value)} tok/s is {word} {cards} the ceiling of {shown(ceiling)}, but a "
                    "layer split reads at one card's rate, one card after the other.",
                    path,
                    f"the ceiling of this split is {shown(ceiling)} tok/s",
                    arms=(arm.id,),
                    affects=(tested.id,),
                )


def _stated(tested: Tested) -> Iterator[tuple[Path, float]]:
    value = registered(tested.test.value, tested.uses)
    predicted = registered(tested.hypothesis.prediction, tested.uses)
    if value:
        yield (*tested.path, "test", "value"), value.high
    if predicted:
        yield (*tested.path, "prediction"), predicted.high
