"""A hypothesis needs a figure that nothing in the spec collects.

## What it checks
A claim about a link (by its check, or by its words: PCIe, NVLink, interconnect, a saturated link)
has a traffic counter in `telemetry.counters`. Turn-taking has `utilization`, a thermal claim
`clocks` or `temperature`, joules `power` or `energy`. A claim about speculation has speculation in
some arm, and one about cached tokens has an engine that reports them. A batching flag has a step
with several requests, a speculation flag a hypothesis about acceptance, rounds or speed. In an
audit, `observations.series` counts as collected.

## Why it misleads
"The link is saturated" without a byte counted on the link is an opinion with a plausible mechanism,
and the most popular one. Afterwards nobody can measure what was not recorded.

## Bad
```yaml
hypotheses:
  - id: H1
    claim: Above four streams the PCIe link is saturated.  # error: BS104
    test: {metric: aggregate_tok_s, at: {concurrency: 8}, over: {concurrency: 4}, relation: "<", value: 1.1}
```

## Good
```yaml
hypotheses:
  - id: H1
    claim: Above four streams the PCIe link is saturated.
    test: {metric: aggregate_tok_s, at: {concurrency: 8}, over: {concurrency: 4}, relation: "<", value: 1.1}
telemetry:
  sources: [nvml]
  counters: [pcie]
  interval: 100 ms
  idle_baseline: 8 s
```

## Fix
Add the counter, or drop the claim to what is measured.

## References
The judge's link-load and expected-traffic checks: docs/checks.md.
"""

import re
from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.speculation import speculates, stated
from benchspec.lint.subject import Subject, names
from benchspec.spec.models import Hypothesis
from benchspec.spec.problems import Path

RULE = Rule("BS104", "evidence-not-collected", "error")

_TRAFFIC = ("pcie", "nvlink", "xgmi", "network")
_NEEDS = {
    "link-load": _TRAFFIC,
    "link-share": _TRAFFIC,
    "expected-traffic": _TRAFFIC,
    "traffic-symmetry": _TRAFFIC,
    "burst": _TRAFFIC,
    "turn-taking": ("utilization",),
    "thermal": ("clocks", "temperature"),
    "joules_per_token": ("power", "energy"),
}
"""Check or metric -> the counters of which one is needed."""

_NAMES = ("pci", "nvlink", "interconnect", "reduce", "link", "链路", "鏈路", "总线", "匯流排")
_LINK_WORDS = (  # one of _NAMES is in every match, so most claims are not searched
    r"\bpci-?e\b|\bpci express\b|\bnvlink\b|\binterconnects?\b|\ball-?reduce traffic\b"
    r"|\blinks?\b(?=.{0,40}\b(?:satur|limit|bottleneck|bandwidth|busy|full|slow|capp?))"
    r"|\b(?:satur|limit|bottleneck)\w*\b(?=.{0,40}\blinks?\b)"
    r"|链路|鏈路|总线|匯流排"
)
_SPECULATION = frozenset({"speculation", "acceptance", "round_ms"})
_RATES = frozenset({"stream_tok_s", "aggregate_tok_s", "itl_ms", "e2e_s", "wall_s"})
_BATCHING = ("cont-batching", "continuous-batching", "batching")


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per hypothesis and missing figure, one per flag whose effect nothing shows."""
    collected = _collected(subject)
    for index, hypothesis in enumerate(subject.spec.hypotheses):
        needed, where = _counters(hypothesis)
        if needed and not any(name.startswith(needed) for name in collected):
            yield _uncounted(subject, hypothesis, needed, ("hypotheses", index, where))
    yield from _speculation(subject)
    yield from _batching(subject)


def _collected(subject: Subject) -> set[str]:
    seen = [item.get("counter") for item in subject.series if "not_measured" not in item]
    return {str(name).lower() for name in (*subject.spec.telemetry.counters, *seen)}


def _counters(hypothesis: Hypothesis) -> tuple[tuple[str, ...], str]:
    """The counters that a hypothesis needs, and the key that needs them."""
    test = hypothesis.test
    used = (test.check or (test.metric or "").split(".")[0]) if test else ""
    if used in _NEEDS:
        return _NEEDS[used], "test"
    for key in ("claim", "because"):
        if _names_a_link(getattr(hypothesis, key) or ""):
            return _TRAFFIC, key
    return (), "claim"


def _names_a_link(words: str) -> bool:
    lower = words.lower()
    return any(n in lower for n in _NAMES) and bool(re.search(_LINK_WORDS, lower, re.DOTALL))


def _uncounted(
    subject: Subject, hypothesis: Hypothesis, needed: tuple[str, ...], path: Path
) -> Fact:
    place = ("telemetry", "counters") if subject.stands("telemetry", "counters") else path
    return Fact(
        f"{hypothesis.id} needs a counter ({' or '.join(needed)}) that nothing collects.",
        place,
        "add it to telemetry.counters, with a source that has it",
        related=((path, f"{hypothesis.id} rests on it"),) if place != path else (),
        affects=(hypothesis.id,),
    )


def _speculation(subject: Subject) -> Iterator[Fact]:
    used = {tested.uses for tested in subject.tests}
    arms = [arm for arm in subject.arms if speculates(arm)]
    for tested in subject.tests:
        known = all(arm.knowledge and arm.knowledge.settings for arm in subject.arms)
        if tested.uses in _SPECULATION and not arms and known and not subject.observed:
            yield Fact(
                f"{tested.id} is about speculation, and no arm speculates.",
                (*tested.path, "test"),
                "turn speculation on in one arm",
                affects=(tested.id,),
            )
    if arms and not used & (_SPECULATION | _RATES):
        yield Fact(
            "An arm speculates, and no hypothesis looks at acceptance, rounds or speed.",
            arms[0].place(stated(arms[0])[0]),
            "add a test of `check: speculation` or of the metric `acceptance`",
            arms=names(arms),
            severity="warning",
        )


def _batching(subject: Subject) -> Iterator[Fact]:
    on = [
        (arm, name)
        for arm in subject.arms
        for name in _BATCHING
        if arm.value(name) not in (None, False) and not subject.may_queue
    ]
    for arm, name in on:
        yield Fact(
            f"`{name}` is set, and no step has two requests in flight that could share a batch.",
            arm.place(name),
            "add a step with several requests; the completion shape then shows the effect",
            arms=names([arm]),
            affects=subject.affected([arm]),
            severity="warning",
        )
