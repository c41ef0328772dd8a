"""What memory bandwidth allows one stream at each load, as the judge divided it."""

from __future__ import annotations

from collections.abc import Iterable

from benchspec.judge.interval import Interval
from benchspec.judge.result import CheckResult

FAR = 3.0
"""A ceiling this many times above every mark would press the marks flat: it is said, not drawn."""


def ceilings(checks: Iterable[CheckResult], arm: str) -> list[tuple[float, float]]:
    """(C, tok/s of one stream) wherever bandwidth-ceiling has a fraction: rate / fraction.

    Of an interval the upper end, above which nothing can be; of several contexts the highest.
    """
    found: dict[float, float] = {}
    for result in checks:
        load, fraction = result.at.get("concurrency"), result.value
        if result.check != "bandwidth-ceiling" or result.arm != arm or fraction is None:
            continue
        rate = next((i.value for i in result.inputs if i.name == "decode rate"), None)
        if load is None or rate is None or isinstance(rate, str):
            continue
        ceiling = (Interval.of(rate) / Interval.of(fraction)).high
        found[float(load)] = max(ceiling, found.get(float(load), 0.0))
    return sorted(found.items())
