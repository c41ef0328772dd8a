"""A hypothesis names a check whose figures neither the spec states nor a run measures.

## What it checks
In a run `ablation`, `cache-gain`, `decomposition`, `identities`, `parallel-efficiency`, `parity`,
`split-cost` and `time-budget` find nothing: they divide figures that someone wrote down under
`observations`. In a run, `prefix-cache` has cold and warm steps of one request in flight, a least
number of `cached_tokens` prompts of which something was sent before, and `output-agreement` two arms
that take the likeliest token (or both speculate). In a run and in an audit `bandwidth-ceiling` has
devices (in an audit their bandwidth, too: a run finds it, but not how unlike ones share a model),
`compute-ceiling` the peak compute of every one and the model's parameters, `rate-per-price` their
prices, `expected-traffic` the model's hidden size, in one of the arms that the test looks at, and
`goodput` a limit, in an audit the requests, too.

## Why it misleads
The run takes its hours, and the verdict is `insufficient`: it was certain before the first request.

## Bad
```yaml
hypotheses:
  - id: H1
    claim: The prefix cache halves the time to the first token.
    test: {check: prefix-cache, expect: effective}  # error: BS114
```

## Good
```yaml
hypotheses:
  - id: H1
    claim: The prefix cache halves the time to the first token.
    test: {check: prefix-cache, expect: effective}
load:
  mode: burst
  concurrency: [1, 2, 4, 8]
  cache: [cold, warm]
```

## Fix
State the figure, or ask what a run can answer: `benchspec explain CHECK` says what a check needs.

## References
Needs of every check: docs/checks.md.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from benchspec.lint.arm import Arm
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.speculation import speculates
from benchspec.lint.subject import Subject, Tested, names

RULE = Rule("BS114", "check-cannot-be-judged", "error")

_WRITTEN_DOWN = {
    "ablation": "ablations",
    "cache-gain": "caching",
    "decomposition": "factors",
    "identities": "figures",
    "parallel-efficiency": "scaled",
    "parity": "parity",
    "split-cost": "scaled",
    "time-budget": "budgets",
}
"""Check -> the key of `observations` that it reads, and that no run fills."""

_AT_LEAST = frozenset({">", ">="})
_UNIQUE = "contaminating"
"""The reading of prefix-cache about prompts that should not be in a cache."""
_FOUND_BANDWIDTHS = (".probed_read_gb_s", ".bandwidth_gb_s", ".datasheet_gb_s")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per hypothesis, and per line that would have to state what is missing."""
    for tested in subject.tests:
        key = _WRITTEN_DOWN.get(tested.uses)
        if key and not subject.seen:
            yield Fact(
                f"{tested.uses} divides what someone wrote down under observations.{key}; a run "
                "measures none of it.",
                (*tested.path, "test"),
                f"write the figures under observations.{key} and `benchspec audit` them, or test "
                "what a run measures",
                affects=(tested.id,),
            )
        elif tested.uses == "prefix-cache":
            yield from _no_cold_and_warm(subject, tested)
        elif tested.uses == "cached_tokens":
            yield from _nothing_sent_twice(subject, tested)
        elif tested.uses == "output-agreement":
            yield from _nothing_to_compare(subject, tested)
        elif tested.uses in _STATED:
            yield from _unstated(subject, tested)


def _bandwidth(subject: Subject, arm: Arm) -> bool:
    """A run finds the bandwidth of a device that it knows of, but not what each of unlike ones holds."""
    if any(device.memory_bandwidth or device.bandwidth_curve for device in arm.devices):
        return True
    if subject.seen:
        return any(name.endswith(_FOUND_BANDWIDTHS) for name in _identity(subject, arm))
    alike = len({device.kind for device in arm.devices}) == 1
    return alike or (bool(arm.devices) and all(device.share for device in arm.devices))


def _identity(subject: Subject, arm: Arm) -> Mapping[str, Any]:
    """What an audit's observations say of the devices of an arm."""
    arms = subject.seen.get("arms")
    seen = arms.get(arm.id) if isinstance(arms, dict) else None
    identity = seen.get("identity") if isinstance(seen, dict) else None
    return identity if isinstance(identity, dict) else {}


