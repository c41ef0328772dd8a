"""Answers may end where the model likes.

## What it checks
`workload.output.forced` is true and `output.tokens` says how long answers are. Ollama and mlx-lm
cannot be made to ignore the end of a text, so there the finding is only a remark.

## Why it misleads
A step takes as long as its longest answer. If lengths differ between steps, arms or repeats, times
compare texts and not servers, and completion times no longer show a queue.

## Bad
```yaml
workload:
  label: {material: english-prose, context_tokens: 128, speculation: none}
  prompt: {tokens: 64, unique: true}
  output: {tokens: 64}  # warning: BS205
```

## Good
```yaml
workload:
  label: {material: english-prose, context_tokens: 128, speculation: none}
  prompt: {tokens: 64, unique: true}
  output: {tokens: 64, forced: true}
```

## Fix
Write `forced: true`; benchspec then sends `ignore_eos` or what the engine calls it.

## References
vLLM and llama.cpp: request field `ignore_eos`.
"""

from collections.abc import Iterator

from benchspec.lint.arm import Arm
from benchspec.lint.finding import Severity
from benchspec.lint.fixes import Put
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, by_place, names

RULE = Rule("BS205", "output-length-not-forced", "warning")

_CANNOT = frozenset({"ollama", "mlx-lm"})
_NEEDS_EQUAL_LENGTHS = frozenset({"queueing", "completion-shape", "slots-moved", "wall_s", "e2e_s"})


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per output that is not forced."""
    if subject.seen and not subject.may_queue:
        return  # someone else's single stream: its rate does not depend on the length
    free = [arm for arm in subject.arms if arm.serves and _is_free(arm)]
    for path, arms in by_place(free, lambda arm: arm.part("workload", "output")):
        yield Fact(
            "The length of the answers is not forced, so times compare texts as well as servers.",
            path,
            _advice(arms[0]),
            arms=names(arms),
            affects=subject.affected(arms),
            severity=_severity(subject, arms[0]),
            fix=None if arms[0].kind in _CANNOT else Put(path, "forced", "true"),
        )


def _is_free(arm: Arm) -> bool:
    output = arm.workload.output
    return output.tokens != 1 and not (output.forced and output.tokens)


def _advice(arm: Arm) -> str:
    if arm.kind in _CANNOT:
        return f"{arm.kind} cannot force it: compare tokens per request before you compare times"
    if arm.workload.output.forced:
        return "add `tokens: N` to workload.output"
    return "add `forced: true` to workload.output"


def _severity(subject: Subject, arm: Arm) -> Severity | None:
    if arm.kind in _CANNOT:
        return "info"
    used = {tested.uses for tested in subject.tests}
    return "error" if used & _NEEDS_EQUAL_LENGTHS else None
