"""A link is described by what the system says of it, not by a measurement.

## What it checks
A hypothesis about the share of a link (`link-share`) or about peer-to-peer has a link with
`measured` or `latency` in `hardware.links`, in an audit also a timed message in
`observations.link_probes`; or it is tested by `link-probe`, which reads what was timed.

## Why it misleads
Generation, lanes and "P2P: OK" are states that a driver reports. A direct path that the driver
called fine took 49 ms for 4 KB, where the way through host memory took 16 microseconds: 3000 times
as long.

## Bad
```yaml
hardware:
  devices: [{id: gpu0, name: V100}, {id: gpu1, name: V100}]
  links:
    - {between: [gpu0, gpu1], kind: pcie, gen: 3, lanes: 16}  # warning: BS317
hypotheses:
  - id: H1
    claim: The transfers between the cards are a negligible part of a step.
    test: {check: link-share, at: {concurrency: 1}, expect: negligible}
telemetry: {sources: [nvml], counters: [pcie], interval: 100 ms, idle_baseline: 8 s}
```

## Good
```yaml
hardware:
  devices: [{id: gpu0, name: V100}, {id: gpu1, name: V100}]
  links:
    - {between: [gpu0, gpu1], kind: pcie, gen: 3, lanes: 16, measured: 11.2 GB/s, latency: 16 us}
hypotheses:
  - id: H1
    claim: The transfers between the cards are a negligible part of a step.
    test: {check: link-share, at: {concurrency: 1}, expect: negligible}
telemetry: {sources: [nvml], counters: [pcie], interval: 100 ms, idle_baseline: 8 s}
```

## Fix
Run `benchspec probe` and write the copy bandwidth and the latency of a small transfer, or test with
`check: link-probe`, which reads what the probe timed.

## References
The judge's link-share and link-probe checks: docs/checks.md.
"""

import re
from collections.abc import Iterator

from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, Tested

RULE = Rule("BS317", "link-status-only", "warning")

_PEER = re.compile(r"\bp2p\b|peer[- ]to[- ]peer|\bpeer access\b", re.IGNORECASE)


def check(subject: Subject) -> Iterator[Fact]:
    """At most one fact per hypothesis."""
    links = subject.spec.hardware.links
    seen = subject.spec.observations
    timed = any(link.measured or link.latency for link in links) or (seen and seen.link_probes)
    if not links or timed:
        return
    for tested in subject.tests:
        if _about_a_path(tested):
            yield Fact(
                f"{tested.id} is about a link, and the links here are known by their status only.",
                ("hardware", "links", 0),
                "add `measured` and `latency` from a copy test",
                related=(((*tested.path, "claim"), "the claim"),),
                affects=(tested.id,),
            )


def _about_a_path(tested: Tested) -> bool:
    words = f"{tested.hypothesis.claim} {tested.hypothesis.because or ''}"
    if tested.uses == "link-probe":
        return False
    return tested.uses == "link-share" or bool(_PEER.search(words))
