"""The target is faster than the memory can deliver the weights.

## What it checks
A hypothesis that one stream decodes at least so many tokens a second, against the bandwidth of the
arm's devices: rate x bytes per token = bandwidth needed. Above 65 % of the bandwidth for a mixture
of experts, or 90 % for a dense model, it is a warning; above 100 % an error. With speculation
several tokens share one reading, so there nothing is said. A prefill target is set against
`compute`: rate x 2 x parameters.

## Why it misleads
A target nobody can reach makes the measured figure look like a failure of the engine. The division
takes a minute and can be done before the work.

## Bad
```yaml
model:
  name: 35B with 3B active, 4 bit
  source: served
  parameters: {total: 35e9, active: 3e9}
  bytes_per_token: 1.849 GB
hardware:
  devices:
    - {id: gpu0, name: Apple M1 Max, memory_bandwidth: 265..315 GB/s, source: measured}
hypotheses:
  - id: H1
    claim: An own engine reaches 125 tok/s.
    test:
      metric: stream_tok_s
      at: {concurrency: 1}
      relation: ">="
      value: 125  # warning: BS105
```

## Good
```yaml
model:
  name: 35B with 3B active, 4 bit
  source: served
  parameters: {total: 35e9, active: 3e9}
  bytes_per_token: 1.849 GB
hardware:
  devices:
    - {id: gpu0, name: Apple M1 Max, memory_bandwidth: 265..315 GB/s, source: measured}
hypotheses:
  - id: H1
    claim: An own engine reaches 90 tok/s.
    test: {metric: stream_tok_s, at: {concurrency: 1}, relation: ">=", value: 90}
```

## Fix
Lower the target, read fewer bytes (a smaller quantisation, fewer active experts), or share a
reading among several tokens (a batch, speculation). If you believe the target, check bandwidth and
bytes.

## References
Williams, Waterman, Patterson, Roofline, CACM 52 (2009).
"""

from collections.abc import Iterator

from benchspec.lint import physics
from benchspec.lint.arm import Arm
from benchspec.lint.figures import Interval, of, registered, shown
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.speculation import speculates
from benchspec.lint.subject import Subject, Tested
from benchspec.spec.problems import Path

RULE = Rule("BS105", "target-beyond-physics", "warning")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per target and arm."""
    for tested in subject.tests:
        for path, target in _targets(tested):
            for arm in subject.looked_at(tested):
                fact = _decode(subject, tested, path, target, arm) or _prefill(
                    tested, path, target, arm
                )
                if fact:
                    yield fact


def _targets(tested: Tested) -> Iterator[tuple[Path, Interval]]:
    """The threshold, or else the prediction, of a claim to reach a rate."""
    test = tested.test
    if test.over is not None or test.relation not in (">=", ">", "=="):
        return
    value = registered(test.value, tested.uses)
    predicted = registered(tested.hypothesis.prediction, tested.uses)
    if value is not None:
        yield (*tested.path, "test", "value"), value
    if predicted is not None and (value is None or predicted.high > value.high):
        yield (*tested.path, "prediction"), predicted


def _decode(
    subject: Subject, tested: Tested, path: Path, target: Interval, arm: Arm
) -> Fact | None:
    if not _reads_alone(tested, subject) or speculates(arm):
        return None
    read, rate = physics.bytes_per_token(arm), physics.bandwidth(arm)
    if read is None or rate is None:
        return None
    needed = Interval(target.low * read.low, target.high * read.high)
    share = Interval(needed.low / rate.high, needed.high / rate.low)
    reach = physics.MOE_REACH if physics.is_moe(arm) else physics.DENSE_REACH
    if share.low <= reach:
        return None
    return Fact(
        f"{target} tok/s x {_bytes(arm, read)} = {_gb(needed)} GB/s = {_percent(share)} % of "
        f"{_gb(rate)} GB/s; such a decode is known to reach {reach * 100:.0f} %.",
        path,
        "lower the target, or read fewer bytes per token",
        related=_origins(arm),
        arms=(arm.id,),
        affects=(tested.id,),
        severity="error" if share.low > 1 else None,
    )


def _reads_alone(tested: Tested, subject: Subject) -> bool:
    """True for a rate that no batch can raise: that of a stream, or of all where there is one."""
    alone = tested.test.at.concurrency == 1 or subject.concurrency == [1]
    return tested.uses == "stream_tok_s" or (tested.uses == "aggregate_tok_s" and alone)


def _prefill(tested: Tested, path: Path, target: Interval, arm: Arm) -> Fact | None:
    parameters = arm.model.parameters
    peaks = [of(device.compute) for device in arm.devices if device.compute]
    active = (parameters.active or parameters.total) if parameters else None
    if tested.uses != "prefill_tok_s" or not active or len(peaks) < max(1, len(arm.devices)):
        return None
    needed = target.low * 2 * active
    peak = sum(p.high for p in peaks)
    if needed <= peak:
        return None
    return Fact(
        f"{shown(target.low)} tok/s x 2 x {active / 1e9:g}e9 = {shown(needed / 1e12)} TFLOP/s, "
        f"and the devices have {shown(peak / 1e12)}.",
        path,
        "lower the target",
        arms=(arm.id,),
        affects=(tested.id,),
        severity="error",
    )


def _origins(arm: Arm) -> tuple[tuple[Path, str], ...]:
    return (
        (arm.part("model"), "the bytes per token"),
        (arm.part("devices", 0), "the bandwidth"),
    )


def _bytes(arm: Arm, read: Interval) -> str:
    """As the author wrote it, where they did."""
    stated = arm.model.bytes_per_token
    return str(stated) if stated else f"{_gb(read)} GB"


def _gb(value: Interval) -> str:
    return str(Interval(value.low / 1e9, value.high / 1e9))


def _percent(share: Interval) -> str:
    low, high = f"{share.low * 100:.0f}", f"{share.high * 100:.0f}"
    return low if low == high else f"{low}-{high}"
