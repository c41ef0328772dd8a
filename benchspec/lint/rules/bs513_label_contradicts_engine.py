"""The label says one thing about speculation or slots, the engine's flags another.

## What it checks
`label.speculation: none` against flags that turn speculation on, and the other way round;
`label.slots` against the declared slots.

## Why it misleads
The label is printed beside every rate. A rate with speculation that says "none" is compared with
plain ones.

## Bad
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off", spec-type: draft-mtp}
workload:
  label: {material: english-prose, context_tokens: 128, speculation: none}  # warning: BS513
  prompt: {tokens: 64, unique: true}
  output: {tokens: 64, forced: true}
  sampling: {temperature: 0}
```

## Good
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags: {parallel: 4, ctx-size: 8192, n-gpu-layers: 99, fit: "off", spec-type: draft-mtp}
workload:
  label: {material: english-prose, context_tokens: 128, speculation: mtp k=3}
  prompt: {tokens: 64, unique: true}
  output: {tokens: 64, forced: true}
  sampling: {temperature: 0}
```

## Fix
Correct the label, in the arm that differs: `workload: {label: {speculation: mtp k=3}}`.

## References
The judge's identity check: docs/checks.md.
"""

from collections.abc import Iterator

from benchspec.lint.arm import Arm
from benchspec.lint.capacity import slots
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.speculation import SWITCH, speculates
from benchspec.lint.subject import Subject, names

RULE = Rule("BS513", "label-contradicts-engine", "warning")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per arm and word."""
    for arm in subject.arms:
        for key, said, found, setting in _contradictions(arm):
            yield Fact(
                f"The label of arm {arm.id} says {key} {said}, and the engine's flags say {found}.",
                arm.part("workload", "label", key),
                "correct the label of this arm",
                related=((arm.place(setting), "the engine's flags"),),
                arms=names([arm]),
                affects=subject.affected([arm]),
            )


def _contradictions(arm: Arm) -> Iterator[tuple[str, object, str, str]]:
    label = arm.workload.label
    if label is None or arm.kind not in SWITCH:
        return
    claims = label.speculation is not None and label.speculation.lower() not in (
        "none",
        "no",
        "off",
    )
    if label.speculation is not None and not claims and speculates(arm):
        yield "speculation", label.speculation, "that it speculates", SWITCH[arm.kind]
    if claims and arm.stated_in_full and not speculates(arm):
        yield "speculation", label.speculation, "nothing of it", SWITCH[arm.kind]
    count = slots(arm)
    if label.slots is not None and count is not None and label.slots != count:
        yield "slots", label.slots, str(count), arm.slot_setting or ""
