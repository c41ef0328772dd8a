"""A counter under `observations.series` or `telemetry.counters` has a name that nothing reads, or a unit.

## What it checks
The name of every counter of someone else's figures against those that the judge knows, and its unit
against those in which it is read. A counter that was not measured needs neither. Averages that an
engine logs of itself (`prompt_throughput`, `generation_throughput`, `requests_running`,
`requests_waiting`, `kv_cache_usage`), as `benchspec import log` prints them, are no slip of the pen.
In a run, the names under `telemetry.counters` against those that any source of telemetry may have.

## Why it misleads
The samples stand in the file and no check looks at them: `memory_utilization` where
`utilization_memory` is meant, or a link's traffic in GB/s where MB/s are read.

## Bad
```yaml
observations:
  series:
    - {counter: memory_utilization, device: gpu0, unit: "%", mean: 2}  # warning: BS413
```

## Good
```yaml
observations:
  series:
    - {counter: utilization_memory, device: gpu0, unit: "%", mean: 2}
```

## Fix
Write the name, or the unit, that the finding says.

## References
The spec language: docs/spec.md, `observations.series`.
"""

import difflib
from collections.abc import Iterator

from benchspec.lint.counters import OFFERED, sources_of
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject
from benchspec.spec.observed import COUNTERS, ENGINE_AVERAGES

RULE = Rule("BS413", "counter-not-read", "warning")

_WORDS = {
    "clock": "clocks_sm",
    "clocks": "clocks_sm",
    "sm_clock": "clocks_sm",
    "gpu_utilization": "utilization",
}
"""Other spellings that are read."""


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per counter whose name, or whose unit, is not known."""
    yield from _not_offered(subject)
    if subject.spec.observations is None:
        return
    for number, series in enumerate(subject.spec.observations.series):
        if series.not_measured is not None:
            continue
        if series.unit in ENGINE_AVERAGES.get(series.counter, ()):
            continue
        written = series.counter.lower().replace("-", "_")
        units = COUNTERS.get(_WORDS.get(written, written))
        path = ("observations", "series", number)
        if units is None:
            yield Fact(
                f"No check reads a counter `{series.counter}`.",
                (*path, "counter"),
                _advice(written),
                affects=subject.affected(),
            )
        elif series.unit not in units:
            yield Fact(
                f"{series.counter} is read in {' or '.join(units)}, not in {series.unit}.",
                (*path, "unit"),
                f"give the values in {units[0]}",
                affects=subject.affected(),
            )


def _not_offered(subject: Subject) -> Iterator[Fact]:
    """What a run is asked to sample, and nothing can."""
    known = {name: None for names in OFFERED.values() for name in names}
    for number, counter in enumerate(subject.spec.telemetry.counters):
        if not sources_of(counter):
            near = difflib.get_close_matches(counter.strip().lower(), known, n=1, cutoff=0.6)
            yield Fact(
                f"No source of telemetry has a counter `{counter}`.",
                ("telemetry", "counters", number),
                f"did you mean `{near[0]}`?" if near else f"counters are {', '.join(known)}",
                affects=subject.affected(),
            )


def _advice(written: str) -> str:
    """The counter of the same words in another order, else the one that looks most alike."""
    words = set(written.split("_"))
    turned = [name for name in COUNTERS if set(name.split("_")) == words]
    near = turned or difflib.get_close_matches(written, COUNTERS, n=1, cutoff=0.6)
    return f"did you mean `{near[0]}`?" if near else f"counters are {', '.join(COUNTERS)}"
