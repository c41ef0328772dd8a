"""A net cost is claimed without the arm that it is net of.

## What it checks
A hypothesis with `check: control` looks at an arm for which another arm is the control
(`control_for`). And where two or more arms are compared on traffic (`link-load`,
`expected-traffic`), some arm is a control.

## Why it misleads
The traffic of a tensor split contains what any run of that model moves. Only the difference to an
arm that does the same without the all-reduce is its cost.

## Bad
```yaml
arms:
  - {id: B, engine: {flags: {split-mode: layer}}}
  - {id: C, engine: {flags: {split-mode: tensor}, env: {GGML_CUDA_ALLREDUCE: internal}}}
hypotheses:
  - id: H1
    claim: The all-reduce costs less than 100 MB/s in decode.
    test: {check: control, at: {arm: C, phase: decode}, relation: "<", value: 100}  # error: BS502
telemetry: {sources: [nvml], counters: [pcie], interval: 100 ms, idle_baseline: 8 s}
```

## Good
```yaml
arms:
  - {id: B, engine: {flags: {split-mode: layer}}, control_for: C}
  - {id: C, engine: {flags: {split-mode: tensor}, env: {GGML_CUDA_ALLREDUCE: internal}}}
hypotheses:
  - id: H1
    claim: The all-reduce costs less than 100 MB/s in decode.
    test: {check: control, at: {arm: C, phase: decode}, relation: "<", value: 100}
telemetry: {sources: [nvml], counters: [pcie], interval: 100 ms, idle_baseline: 8 s}
```

## Fix
Name the control: `control_for` in the arm that differs only in what is to be costed.

## References
The judge's control check: docs/checks.md.
"""

from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject

RULE = Rule("BS502", "no-control-arm", "error")

_TRAFFIC = frozenset({"link-load", "expected-traffic"})


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per hypothesis."""
    controlled = {other for arm in subject.arms for other in arm.control_for}
    for tested in subject.tests:
        wanted = {arm.id for arm in subject.looked_at(tested)}
        if tested.uses == "control" and not wanted & controlled:
            yield Fact(
                f"{tested.id} asks for a net cost, and no arm is the control.",
                (*tested.path, "test"),
                "write `control_for` in the arm that lacks only what is to be costed",
                affects=(tested.id,),
            )
        elif tested.uses in _TRAFFIC and len(subject.arms) > 1 and not controlled:
            yield Fact(
                f"{tested.id} is about traffic, and no arm is the control for the others.",
                ("arms",),
                "write `control_for` in the arm that lacks only what is studied",
                affects=(tested.id,),
                severity="warning",
            )
