"""traffic-symmetry: does traffic flow one way, as in a pipeline, or both ways, as in a collective?

Needs: the sent MB/s of two devices in the same phase.

Division: larger mean / smaller mean [MB/s over MB/s].

Readings
  pipeline   > 5: one device sends to the other (layer or pipeline split)
  tensor     < 2: both send alike (tensor split)

Silent when: one device only; the ratio lies between 2 and 5; a device sent nothing at all.

Value: the ratio. Source: a layer split passes activations down the chain, an all-reduce exchanges
them. It contradicts a declared split when it reads the other one.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchspec.judge.case import Case
from benchspec.judge.channels import TRAFFIC, Channel, by_place
from benchspec.judge.interval import show
from benchspec.judge.lines import Line, lacking
from benchspec.judge.result import CheckResult
from benchspec.judge.thresholds import limit

NAME = "traffic-symmetry"
READINGS = ("pipeline", "tensor")
NEEDS = "the sent traffic of two devices"
RATE = False

_MEANS = {"layer": "pipeline", "pipeline": "pipeline", "tensor": "tensor"}


def check(case: Case) -> list[CheckResult]:
    """One result per arm and phase in which two devices or more sent something."""
    groups = by_place(case.channels(*(name for name in TRAFFIC if name.endswith("tx"))))
    return [_judge(case, group) for group in groups.values() if len(group) > 1]


def _judge(case: Case, group: Sequence[Channel]) -> CheckResult:
    line = Line(NAME, group[0].arm, group[0].at)
    sent = sorted(group, key=lambda c: c.middle.mid)
    least, most = sent[0], sent[-1]
    if least.middle.low <= 0:
        return line.silent(lacking("traffic of every device above zero"))
    ratio = most.middle / least.middle
    if limit("symmetry.tensor") <= ratio.mid <= limit("symmetry.pipeline"):
        return line.silent(lacking(f"a clear direction: the ratio of sends is {show(ratio, 3)}"))
    reading = "pipeline" if ratio.mid > limit("symmetry.pipeline") else "tensor"
    declared = case.setup(group[0].arm or "").split
    contradicts = _MEANS.get(declared or "") not in (None, reading)
    return line.judged(
        reading,
        f"{most.device} {show(most.middle)} / {least.device} {show(least.middle)} MB/s = "
        f"{show(ratio, 3)}",
        ratio,
        "ratio",
        inputs=[c.as_input() for c in group],
        caveats=[f"contradicts the declared {declared} split"] if contradicts else [],
    )
