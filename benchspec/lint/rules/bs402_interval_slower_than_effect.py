"""Samples are taken more slowly than what they are to show.

## What it checks
At least 10 samples fall into a step: `telemetry.interval` against `load.duration`, or against the
time that the forced output takes at half the memory's bandwidth. For the check `sampling` with the
reading `adequate` on a layer split, the interval is at most half of one card's turn: token time /
(2 x cards).

## Why it misleads
Three cards that take turns every 13 ms look, at one sample a second, as if they rose and fell
together. Twenty-five turns are inside each sample, so the picture is evidence for nothing.

## Bad
```yaml
load: {mode: sustained, concurrency: [1, 4, 8], duration: 5 s}
telemetry:
  sources: [nvml]
  counters: [utilization]
  interval: 1 s  # warning: BS402
  idle_baseline: 2 s
```

## Good
```yaml
load: {mode: sustained, concurrency: [1, 4, 8], duration: 30 s}
telemetry:
  sources: [nvml]
  counters: [utilization]
  interval: 200 ms
  idle_baseline: 2 s
```

## Fix
Shorten the interval or lengthen the step.

## References
The judge's sampling check: docs/checks.md; the sampling theorem.
"""

from collections.abc import Iterator

from benchspec.lint import physics
from benchspec.lint.arm import Arm
from benchspec.lint.figures import shown
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS402", "interval-slower-than-effect", "warning")

_WINDOWS = 10


def check(subject: Subject) -> Iterator[Fact]:
    """At most one fact about steps, and one per claim about alternation."""
    telemetry = subject.spec.telemetry
    if telemetry.interval is None or not telemetry.counters:
        return
    interval, step = telemetry.interval.high, _step_s(subject)
    if step is not None and step < _WINDOWS * interval:
        yield Fact(
            f"A step of {shown(step)} s has {step / interval:.0f} samples; a mean needs {_WINDOWS}.",
            ("telemetry", "interval"),
            f"sample every {shown(step / _WINDOWS * 1e3)} ms or faster, or lengthen the step",
            affects=subject.affected(),
        )
    yield from _alternation(subject, interval)


def _alternation(subject: Subject, interval: float) -> Iterator[Fact]:
    for tested in subject.tests:
        shape = tested.uses == "sampling" and "adequate" in (tested.test.expect or ())
        for arm in subject.looked_at(tested) if shape else []:
            token, cards = _token_s(arm), len(arm.devices)
            if token and cards > 1 and interval > token / (2 * cards):
                yield Fact(
                    f"{shown(token * 1e3)} ms per token / (2 x {cards} cards) = "
                    f"{shown(token / (2 * cards) * 1e3)} ms; at {shown(interval * 1e3)} ms the turns "
                    "of the cards cannot be seen.",
                    ("telemetry", "interval"),
                    "sample faster, or expect `blind`",
                    arms=(arm.id,),
                    affects=(tested.id,),
                )


def _step_s(subject: Subject) -> float | None:
    """How long the shortest step lasts, or at least may last."""
    if subject.spec.load.duration:
        return subject.spec.load.duration.high
    times = [
        2 * token * arm.workload.output.tokens
        for arm in subject.arms
        if (token := _token_s(arm)) and arm.workload.output.tokens
    ]
    return min(times, default=None)


def _token_s(arm: Arm) -> float | None:
    """Seconds per token where the memory is read at its full bandwidth."""
    read, rate = physics.bytes_per_token(arm), physics.bandwidth(arm)
    return read.low / rate.high if read and rate else None