def _compute(subject: Subject, arm: Arm) -> bool:
    every = bool(arm.devices) and all(device.compute for device in arm.devices)
    return every and arm.model.parameters is not None


def _price(subject: Subject, arm: Arm) -> bool:
    return bool(arm.devices) and all(device.price for device in arm.devices)


def _limits(subject: Subject, arm: Arm) -> bool:
    slo = subject.spec.load.slo
    stated = slo is not None and any((slo.ttft, slo.itl, slo.e2e))
    return stated and (not subject.seen or any(step.get("requests") for step in subject.observed))


def _width(subject: Subject, arm: Arm) -> bool:
    return bool(arm.model.hidden_size or subject.seen.get("transfers"))


_Stated = Callable[[Subject, Arm], bool]

_STATED: Mapping[str, tuple[_Stated, str, str]] = {
    "bandwidth-ceiling": (_bandwidth, "devices and their bandwidth", "hardware.devices"),
    "compute-ceiling": (
        _compute,
        "the peak `compute` of every device and the `parameters` of the model",
        "hardware.devices and model",
    ),
    "rate-per-price": (_price, "the `price` of every device", "hardware.devices"),
    "goodput": (
        _limits,
        "a limit, `slo: {ttft: 500 ms, itl: 50 ms}`, and in an audit every step's `requests`",
        "load, the requests under observations.steps",
    ),
    "expected-traffic": (_width, "the `hidden_size` of the model", "model"),
}
"""Check -> whether an arm has what it needs, what that is, and where it is stated."""


def _unstated(subject: Subject, tested: Tested) -> Iterator[Fact]:
    stated, what, where = _STATED[tested.uses]
    arms = subject.looked_at(tested)
    if not any(stated(subject, arm) for arm in arms):
        yield Fact(
            f"{tested.uses} divides by what nothing here states: {what}.",
            (*tested.path, "test"),
            f"add it under {where}",
            arms=names(arms),
            affects=(tested.id,),
        )


def _no_cold_and_warm(subject: Subject, tested: Tested) -> Iterator[Fact]:
    load = subject.spec.load
    paired = {"cold", "warm"} <= set(load.cache) and (bool(load.rate) or 1 in subject.concurrency)
    if subject.seen or paired or _UNIQUE in (tested.test.expect or ()):
        return
    yield Fact(
        "prefix-cache divides the first-token time of warm prompts by that of cold ones, with one "
        "request in flight; a run has both only where it is told to.",
        (*tested.path, "test"),
        "add `cache: [cold, warm]` to load, and 1 to its concurrency",
        arms=names(subject.looked_at(tested)),
        affects=(tested.id,),
    )


def _nothing_sent_twice(subject: Subject, tested: Tested) -> Iterator[Fact]:
    arms, gain = subject.looked_at(tested), tested.test.relation in _AT_LEAST
    if not gain or subject.seen or "warm" in subject.spec.load.cache or any(map(_repeats, arms)):
        return
    yield Fact(
        "Every prompt is sent once and shares no beginning: there is nothing to find in a cache.",
        (*tested.path, "test"),
        "add `cache: [cold, warm]` to load, a `shared_prefix` to the prompt, or `turns`",
        arms=names(arms),
        affects=(tested.id,),
    )


def _repeats(arm: Arm) -> bool:
    """Whether requests of the arm carry something that was sent before."""
    prompt, turns = arm.workload.prompt, arm.workload.turns
    return not prompt.unique or bool(prompt.shared_prefix or prompt.file) or turns > 1


def _nothing_to_compare(subject: Subject, tested: Tested) -> Iterator[Fact]:
    greedy = [arm for arm in subject.arms if arm.workload.sampling.temperature == 0]
    drafting = [arm for arm in subject.arms if speculates(arm)]
    if subject.seen or len(greedy) > 1 or len(drafting) > 1:
        return
    yield Fact(
        "output-agreement compares the answers of two arms that take the likeliest token; "
        f"{len(greedy)} of {len(subject.arms)} here do.",
        (*tested.path, "test"),
        "set `sampling: {temperature: 0}` in the workload of two arms",
        affects=(tested.id,),
    )
